"""Elements of lists of run-time length collected by position: what a reducer over an outer axis reduces.

Over an axis that is not the innermost, the first elements of all lists are reduced to one, the second ones to one,
and so on: a list of the result is as long as the longest of those that it is made of. How long that is, and where
each number goes, is worked out level by level, from the axis down to the numbers.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..kernels._reduce import iota
from ..kernels.gather import take
from ..kernels.lists import nth_of_kind
from ..nodes.boundaries import Boundaries, parents
from ..nodes.kinds import Jagged, List, Live, Masked, Node, Regular
from ..nodes.moving import project
from . import pairing
from .numbering import note, number_of
from .ranks import ranked, split_live
from .runtime import alive, as_list, as_regular, dead_below, dead_of, either, masked


@dataclasses.dataclass
class Columns:
    """The numbers inside of lists over which is reduced, and the lists of the result.

    Attributes:
        to: for each number its place in the result.
        size: how many places there are.
        live: which numbers are there (exist and are not missing), or None.
        rows: how many lists of the outermost level the result has.
        levels: the boundaries of the lists of the result, the outermost first; of regular ones their size.
        counted: of the innermost lists of the array which result each goes to, how many of these there are, which of
            the lists are there, and the list of each number.
    """

    to: Any
    size: int
    live: Any
    rows: int
    levels: list[Boundaries | int]
    counted: tuple[Any, int, Any, Any]

    def nth(self) -> Any:
        """For each number its place among those reduced with it, as `argmin` has it: innermost lists are counted."""
        kinds, number, there, inside = self.counted
        return take(nth_of_kind(kinds, there, number), jnp.asarray(inside))

    def lists(self, numbers: Node) -> Node:
        """The lists of the result around its numbers: `rows` of them."""
        sizes = [self.rows]
        for level in self.levels:
            sizes.append(level.bounds.slots if isinstance(level, Boundaries) else sizes[-1] * level)
        for level, rows in zip(reversed(self.levels), reversed(sizes[:-1]), strict=True):
            numbers = Jagged(level, numbers) if isinstance(level, Boundaries) else Regular(numbers, level, rows)
        return numbers

    def elements(self, numbers: Node) -> Node:
        """The elements of the first of two such lists, the other of which does not exist."""
        (level, *_), lists = self.levels, self.lists(numbers)
        content: Any = lists.content  # type: ignore[union-attr]
        count = level.offsets[1] if isinstance(level, Boundaries) else level
        there = note(("elements of the first", level), (), iota(content.length) < count)
        return Live(dead_of(there), content)


def columns(lists: List, above: Any, rows: int) -> Columns:
    """The numbers inside of lists by their positions.

    Args:
        lists: lists of lists, over whose elements is reduced.
        above: the mask of those that do not exist or are missing, or None.
        rows: how many there will be: one more than these for one list of everything, as many otherwise.
    """
    # of one list no constant is needed
    to = (
        jnp.zeros(lists.content.length, np.int32)
        if lists.length == 1
        else jnp.asarray(parents(lists.offsets), np.int32)
    )
    to = note(("lists", lists.offsets), (), to)
    made, size = Columns(to, rows, None, rows, [], (to, rows, None, None)), rows
    gone, node = dead_below(lists, above), lists.content
    while True:
        dead, node = split_live(node)
        node = masked(project(node))
        gone = either(gone, dead)
        if isinstance(node, Masked):
            gone, node = either(gone, node.null), node.content
        inner = as_regular(project(node))
        if not isinstance(inner, List | Regular):
            break
        made.counted = (to, size, np.ones(inner.length, bool) if gone is None else alive(gone), None)
        level, size, to, gone = _inside(inner, to, gone, size)
        made.levels.append(level)
        made.counted = (*made.counted[:3], parents(as_list(inner).offsets))  # type: ignore[union-attr]
        node = inner.content
    made.to, made.size, made.live = to, size, None if gone is None else alive(gone)
    return made


def _inside(inner: List | Regular, to: Any, gone: Any, rows: int) -> tuple[Boundaries | int, int, Any, Any]:
    """One level down: the lists of the result, how many slots they have, where elements go, which are not there."""
    dead, _ = split_live(inner.content)
    lists: Any = as_list(inner)
    below, at = dead_below(lists, gone), jnp.asarray(parents(lists.offsets))
    absent = either(below, dead)
    ranks = ranked(lists, dead)
    key = (lists.offsets, rows, *map(number_of, (to, gone, dead)))
    if isinstance(inner, Regular) and dead is None:  # all columns are there, also of no rows
        level: Boundaries | int = inner.size
        size = rows * inner.size
        place = take(to, at) * inner.size + ranks.ranks
    else:
        counts = jnp.asarray(ranks.counts)
        counts = counts if gone is None else jnp.where(alive(gone), counts, 0)
        level = pairing.columns(lists.offsets, counts, to, rows, key)
        size = level.bounds.slots
        place = take(take(level.offsets, to), at) + ranks.ranks
    # the last place is that of nothing
    place = place if absent is None else jnp.where(alive(absent), place, np.int32(size - 1))
    return level, size, note(("places in columns", *key), (), place), below
