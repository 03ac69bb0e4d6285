"""Leaves that hold nothing: parts that `partition` took away, gradients of integers (float0).

There is no number to show, and missing values say so; the array around them stays usable. A mask that is not
there hides nothing. Lists cannot do without their boundaries.
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import numpy as np

from ..errors import StructureError
from ..nodes.kinds import (
    Constant,
    Empty,
    Flat,
    Indexed,
    Jagged,
    List,
    Live,
    Masked,
    Node,
    Option,
    Record,
    Regular,
    Row,
    Union,
)
from ..nodes.static import static
from ..nodes.walk import children, iterate, rebuild

_NO_LISTS = (
    "this is a gradient, or a part, of an array of akjax.traced: where its lists begin is data of that array. "
    "akjax.like(gradient, array) gives it the lists; akjax.combine(part, rest) puts the parts together"
)


def is_absent(leaf: Any) -> bool:
    """Whether a leaf stands for nothing."""
    if isinstance(leaf, ak.Array | ak.Record):  # as in a hessian; its attributes may be its fields
        return False
    return leaf is None or getattr(leaf, "dtype", None) == jax.dtypes.float0


def fill_absent(node: Node, length: int | None = None) -> Node:
    """The array with missing values where a leaf stands for nothing.

    Args:
        node: nodes over any leaves.
        length: the number of elements, where the structure around the node tells it.

    Raises:
        StructureError: where lists begin is among what is not there.
    """
    if isinstance(node, Flat):
        return _missing(node, length)
    if isinstance(node, Live | Masked) and is_absent(node.dead if isinstance(node, Live) else node.null):
        return fill_absent(node.content, length)
    if _is_without_boundaries(node):
        raise StructureError(_NO_LISTS)
    below = _lengths(node, length)
    pairs = zip(children(node), below, strict=True)
    return rebuild(node, tuple(fill_absent(child, size) for child, size in pairs))  # type: ignore[no-any-return]


def lacks_lists(node: Node) -> bool:
    """Whether there are lists of which it is not known where they begin."""
    return any(map(_is_without_boundaries, iterate(node)))


def _is_without_boundaries(node: Node) -> bool:
    return isinstance(node, Jagged) and is_absent(node.offsets.offsets)  # type: ignore[union-attr]


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
