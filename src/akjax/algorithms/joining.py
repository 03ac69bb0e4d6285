"""Lists made longer: padded with missing values, or joined with those of other arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels._reduce import iota
from ..kernels.gather import take
from ..nodes.boundaries import Boundaries, parents, starts
from ..nodes.kinds import Empty, Jagged, List, Live, Masked, Node, Option, Record, Regular, replace
from ..nodes.moving import offsets_of, option, project
from ..nodes.static import arange
from ..nodes.walk import has_run_time_structure
from .gathering import take_rows
from .numbering import note
from .pairing import concatenation, lengthened, side_by_side
from .ranks import Ranks, packed, positions_in, split_live, taken_at
from .runtime import as_list, as_regular, dead_below, dead_of, either, hide, is_text, masked
from .standing import OTHER_LISTS, has_traced_lists
from .taking import Taking

Merge = Callable[[list[Node]], Node]  # arrays without run-time structure, one after another


def padded(lists: List, length: int, clip: bool) -> Node:
    """Lists filled up with missing values to a length; cut off there if they are to be clipped."""
    dead, _ = split_live(lists.content)
    counts = Ranks(lists, dead).counts
    _, content = split_live(packed(lists).content)
    if isinstance(lists, Jagged):
        return _padded_traced(lists, content, counts, length, clip)
    room = np.diff(lists.offsets.array)
    offsets = offsets_of(np.full(lists.length, length) if clip else np.maximum(room, length))
    inside, nth = parents(offsets), positions_in(offsets)
    index = np.where(nth < room[inside], lists.offsets.array[:-1][inside] + nth, -1)
    if content.length == 0:
        found: Node = option(index, content)
    else:
        there = nth < take(counts, inside)
        null = dead_of(there) if dead is not None else np.where(there, np.float32(0), np.float32(1))
        found = hide(taken_at(content, np.maximum(index, 0)), null)
    if clip:
        return Regular(found, length, lists.length, lists.parameters)
    if dead is not None:
        exists = nth < take(jnp.maximum(counts, length), inside)
        found = Live(note(("padded", lists.offsets, length), (dead,), dead_of(exists)), found)
    return List(offsets, found, lists.parameters)


def _padded_traced(lists: Jagged, content: Node, counts: Any, length: int, clip: bool) -> Node:
    """The same of lists of run-time length; `content` has in front of each list what exists."""
    found: Any = None if clip else lengthened(lists.offsets, length)  # type: ignore[arg-type]
    size = lists.length * length if clip else found.bounds.slots
    inside = np.repeat(np.arange(lists.length, dtype=np.int32), length) if clip else parents(found)
    nth = np.tile(np.arange(length, dtype=np.int32), lists.length) if clip else positions_in(found)
    there = nth < take(counts, inside)
    first = take(jnp.asarray(starts(lists.offsets)), inside)
    elements = hide(take_rows(content, jnp.where(there, first + nth, 0), None), dead_of(there))
    if clip:
        return Regular(elements, length, lists.length, lists.parameters)
    exists = nth < take(jnp.maximum(counts, length), inside)
    assert size == elements.length
    return Jagged(found, Live(dead_of(exists), elements), lists.parameters)


def without_missing_lists(node: Node, axis: int) -> Node:
    """An array in which the missing ones among the lists of an axis are empty."""
    node = masked(node)
    if axis == 1 and isinstance(node, Masked):
        lists: Any = as_list(project(node.content))
        if not isinstance(lists, List):
            return node
        below = dead_below(lists, node.null)
        if isinstance(below, np.ndarray) and not below.any():
            return lists
        dead, content = split_live(lists.content)
        return replace(lists, content=Live(either(dead, below), content))  # type: ignore[no-any-return]
    if isinstance(node, Live | Masked):
        return replace(node, content=without_missing_lists(node.content, axis))  # type: ignore[no-any-return]
    if axis > 1 and isinstance(node, List | Regular):
        return replace(node, content=without_missing_lists(node.content, axis - 1))  # type: ignore[no-any-return]
    return node


def joined(several: list[List], merge: Merge) -> Node:
    """The elements of the lists of one array, then those of the next, in one list."""
    if any(isinstance(lists, Jagged) for lists in several):
        return _joined_traced(several, merge)
    if several[0].length == 1 and any(has_traced_lists(lists) for lists in several):
        return _joined_rows(several, merge)
    counts = [np.diff(lists.offsets.array) for lists in several]
    offsets = offsets_of(np.sum(counts, axis=0))
    first = offsets.array[:-1].copy()
    index = np.empty(int(offsets.array[-1]), np.int64)
    base = 0
    for lists, count in zip(several, counts, strict=True):
        index[first[parents(lists.offsets)] + positions_in(lists.offsets)] = base + arange(lists.content.length)
        first += count
        base += lists.content.length
    return List(offsets, taken_at(one_after_another([lists.content for lists in several], merge), index))


def _joined_traced(several: list[List], merge: Merge) -> Node:
    """The same of lists of run-time length."""
    each = [lists.offsets for lists in several]
    if not all(isinstance(offsets, Boundaries) for offsets in each):
        raise StructureError(OTHER_LISTS)
    found, source = concatenation(each)  # type: ignore[arg-type]
    content = one_after_another([lists.content for lists in several], merge)
    if has_traced_lists(content):
        return Jagged(found, Taking().node(content, source, found.parents != len(found) - 2))
    return Jagged(found, take_rows(content, source, None))


def _joined_rows(several: list[List], merge: Merge) -> Node:
    """The rows of several arrays, with lists of run-time length in them.

    The last row of each array holds the slots that are not used. It comes to stand between others, and so it is left
    without any: unused slots are behind all others again.
    """
    dead, content = split_live(one_after_another([lists.content for lists in several], merge))
    ends = np.cumsum([lists.content.length for lists in several]) - 1
    last = [end for end, lists in zip(ends, several, strict=True) if has_traced_lists(lists)]
    size = content.length
    if last[-1] != ends[-1]:  # all rows of an array as it is may exist: one more for what does not
        last.append(size)
    numbers = iota(last[-1] + 1)
    at = jnp.minimum(numbers, np.int32(size - 1))
    there = functools.reduce(jnp.logical_and, [numbers != np.int32(end) for end in last])
    gone = dead_of(there)
    gone = gone if dead is None else either(gone, take(jnp.asarray(dead), at))
    return List(offsets_of(np.array([len(at)])), Live(gone, Taking().node(content, at, there)))


def one_after_another(nodes: list[Node], merge: Merge) -> Node:
    """The elements of several arrays, run-time structure included."""
    if not any(map(has_run_time_structure, nodes)):
        return merge(nodes)
    nodes = [project(node) for node in nodes]
    nodes = [node for node in nodes if not isinstance(node, Empty)] or nodes[:1]
    if len(nodes) == 1:
        return nodes[0]
    if any(isinstance(node, Live) for node in nodes):
        split = [split_live(node) for node in nodes]
        content = one_after_another([node for _, node in split], merge)
        return Live(_masks([(mask, node.length) for mask, node in split]), content)
    if any(isinstance(node, Masked | Option) for node in nodes):
        hidden = [masked(node) for node in nodes]
        content = one_after_another([n.content if isinstance(n, Masked) else n for n in hidden], merge)
        nulls = [(n.null if isinstance(n, Masked) else None, n.length) for n in hidden]
        return hide(content, _masks(nulls))
    first: Any = nodes[0]
    if all(isinstance(node, Record) and _fields(node) == _fields(first) for node in nodes):
        names = range(len(first.contents)) if first.fields is None else first.fields
        columns = [[_column(node, name) for node in nodes] for name in names]
        contents = tuple(one_after_another(column, merge) for column in columns)
        alike = all((node.parameters or {}) == (first.parameters or {}) for node in nodes)
        return Record(contents, first.fields, sum(node.length for node in nodes), first.parameters if alike else None)
    regular: list[Any] = [as_regular(node) for node in nodes]
    if all(isinstance(node, Regular) and node.size == regular[0].size for node in regular):
        content = one_after_another([node.content for node in regular], merge)
        return replace(regular[0], content=content, length=sum(node.length for node in regular))  # type: ignore[no-any-return]
    lists: list[Any] = [as_list(node) for node in nodes]
    if all(isinstance(node, List) and not is_text(node) for node in lists):
        if any(isinstance(node, Jagged) for node in lists):
            content = one_after_another([n.content for n in lists], merge)
            return Jagged(side_by_side([n.offsets for n in lists]), content, first.parameters)
        offsets = offsets_of(np.concatenate([np.diff(node.offsets.array) for node in lists]))
        return replace(lists[0], offsets=offsets, content=one_after_another([n.content for n in lists], merge))  # type: ignore[no-any-return]
    message = (
        "after a selection by traced values arrays of one structure are joined: numbers, records of the same fields, "
        "or lists of such; these would become a union. Join before selecting"
    )
    raise StructureError(message)


def _fields(node: Any) -> Any:
    return len(node.contents) if node.fields is None else frozenset(node.fields)


def _column(node: Any, name: Any) -> Node:
    return node.contents[name if node.fields is None else node.fields.index(name)]  # type: ignore[no-any-return]


def _masks(parts: list[tuple[Any, int]]) -> Any:
    masks = [np.zeros(length, np.float32) if mask is None else mask for mask, length in parts]
    lengths = tuple(length for _, length in parts)
    given = [mask for mask, _ in parts if mask is not None]
    where = tuple(mask is None for mask, _ in parts)
    return note(("joined", lengths, where), given, jnp.concatenate(masks))
