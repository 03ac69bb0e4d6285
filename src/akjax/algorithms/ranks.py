"""Positions among the elements that exist: indexing and slicing after a selection by traced values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.boundaries import parents, starts, stops
from ..nodes.kinds import List, Live, Masked, Node, Record, replace
from ..nodes.moving import carry
from ..nodes.static import arange, static
from .elementwise import dead_below
from .gathering import take_rows
from .numbering import note
from .runtime import alive, as_list, dead_of, either, hide, masked


class Ranks:
    """The rank of every element in its list, and the length of each list, counting what exists."""

    def __init__(self, lists: List, dead: Any) -> None:
        self.parents = parents(lists.offsets)
        exists = np.ones(lists.content.length, np.int32) if dead is None else alive(dead).astype(jnp.int32)
        self.live = exists == 1
        counts = jnp.cumsum(exists) if isinstance(exists, jax.Array) else np.cumsum(exists, dtype=np.int32)
        before = jnp.concatenate([jnp.zeros(1, jnp.int32), counts])
        first = take(before, starts(lists.offsets))
        self.counts = take(before, stops(lists.offsets)) - first
        self.ranks = before[:-1] - take(first, self.parents)

    def slot(self, rank: int) -> Any:
        """Where the element of this rank is (a negative one counts from the end); -1 where there is none."""
        asked = rank if rank >= 0 else take(self.counts, self.parents) + rank
        hit = self.live & (self.ranks == asked)
        slots = jnp.where(hit, np.arange(len(self.parents), dtype=np.int32), -1)
        found = jax.ops.segment_max(slots, self.parents, self.counts.shape[0], indices_are_sorted=True)
        return jnp.maximum(found, -1)

    def within(self, where: slice) -> Any:
        """Whether an element is in a slice of its list."""
        counts = take(self.counts, self.parents)
        first = _bound(where.start, counts, 0)
        last = counts if where.stop is None else _bound(where.stop, counts, 0)
        step = 1 if where.step is None else where.step
        if step < 1:
            message = "a slice after a selection by traced values goes forward only: reverse the array before selecting"
            raise StructureError(message)
        return (self.ranks >= first) & (self.ranks < last) & ((self.ranks - first) % step == 0)


def _bound(position: Any, counts: Any, default: int) -> Any:
    if position is None:
        return default
    return jnp.minimum(position, counts) if position >= 0 else jnp.maximum(counts + position, 0)


def element(node: Node, rank: int, axis: int, missing: bool) -> Node:
    """`array[:, rank]`: an element of every list.

    Args:
        node: the array.
        rank: its position among the elements that exist.
        axis: the level of the lists' elements, 1 or more.
        missing: whether a list without such an element gives a missing value; otherwise it gives NaN (or a
            missing value where there is no NaN), as Awkward's error cannot be raised at run time.
    """

    def pick(lists: List, above: Any) -> Node:
        dead, content = _split(lists.content)
        slot = Ranks(lists, dead).slot(rank)
        there = slot >= 0
        at = jnp.maximum(slot, 0)
        if missing:
            return hide(take_rows(content, at, None), dead_of(there))
        return take_rows(content, at, there if above is None else there | ~alive(above))

    return _at_lists(node, axis, pick)


def part(node: Node, where: slice, axis: int) -> Node:
    """`array[:, start:stop:step]`: a part of every list; of the rows themselves for axis 0."""

    def sliced(lists: List, above: Any) -> Node:
        dead, content = _split(lists.content)
        key = ("slice", lists.offsets, where.start, where.stop, where.step)
        inside = note(key, (dead,), Ranks(lists, dead).within(where))
        return replace(lists, content=Live(either(dead, dead_of(inside)), content))  # type: ignore[no-any-return]

    if axis == 0 and not isinstance(node, Live):
        return carry(node, arange(node.length)[where])
    if axis == 0:
        rows: Any = sliced(List(static(np.array([0, node.length])), node), None)
        return rows.content  # type: ignore[no-any-return]
    return _at_lists(node, axis, sliced)


def _split(node: Node) -> tuple[Any, Node]:
    return (node.dead, node.content) if isinstance(node, Live) else (None, node)


def _at_lists(node: Node, axis: int, change: Callable[[List, Any], Node], above: Any = None) -> Node:
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
    lists = as_list(node)
    if not isinstance(lists, List):
        message = "there are no lists at this level (or they are in a union): index the fields one by one"
        raise StructureError(message)
    if axis == 1:
        return change(lists, above)
    return replace(lists, content=_at_lists(lists.content, axis - 1, change, dead_below(lists, above)))  # type: ignore[no-any-return]
