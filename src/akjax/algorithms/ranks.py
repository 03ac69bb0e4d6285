"""Positions among the elements that exist: indexing and slicing after a selection by traced values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels._reduce import iota
from ..kernels.gather import take, take_mask
from ..kernels.running import running_count
from ..nodes.boundaries import Boundaries, parents, starts, stops
from ..nodes.kinds import Empty, Flat, Jagged, List, Live, Masked, Node, Record, Regular, replace
from ..nodes.moving import carry, option
from ..nodes.static import Static, arange, static
from ..nodes.walk import has_run_time_structure
from .gathering import Reach, take_rows
from .numbering import note
from .runtime import alive, as_list, as_regular, dead_below, dead_of, either, hide, masked
from .runtime_errors import check
from .standing import has_traced_lists
from .taking import Taking


class Ranks:
    """The rank of every element in its list, and the length of each list, counting what exists."""

    def __init__(self, lists: List, dead: Any) -> None:
        self.offsets = lists.offsets
        self.parents = parents(lists.offsets)
        self.is_static = dead is None and not isinstance(lists, Jagged)
        if self.is_static:
            self.live: Any = jnp.ones(len(self.parents), bool)
            self.counts: Any = np.diff(lists.offsets.array).astype(np.int32)
            self.ranks: Any = positions_in(lists.offsets)
            return
        if dead is None:
            self.live = jnp.ones(lists.content.length, bool)
            self.counts = jnp.asarray(stops(lists.offsets)) - jnp.asarray(starts(lists.offsets))
            self.ranks = positions_in(lists.offsets)
            return
        self.live = alive(dead)
        before = jnp.concatenate([jnp.zeros(1, jnp.int32), running_count(self.live)])
        first = take(before, starts(lists.offsets))
        self.counts = take(before, stops(lists.offsets)) - first
        self.ranks = before[:-1] - take(first, self.parents)

    def slot(self, rank: Any) -> Any:
        """Where the element of this rank is (a negative one counts from the end); -1 where there is none."""
        if self.is_static and isinstance(rank, int):
            # on the host: XLA would fold this, for many seconds
            place = self.counts + rank if rank < 0 else np.full_like(self.counts, rank)
            there = (place >= 0) & (place < self.counts)
            return np.where(there, starts(self.offsets) + place, -1).astype(np.int32)
        asked = rank
        if np.ndim(rank):
            asked = take(jnp.where(rank >= 0, rank, self.counts + rank), self.parents)
        elif isinstance(rank, jax.Array) or rank < 0:
            asked = jnp.where(rank >= 0, rank, take(self.counts, self.parents) + rank)
        hit = self.live & (self.ranks == asked)
        slots = jnp.where(hit, np.arange(len(self.parents), dtype=np.int32), -1)
        found = jax.ops.segment_max(slots, self.parents, self.counts.shape[0], indices_are_sorted=True)
        return jnp.maximum(found, -1)

    def order(self) -> Any:
        """The slots of each list, those of what exists first, both in their order."""
        nth = positions_in(self.offsets)
        counts = take(self.counts, self.parents)
        place = take(starts(self.offsets).astype(np.int32), self.parents)
        place = place + jnp.where(self.live, self.ranks, counts + nth - self.ranks)
        slots = np.arange(len(nth), dtype=np.int32)
        return jnp.zeros_like(place).at[place].set(slots, unique_indices=True, mode="promise_in_bounds")

    def within(self, where: slice) -> Any:
        """Whether an element is in a slice of its list, whichever way the slice goes."""
        counts = take(self.counts, self.parents)
        step = 1 if where.step is None else where.step
        if step > 0:
            first = 0 if where.start is None else _bound(where.start, counts, 0, counts)
            last = counts if where.stop is None else _bound(where.stop, counts, 0, counts)
            return (self.ranks >= first) & (self.ranks < last) & ((self.ranks - first) % step == 0)
        first = counts - 1 if where.start is None else _bound(where.start, counts, -1, counts - 1)
        last = -1 if where.stop is None else _bound(where.stop, counts, -1, counts - 1)
        return (self.ranks <= first) & (self.ranks > last) & ((first - self.ranks) % -step == 0)


def positions_in(offsets: Static | Boundaries) -> Any:
    """The position of every element in its list, when all exist."""
    inside = parents(offsets)
    slots = iota(len(inside)) if isinstance(offsets, Boundaries) else np.arange(len(inside), dtype=np.int32)
    return slots - take(starts(offsets).astype(np.int32), inside)


def ranked(lists: List, dead: Any) -> Ranks:
    """The ranks in lists, noted so that the same ones asked for twice are known to be the same."""
    ranks = Ranks(lists, dead)
    if dead is not None:
        note(("ranks", lists.offsets), (dead,), [ranks.ranks, ranks.counts])
    return ranks


def packed(lists: List) -> List:
    """Lists with what exists in front, in its order: its rank is its place then."""
    dead, content = split_live(lists.content)
    if dead is None:
        return lists
    ranks = Ranks(lists, dead)
    nth = positions_in(lists.offsets)
    gone = note(("packed", lists.offsets), (dead,), dead_of(nth < take(ranks.counts, ranks.parents)))
    moved = take_rows(content, ranks.order(), None, reach_of(lists.offsets, lists.offsets))
    return replace(lists, content=Live(gone, moved))  # type: ignore[no-any-return]


def reach_of(offsets: Static | Boundaries, asked: Static | Boundaries) -> Reach | None:
    """Where elements of lists lie that are taken from the list of the same number, if that is known."""
    if isinstance(offsets, Boundaries) or isinstance(asked, Boundaries):
        return None
    return Reach(parents(asked), starts(offsets), stops(offsets))


def _bound(position: Any, counts: Any, least: int, most: Any) -> Any:
    """A bound of a slice, as Python reads it: a negative one counts from the end."""
    return jnp.where(position >= 0, jnp.minimum(position, most), jnp.maximum(counts + position, least))


def _backwards(lists: List) -> List:
    """Every list with its slots the other way round."""
    dead, content = split_live(lists.content)
    deep = has_traced_lists(content)
    at = _mirrored(lists.offsets, deep)
    if isinstance(at, np.ndarray):
        moved = carry(content, at)
    elif deep:
        moved = Taking().node(content, at, note(("all but the last", len(at)), (), iota(len(at)) != len(at) - 1))
    else:
        moved = take_rows(content, at, None, reach_of(lists.offsets, lists.offsets))
    if dead is not None:
        moved = Live(note(("backwards", lists.offsets), (dead,), take_mask(dead, at)), moved)
    return replace(lists, content=moved)  # type: ignore[no-any-return]


def _mirrored(offsets: Static | Boundaries, last_stays: bool) -> Any:
    """For each slot the one that is as far from the other end of its list.

    `last_stays` says that the last slot, which does not exist, holds the unused slots of lists in it.
    """
    size = len(parents(offsets))
    if last_stays and len(offsets) == 2:  # rows, of which no constant index is needed
        at = jnp.where(iota(size) == size - 1, iota(size), size - 2 - iota(size))
        return note(("mirrored", offsets, last_stays), (), at)
    ends, inside = starts(offsets) + stops(offsets) - 1, parents(offsets)
    if not isinstance(offsets, Boundaries) and not last_stays:
        return ends[inside] - arange(size)
    # the last list stands for nothing: all of it stays
    at = jnp.where(inside == len(offsets) - 2, iota(size), take(jnp.asarray(ends, np.int32), inside) - iota(size))
    return note(("mirrored", offsets, last_stays), (), at)


def element(node: Node, rank: int, axis: int, missing: bool) -> Node:
    """`array[:, rank]`: an element of every list.

    Args:
        node: the array.
        rank: its position among the elements that exist.
        axis: the level of the lists' elements, 1 or more.
        missing: whether a list without such an element gives a missing value; otherwise it gives NaN (or a
            missing value where there is no NaN), as Awkward's error cannot be raised at run time.
    """

    def pick(several: List | Regular, above: Any) -> Node:
        known = isinstance(several, Regular) and isinstance(rank, int)
        if known and not missing and not -several.size <= rank < several.size:  # type: ignore[union-attr]
            raise IndexError(OUT_OF_RANGE.format(index=rank))
        lists: Any = as_list(several)
        dead, content = split_live(lists.content)
        slot = Ranks(lists, dead).slot(rank)
        there = slot >= 0
        if isinstance(slot, np.ndarray) and there.all():
            found = taken_at(content, slot)
            if not missing:
                return found
            if has_run_time_structure(found):
                return hide(found, jnp.zeros(len(slot), np.float32))
            return option(np.arange(len(slot)), found, None)
        at = jnp.maximum(slot, 0)
        reach = None
        if not isinstance(lists, Jagged):
            reach = Reach(arange(lists.length), starts(lists.offsets), stops(lists.offsets))
        if missing:
            return hide(take_rows(content, at, None, reach), dead_of(there))
        there = there if above is None else there | ~alive(above)
        check(there, IndexError, OUT_OF_RANGE, index=rank)
        return take_rows(content, at, there, reach)

    return _at_lists(node, axis, pick)


def part(node: Node, where: slice, axis: int) -> Node:
    """`array[:, start:stop:step]`: a part of every list; of the rows themselves for axis 0."""

    def sliced(several: List | Regular, above: Any) -> Node:
        traced = any(isinstance(bound, jax.Array) for bound in (where.start, where.stop))
        if isinstance(several, Regular) and not traced:
            return _part_of_each(several, where)
        lists: Any = as_list(several)
        if not traced and where in (_FORWARDS, _BACKWARDS):
            return lists if where == _FORWARDS else _backwards(lists)
        dead, content = split_live(lists.content)
        key = ("slice", lists.offsets, where.step)
        inside = note(key, (dead, where.start, where.stop), jnp.asarray(Ranks(lists, dead).within(where)))
        kept = replace(lists, content=Live(either(dead, dead_of(inside)), content))
        return kept if where.step is None or where.step > 0 else _backwards(kept)

    if axis == 0 and not isinstance(node, Live):
        return carry(node, arange(node.length)[where])
    if axis == 0:
        rows: Any = sliced(List(static(np.array([0, node.length])), node), None)
        return rows.content  # type: ignore[no-any-return]
    return _at_lists(node, axis, sliced)


_FORWARDS, _BACKWARDS = slice(None, None, 1), slice(None, None, -1)

OUT_OF_RANGE = "index out of range while attempting to get index {index}"


def _part_of_each(lists: Regular, where: slice) -> Regular:
    """The same part of each list of one size."""
    inside = arange(lists.size)[where]
    index = (arange(lists.length)[:, np.newaxis] * lists.size + inside).reshape(-1)
    return replace(lists, content=taken_at(lists.content, index), size=len(inside))  # type: ignore[no-any-return]


def taken_at(node: Node, index: np.ndarray[Any, Any]) -> Node:
    """The elements of a node at an index that is known, in lists of run-time length, too."""
    return take_rows(node, index, None) if has_traced_lists(node) else carry(node, index)


def split_live(node: Node) -> tuple[Any, Node]:
    """The mask of what does not exist, or None, and what it is about."""
    return (node.dead, node.content) if isinstance(node, Live) else (None, node)


def _at_lists(node: Node, axis: int, change: Callable[[List | Regular, Any], Node], above: Any = None) -> Node:
    """Change the lists whose elements are at a level; `above` says which of the lists do not exist."""
    node = masked(node)
    match node:
        case Live():
            return Live(node.dead, _at_lists(node.content, axis, change, dead_below(node, above)))
        case Masked():
            return hide(_at_lists(node.content, axis, change, dead_below(node, above)), node.null, node.parameters)
        case Record():
            contents = tuple(_at_lists(content, axis, change, above) for content in node.contents)
            return replace(node, contents=contents)  # type: ignore[no-any-return]
    lists = as_regular(node)
    if isinstance(lists, Flat | Empty):
        message = "cannot slice an array deeper than it is: there are numbers at this level, no lists"
        raise IndexError(message)
    if not isinstance(lists, List | Regular):
        message = "there are no lists at this level (or they are in a union): index the fields one by one"
        raise StructureError(message)
    if axis == 1:
        return change(lists, above)
    return replace(lists, content=_at_lists(lists.content, axis - 1, change, dead_below(lists, above)))  # type: ignore[no-any-return]
