"""Compaction: what exists moves together, so that what follows is computed for fewer slots.

A prefix sum over the live mask says where each element goes, one scatter says where each slot's element comes from,
and every buffer is gathered once: nothing is sorted. Elements of lists move to the front of their list. Rows move with
the lists in them. Which row comes to stand where is known at run time only: each of the new lists has room for the
longest, under a live mask, or, where that is much more than all of them need, they become lists of run-time length.

Where there are more than the capacity, those that are left tell nothing of the others: numbers become NaN
where they are floating or complex, and missing where they are not.
"""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.boundaries import Boundaries, starts, stops
from ..nodes.kinds import Empty, Flat, Jagged, List, Live, Masked, Node, Option, Record, Regular, replace
from ..nodes.moving import offsets_of, project
from ..nodes.static import static
from ..nodes.walk import children, iterate
from .gathering import take_rows
from .numbering import note
from .ranks import Ranks
from .runtime import alive, as_list, as_regular, dead_below, dead_of, hide, is_text, masked
from .runtime_errors import check
from .taking import ONLY_NUMBERS, Taking


def live_axis(node: Node, depth: int = 0) -> int | None:
    """The outermost axis of which some elements may not exist."""
    if isinstance(node, Live):
        return depth
    deeper = depth + (isinstance(node, List | Regular) and not is_text(node))
    found = [axis for axis in (live_axis(child, deeper) for child in children(node)) if axis is not None]
    return min(found, default=None)


def longest(node: Node, axis: int) -> int:
    """The number of rows (axis 0), or of elements of the longest list, where all of them exist."""
    node = project(node)
    if axis == 0:
        return node.length
    lists = as_list(node)
    if isinstance(lists, List) and not is_text(lists):
        counts = np.diff(lists.offsets.array)
        return int(counts.max(initial=0)) if axis == 1 else longest(lists.content, axis - 1)
    return max((longest(child, axis) for child in children(node)), default=0)


def refuse_excess(count: int, capacity: int) -> None:
    """Awkward has no such error: it is raised where the number of elements is known.

    Raises:
        ValueError: there are more elements than the capacity.
    """
    if count > capacity:
        raise ValueError(EXCESS.format(count=count, capacity=capacity))


EXCESS = "akjax.compact: {count} elements, more than capacity={capacity}"


def compact(node: Node, capacity: int, axis: int) -> Node:
    """The same array with at most `capacity` slots for its rows (axis 0), or for the elements of each list.

    Raises:
        StructureError: there are no lists at this axis, or text or unions would have to move.
    """
    if axis == 0:
        return _rows(node, capacity)
    return _at_lists(node, capacity, axis, None)


def _rows(node: Node, capacity: int) -> Node:
    whole = List(static(np.array([0, node.length])), node)
    if not any(map(functools.partial(_is_crowded, capacity), iterate(node))):
        return _compacted(whole, capacity, None).content
    if not isinstance(node, Live):
        refuse_excess(node.length, capacity)
        return node
    if capacity >= node.length:
        return node
    ranks = Ranks(whole, node.dead)
    count = ranks.counts[0]
    fits = count <= capacity
    check(fits, ValueError, EXCESS, count=count, capacity=capacity)
    # one row more stands for nothing, as in all arrays with lists of run-time length
    to = jnp.where(ranks.live & (ranks.ranks < capacity), ranks.ranks, capacity + 1)
    source = jnp.zeros(capacity + 1, jnp.int32).at[to].set(np.arange(node.length, dtype=np.int32), mode="drop")
    there = np.arange(capacity + 1, dtype=np.int32) < jnp.minimum(count, capacity)
    there, source = note(("compact", whole.offsets, capacity), (node.dead,), [there, source])
    return Live(dead_of(there), Taking(fits).node(node.content, source, there))


def _is_crowded(capacity: int, node: Node) -> bool:
    """Whether lists with room for the longest would have many more pairs of elements than the longest of these have."""
    if not isinstance(node, List) or is_text(node):
        return False
    if isinstance(node, Jagged):
        return True
    squares = np.sort(np.diff(node.offsets.array))[::-1][:capacity] ** 2
    return capacity * int(squares.max(initial=0)) > _CROWDED * int(squares.sum())


_CROWDED = 1.5


def _at_lists(node: Node, capacity: int, axis: int, above: Any) -> Node:
    """Go down to the lists whose elements are at the axis; `above` says which of the lists do not exist."""
    node = masked(node)
    match node:
        case Live():
            return Live(node.dead, _at_lists(node.content, capacity, axis, dead_below(node, above)))
        case Masked():
            return hide(_at_lists(node.content, capacity, axis, dead_below(node, above)), node.null, node.parameters)
        case Record():
            contents = tuple(
                content if _has_no(content, axis) else _at_lists(content, capacity, axis, above)
                for content in node.contents
            )
            return replace(node, contents=contents)  # type: ignore[no-any-return]
    lists = as_list(node)
    if not isinstance(lists, List) or is_text(lists):
        message = f"akjax.compact(axis={axis}) finds no lists there (or they are in a union): compact field by field"
        raise StructureError(message)
    if axis == 1:
        return _compacted(lists, capacity, above)
    content = _at_lists(lists.content, capacity, axis - 1, dead_below(lists, above))
    return replace(lists, content=content)  # type: ignore[no-any-return]


def _has_no(field: Node, axis: int) -> bool:
    """Whether what exists at this axis of a field is known while tracing."""
    found = live_axis(field)
    return found is None or found > axis


def _compacted(lists: List, capacity: int, above: Any) -> List:
    """Every list with its elements at the front and room for `capacity` of them."""
    # of lists of run-time length something is gained where less is known of the longest
    shorter = isinstance(lists.offsets, Boundaries) and capacity < lists.offsets.bounds.longest
    if not isinstance(lists.content, Live):
        if not isinstance(lists.offsets, Boundaries):
            refuse_excess(int(np.diff(lists.offsets.array).max(initial=0)), capacity)
        if not shorter:
            return lists
        lists = replace(lists, content=Live(jnp.zeros(lists.content.length, np.float32), lists.content))
    dead, content = lists.content.dead, lists.content.content  # type: ignore[union-attr]
    counts, slots, parents = _room(lists, capacity)
    if slots.array[-1] >= content.length and not shorter:
        return lists
    ranks = Ranks(lists, dead)
    fits = ranks.counts <= capacity
    count = jnp.max(ranks.counts, initial=0)
    check(
        fits if above is None else fits | ~alive(above),
        ValueError,
        EXCESS,
        count=count,
        capacity=capacity,
    )
    number = slots.array[-1]
    to = take(slots.array[:-1].astype(np.int32), ranks.parents) + ranks.ranks
    to = jnp.where(ranks.live & (ranks.ranks < take(counts, ranks.parents)), to, number)
    source = jnp.zeros(number, jnp.int32).at[to].set(np.arange(content.length, dtype=np.int32), mode="drop")
    local = np.arange(number, dtype=np.int32) - slots.array[:-1].astype(np.int32)[parents]
    there = local < take(ranks.counts, parents)
    there, source = note(("compact", lists.offsets, capacity), (dead,), [there, source])
    return List(slots, Live(dead_of(there), _move(content, source, take(fits, parents))), lists.parameters)


def _room(lists: List, capacity: int) -> tuple[Any, Any, Any]:
    """The slots of each new list, their offsets, and the list each slot is in."""
    if isinstance(lists.offsets, Boundaries):
        counts = np.full(lists.length, min(capacity, lists.offsets.bounds.longest))
    else:
        counts = np.minimum(np.diff(lists.offsets.array), capacity)
    return counts.astype(np.int32), offsets_of(counts), np.repeat(np.arange(lists.length, dtype=np.int32), counts)


def _move(node: Node, at: Any, valid: Any) -> Node:
    """Elements at traced positions, lists with what is in them; where not `valid`, no numbers."""
    node = masked(as_regular(project(node)))
    match node:
        case Live():
            return Live(take(node.dead, at), _move(node.content, at, valid))
        case Masked():
            return hide(_move(node.content, at, valid), take(node.null, at), node.parameters)
        case Record():
            contents = tuple(_move(content, at, valid) for content in node.contents)
            return replace(node, contents=contents, length=at.shape[0])  # type: ignore[no-any-return]
        case Regular():
            below = (at[:, None] * node.size + np.arange(node.size, dtype=np.int32)).reshape(-1)
            content = _move(node.content, below, jnp.repeat(valid, node.size))
            return replace(node, content=content, length=at.shape[0])  # type: ignore[no-any-return]
        case List() if not is_text(node):
            return _move_lists(node, at, valid)
        case Flat() | Option() | Empty():
            return take_rows(node, at, valid)
        case _:
            raise StructureError(ONLY_NUMBERS)


def _move_lists(lists: List, at: Any, valid: Any) -> List:
    rows = at.shape[0]
    offsets = lists.offsets
    longest = offsets.bounds.longest if isinstance(offsets, Boundaries) else int(np.diff(offsets.array).max(initial=0))
    first = take(jnp.asarray(starts(offsets), jnp.int32), at)
    counts = take(jnp.asarray(stops(offsets), jnp.int32), at) - first
    local = np.arange(longest, dtype=np.int32)
    inside = (local < counts[:, None]).reshape(-1)
    below = jnp.where(inside, (first[:, None] + local).reshape(-1), 0)
    content = lists.content
    known = jnp.repeat(valid, longest)
    dead = None
    if isinstance(content, Live):
        dead, content = take(content.dead, below), content.content
        inside = inside & alive(dead)
    operands = (at,) if dead is None else (at, lists.content.dead)  # type: ignore[union-attr]
    inside = note(("moved lists", lists.offsets), operands, inside)
    moved = Live(dead_of(inside), _move(content, below, known))
    return List(offsets_of(np.full(rows, longest)), moved, lists.parameters)
