"""Elements moved to positions known at run time, with lists of run-time length in them.

Unlike `take_rows`, which gives every list room for the longest, this is for elements that are taken once at most: all
of their lists together have no more elements than before.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.boundaries import Boundaries
from ..nodes.kinds import Empty, Flat, Jagged, List, Live, Masked, Node, Option, Record, Regular, replace
from ..nodes.moving import project
from .gathering import take_rows
from .numbering import note
from .pairing import taken
from .runtime import as_regular, hide, is_text, masked


class Taking:
    """Elements at traced positions, each of them once at most; the last position stands for nothing.

    `fits`, where it is given, says at run time whether there are any numbers: otherwise they are NaN, or missing.
    """

    def __init__(self, fits: Any = None) -> None:
        self._fits = fits
        self._lists: dict[Any, tuple[Boundaries, Any, Any]] = {}

    def node(self, node: Node, at: Any, there: Any) -> Node:
        """The elements of a node.

        Args:
            node: what to take from.
            at: their positions.
            there: which of them are meant; the last one is not.
        """
        node = masked(as_regular(project(node)))
        match node:
            case Live():
                return Live(take(node.dead, at), self.node(node.content, at, there))
            case Masked():
                return hide(self.node(node.content, at, there), take(node.null, at), node.parameters)
            case Record():
                contents = tuple(self.node(content, at, there) for content in node.contents)
                return replace(node, contents=contents, length=at.shape[0])  # type: ignore[no-any-return]
            case Regular():
                below = (at[:, None] * node.size + np.arange(node.size, dtype=np.int32)).reshape(-1)
                content = self.node(node.content, below, jnp.repeat(there, node.size))
                return replace(node, content=content, length=at.shape[0])  # type: ignore[no-any-return]
            case List() if not is_text(node):
                key = (id(node.offsets), id(at))
                if key not in self._lists:
                    self._lists[key] = (*taken(node.offsets, at, there), at)  # which is kept, and so is its id
                found, slots, _ = self._lists[key]
                inside = note(("in use", found), (), found.parents != found.bounds.rows - 1)
                return Jagged(found, self.node(node.content, slots, inside), node.parameters)
            case Flat() | Option() | Empty():
                return take_rows(node, at, None if self._fits is None else jnp.broadcast_to(self._fits, at.shape))
            case _:
                raise StructureError(ONLY_NUMBERS)


ONLY_NUMBERS = (
    "what moves at run time is numbers in records and lists; text and unions are part of the structure and stay "
    "where they are: take the fields that you need"
)
