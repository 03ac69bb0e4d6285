"""Leaves that hold nothing: parts that `partition` took away, gradients of integers (float0).

There is no number to show, and missing values say so; the array around them stays usable.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..nodes.kinds import Constant, Empty, Flat, Indexed, Jagged, List, Node, Option, Record, Regular, Row, Union
from ..nodes.static import static
from ..nodes.walk import children, rebuild


def is_absent(leaf: Any) -> bool:
    """Whether a leaf stands for nothing."""
    return leaf is None or getattr(leaf, "dtype", None) == jax.dtypes.float0


def fill_absent(node: Node, length: int | None = None) -> Node:
    """The array with missing values where a leaf stands for nothing.

    Args:
        node: nodes over any leaves.
        length: the number of elements, where the structure around the node tells it.
    """
    if isinstance(node, Flat):
        return _missing(node, length)
    below = _lengths(node, length)
    pairs = zip(children(node), below, strict=True)
    return rebuild(node, tuple(fill_absent(child, size) for child, size in pairs))  # type: ignore[no-any-return]


def _missing(flat: Flat, length: int | None) -> Node:
    if not is_absent(flat.data):
        return flat
    known = np.shape(flat.data)[0] if np.ndim(flat.data) else length
    if known is None:
        return flat
    return Option(static(np.full(known, -1)), Empty())


def _lengths(node: Node, length: int | None) -> list[int | None]:
    """How many elements each child has."""
    match node:
        case Empty() | Constant():
            return []
        case Jagged():
            return [node.offsets.bounds.slots]  # type: ignore[union-attr]
        case List():
            return [int(node.offsets.array[-1])]
        case Regular():
            return [node.size * node.length]
        case Indexed() | Option():
            return [int(node.index.array.max(initial=-1)) + 1]
        case Record():
            return [node.length] * len(node.contents)
        case Union():
            tags, index = node.tags.array, node.index.array
            return [int(index[tags == tag].max(initial=-1)) + 1 for tag in range(len(node.contents))]
        case Row():
            return [1]
        case _:
            return [length] * len(children(node))
