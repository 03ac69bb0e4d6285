"""The one row of a reduction over the rows of lists of run-time length, repeated for the rows of other arrays.

Lists of run-time length have one list more than there are, which holds the unused slots. So what a reduction over
axis 0 leaves with `keepdims=True` are two rows, the second of which does not exist, as is known while tracing: where
Awkward would repeat the one, it is brought into the lists of the other array.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..kernels.gather import take, take_mask
from ..nodes.boundaries import parents, starts
from ..nodes.kinds import List, Live, Masked, Node, Record, Regular, replace
from ..nodes.moving import project
from .gathering import spoiled, take_rows
from .ranks import Ranks, split_live
from .runtime import alive, as_list, as_regular, dead_below, either, hide, is_text, masked
from .runtime_errors import check


def is_one_row(node: Node) -> bool:
    """Whether only the first row exists, and that is known while tracing."""
    if not isinstance(node, Live) or not isinstance(node.dead, np.ndarray) or len(node.dead) < 2:
        return False
    return bool(node.dead[0] == 0 and node.dead[1:].all())


@dataclasses.dataclass(frozen=True)
class Repeating:
    """How a row is repeated.

    Attributes:
        judged: whether what does not fit loses its values; an empty list has none to say so, only the error does.
        error: what eager Awkward raises then.
    """

    judged: bool
    error: tuple[type[Exception], str]

    def rows(self, node: Node, other: Node, levels: int | None) -> Node:
        """The one row as often as another array has rows, in the lists of that array.

        Args:
            node: the array of one row.
            other: the array that it is lined up with.
            levels: how many levels of the other's lists are looked at, the rows among them; None for all.
        """
        at = jnp.zeros(other.length, np.int32)
        content = self._elements(split_live(node)[1], at, other, None, None if levels is None else levels - 1)
        return Live(other.dead, content) if isinstance(other, Live) else content

    def _elements(self, node: Node, at: Any, other: Node, gone: Any, levels: int | None) -> Node:
        """Elements at an index, in the lists of as many others, of which some are `gone`."""
        node = masked(project(node))
        if isinstance(node, Masked):
            null = take_mask(node.null, at)
            return hide(self._elements(node.content, at, other, either(gone, null), levels), null, node.parameters)
        if isinstance(node, Record):
            contents = tuple(self._elements(content, at, other, gone, levels) for content in node.contents)
            return replace(node, contents=contents, length=len(at))  # type: ignore[no-any-return]
        other = masked(project(other))
        while isinstance(other, Live | Masked):
            gone, other = dead_below(other, gone), masked(project(other.content))
        mine, theirs = as_regular(node), as_regular(other)
        if levels == 0 or not _are_lists(mine) or not _are_lists(theirs):
            return take_rows(node, at, None)
        return self._lists(as_list(mine), at, as_list(theirs), gone, None if levels is None else levels - 1)

    def _lists(self, lists: Any, at: Any, others: Any, gone: Any, levels: int | None) -> Node:
        (own_dead, content), (dead, below) = split_live(lists.content), split_live(others.content)
        own, ranks = Ranks(lists, own_dead), Ranks(others, dead)
        fit = take(jnp.asarray(own.counts), at) == ranks.counts
        fit = fit if gone is None else fit | ~alive(gone)
        check(fit, *self.error)
        inside = parents(others.offsets)
        place = take(take(jnp.asarray(starts(lists.offsets), np.int32), at), inside) + ranks.ranks
        # places beyond the end are of lists that do not fit, or of elements that do not exist
        slots = take(own.order(), jnp.minimum(place, content.length - 1))
        found = self._elements(content, slots, below, either(dead_below(others, gone), dead), levels)
        found = spoiled(found, take(fit, inside)) if self.judged else found
        found = found if dead is None else Live(dead, found)
        return replace(others, content=found, parameters=lists.parameters)  # type: ignore[no-any-return]


def _are_lists(node: Node) -> bool:
    """Whether these are lists whose elements are paired by position; those of regular length one are repeated."""
    return isinstance(node, List | Regular) and not is_text(node) and not (isinstance(node, Regular) and node.size == 1)
