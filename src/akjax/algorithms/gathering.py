"""Indexing by integers that are traced: the structure is known, the positions are not.

An index out of range cannot raise while tracing and is never clamped: the element is missing if the
index has missing values anyway, otherwise NaN where the numbers are floating or complex, and a missing
value where they are not.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take, take_mask
from ..nodes.boundaries import parents, starts, stops
from ..nodes.kinds import Empty, Flat, Indexed, Jagged, List, Live, Masked, Node, Option, Record, Regular, replace
from ..nodes.moving import carry, offsets_of, option, project
from ..nodes.static import arange
from .origins import copied
from .runtime import alive, as_list, dead_of, depth_of, either, hide, is_text
from .runtime_errors import check


def gather_lists(node: Node, index: Node, promised: bool = False) -> Node:
    """`array[lists of integers]`: elements of each list at traced positions, as many as the index has.

    `promised` says that no position is out of range, as those of `ak.argsort` of the same lists.
    """
    node, index = project(node), project(index)
    if isinstance(node, Record):
        contents = tuple(gather_lists(content, index, promised) for content in node.contents)
        return replace(node, contents=contents)  # type: ignore[no-any-return]
    if isinstance(node, Option) or isinstance(index, Option):
        return _gather_present(node, index, promised)
    lists = as_list(index)
    array = as_list(node)
    if isinstance(lists, List) and depth_of(node) == 0:
        message = "too many jagged slice dimensions for array"
        raise IndexError(message)
    if not isinstance(lists, List) or not isinstance(array, List):
        message = "an index made of traced values reaches through lists only, not through missing values or unions"
        raise StructureError(message)
    if lists.length != array.length:
        message = f"cannot fit jagged slice with length {lists.length} into an array of length {array.length}"
        raise IndexError(message)
    if depth_of(lists.content) > 0:
        if lists.offsets is not array.offsets:
            message = "the lists of the index do not fit the lists of the array"
            raise IndexError(message)
        content = gather_lists(array.content, lists.content, promised)
        return replace(array, content=content)  # type: ignore[no-any-return]
    positions, null, outer = _index_values(lists.content)
    in_list = parents(lists.offsets)
    if isinstance(outer, Option):
        in_list = in_list[outer.index.array >= 0]
        null = jnp.zeros(positions.shape, jnp.float32) if null is None else null
    offsets = array.offsets.array
    counts = None if promised else np.diff(offsets)[in_list]
    starts = jnp.asarray(offsets[:-1][in_list], positions.dtype)
    content = _outer(outer, _gather(array.content, positions, counts, null, starts, promised))
    return List(lists.offsets, content, array.parameters)


def _gather_present(node: Node, index: Node, promised: bool) -> Node:
    """Lists of which some are missing, in the array or in the index: then so they are in the result."""
    there = np.ones(node.length, dtype=bool)
    for side in (node, index):
        if isinstance(side, Option):
            there &= side.index.array >= 0
    rows = np.flatnonzero(there)
    found = gather_lists(_present(node, rows), _present(index, rows), promised)
    return option(np.where(there, np.cumsum(there) - 1, -1), found)


def _present(side: Node, rows: np.ndarray[Any, Any]) -> Node:
    return carry(side.content, side.index.array[rows]) if isinstance(side, Option) else carry(side, rows)


def _index_values(index: Node) -> tuple[Any, Any, Node | None]:
    """The integers, the run-time mask of missing ones, and the static option around them."""
    index = project(index)
    if isinstance(index, Option):
        values, null, outer = _index_values(index.content)
        if outer is not None:
            message = "an option directly below an option"
            raise AssertionError(message)
        reached = index.index.array[index.index.array >= 0]
        null = None if null is None else take(null, reached)
        return take(values, reached), null, index
    if isinstance(index, Masked):
        values, null, outer = _index_values(index.content)
        if outer is not None:
            message = "an index with both static and run-time missing values is not supported yet"
            raise StructureError(message)
        return values, index.null if null is None else jnp.maximum(null, index.null), outer
    if isinstance(index, Live):
        message = "an index that was itself selected by traced values is not supported yet"
        raise StructureError(message)
    if isinstance(index, Flat) and index.data.ndim == 1:
        # positions are added to: small integers would overflow
        return jnp.asarray(index.data).astype(jax.dtypes.canonicalize_dtype(np.int64)), None, None
    if isinstance(index, Empty):
        return jnp.zeros(0, jnp.int32), None, None
    message = "only flat integers, or lists of them, can be an index of traced values"
    raise StructureError(message)


def _outer(outer: Node | None, content: Node) -> Node:
    if outer is None:
        return content
    index = np.asarray(outer.index.array)  # type: ignore[union-attr]
    packed = np.where(index >= 0, np.cumsum(index >= 0) - 1, -1)
    if isinstance(content, Masked):
        # both kinds of missing become the run-time kind
        there = np.maximum(packed, 0)
        if content.length == 0:
            return option(packed, content.content)
        null = jnp.where(packed < 0, jnp.float32(1), take(content.null, there))
        return Masked(null, carry(content.content, there), content.parameters)
    return option(packed, content)


def _gather(node: Node, positions: Any, counts: Any, null: Any, starts: Any, promised: bool = False) -> Node:
    """Elements at `starts + positions`, where `0 <= positions < counts` after wrapping negative ones."""
    if promised:
        there = positions >= 0 if null is None else alive(null)
        found = take_rows(node, jnp.where(there, starts + positions, 0), None)
        return found if null is None else _missing(null, found)
    size = counts if isinstance(counts, int) else None
    counts = jnp.asarray(counts, positions.dtype)
    wrapped = jnp.where(positions < 0, positions + counts, positions)
    inside = (wrapped >= 0) & (wrapped < counts)
    message = (
        f"index {{index}} is out of bounds for axis 0 with size {size}"
        if size is not None
        else "index out of range while attempting to get index {index}"
    )
    check(inside if null is None else inside | ~alive(null), IndexError, message, index=positions)
    asked = inside if null is None else inside & alive(null)
    at = jnp.where(asked, starts + wrapped, 0)
    if null is None:
        return take_rows(node, at, inside)
    return _missing(dead_of(asked), take_rows(node, at, None))


@dataclasses.dataclass(frozen=True)
class Reach:
    """Where the elements that are taken can lie, as far as it is known while tracing.

    The k-th element that is taken lies between `starts[group[k]]` and `stops[group[k]]`.
    """

    group: np.ndarray[Any, Any]
    starts: np.ndarray[Any, Any]
    stops: np.ndarray[Any, Any]

    def longest(self, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """For each element that is taken, the longest that it can be."""
        filled = np.append(counts, 0)
        where = np.stack([self.starts, self.stops], axis=1).reshape(-1)
        longest = np.maximum.reduceat(filled, where)[::2] if len(where) else where[::2]
        return np.where(self.stops > self.starts, longest, 0)[self.group]  # type: ignore[no-any-return]

    def below(self, offsets: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> Reach:
        """The same for the elements of lists that are taken, as many as `counts` says of each."""
        return Reach(np.repeat(self.group, counts), offsets[self.starts], offsets[self.stops])


def anywhere(length: int, count: int) -> Reach:
    """`count` elements out of `length`."""
    return Reach(np.zeros(count, np.int64), np.array([0]), np.array([length]))


def take_rows(node: Node, at: Any, valid: Any, reach: Reach | None = None) -> Node:
    """Elements at traced positions.

    Lists become as long as they can be, and their elements beyond the end of the list that was taken do not
    exist.

    Args:
        node: what to take from.
        at: positions in range, traced, shape `(n,)`.
        valid: which of them are meant; the others hold something else (None: all are).
        reach: where the positions can lie, which bounds the lengths of lists.
    """
    node = project(node)
    match node:
        case Flat():
            return _take_flat(node, at, valid)
        case Record():
            contents = tuple(take_rows(content, at, valid, reach) for content in node.contents)
            return replace(node, contents=contents, length=at.shape[0])  # type: ignore[no-any-return]
        case Option() if node.content.length:
            there = jnp.asarray(node.index.array >= 0)[at]
            slot = jnp.asarray(np.maximum(node.index.array, 0))[at]
            content = take_rows(node.content, slot, None if valid is None else valid | ~there)
            return _missing(dead_of(there), content, node.parameters)
        case Masked():
            return _missing(take_mask(node.null, at), take_rows(node.content, at, valid, reach), node.parameters)
        case Live():
            return Live(take_mask(node.dead, at), take_rows(node.content, at, valid, reach))
    if node.length == 0:
        return carry(node, np.zeros(0, np.int64)) if at.shape[0] == 0 else option(np.full(at.shape[0], -1), node)
    reach = reach or anywhere(node.length, at.shape[0])
    match node:
        case Regular():
            return _take_regular(node, at, valid, reach)
        case Jagged():
            return _take_jagged(node, at, valid)
        case List() if not is_text(node):
            return _take_lists(node, at, valid, reach)
    message = (
        "an index of traced values cannot move text, dates or unions: which of them comes where would be part "
        "of the structure. Take the fields that hold numbers first, or make the index static"
    )
    raise StructureError(message)


def _take_regular(node: Regular, at: Any, valid: Any, reach: Reach) -> Node:
    length, size = at.shape[0], node.size
    inside = (at[:, None] * size + np.arange(size, dtype=np.int32)).reshape(-1)
    valid = None if valid is None else jnp.repeat(valid, size)
    below = reach.below(arange(node.length + 1) * size, np.full(length, size))
    return replace(node, content=take_rows(node.content, inside, valid, below), length=length)  # type: ignore[no-any-return]


def _take_lists(node: List, at: Any, valid: Any, reach: Reach) -> Node:
    offsets = node.offsets.array
    counts = np.diff(offsets)
    longest = reach.longest(counts)
    length = take(counts.astype(np.int32), at)
    if valid is not None and node.content.length:
        # a list that is not there has one element, to say so
        longest, length = np.maximum(longest, 1), jnp.where(valid, length, 1)
    first = take(offsets[:-1].astype(np.int32), at)
    return _lists(node, first, length, longest, valid, reach.below(offsets, longest))


def _take_jagged(node: Jagged, at: Any, valid: Any) -> Node:
    """Lists of run-time length: each of those taken has room for the longest."""
    bounds: Any = node.offsets
    first = take(jnp.asarray(starts(node.offsets)), at)
    length = take(jnp.asarray(stops(node.offsets)), at) - first
    length = length if valid is None else jnp.where(valid, length, 1)
    return _lists(node, first, length, np.full(at.shape[0], bounds.bounds.longest), valid, None)


def _lists(node: List, first: Any, length: Any, longest: Any, valid: Any, reach: Reach | None) -> Node:
    """Lists of the elements from `first` on, in an envelope of lists that are the `longest` there can be."""
    found = offsets_of(longest)
    inside = parents(found)
    nth = (arange(len(inside)) - found.array[:-1][inside]).astype(np.int32)
    exists = nth < take(length, inside)
    content = take_rows(node.content, jnp.where(exists, take(first, inside) + nth, 0), None, reach)
    content = content if valid is None else spoiled(content, take(valid, inside))
    if isinstance(content, Live):
        content = Live(either(dead_of(exists), content.dead), content.content)
    elif len(inside):
        content = Live(dead_of(exists), content)
    return List(found, content, node.parameters)


def _missing(null: Any, node: Node, parameters: Any = None) -> Node:
    """Values that are missing where `null` is 1, besides those that are missing already."""
    if isinstance(node, Masked):
        return Masked(jnp.maximum(null, node.null), node.content, parameters or node.parameters)
    return Masked(null, node, parameters)


def _take_flat(node: Flat, at: Any, valid: Any) -> Node:
    shape = (at.shape[0], *node.data.shape[1:])
    data = copied(jnp.asarray(node.data), at) if node.data.shape[0] else jnp.zeros(shape, node.data.dtype)
    found = replace(node, data=data, rank=-1)
    if valid is None:
        return found  # type: ignore[no-any-return]
    if np.dtype(data.dtype).kind in "fc" and node.words is None:
        nan = jnp.asarray(jnp.nan, data.dtype)
        return replace(found, data=jnp.where(valid.reshape((-1,) + (1,) * (data.ndim - 1)), data, nan))  # type: ignore[no-any-return]
    # integers have no NaN: out of range is a missing value
    return Masked(dead_of(valid), found)


def spoiled(node: Node, valid: Any) -> Node:
    """Elements of which those that are not valid have no value: NaN, or missing where there is no NaN."""
    match node:
        case Flat() if np.dtype(node.data.dtype).kind in "fc" and node.words is None:
            there = valid.reshape((-1,) + (1,) * (node.data.ndim - 1))
            return replace(node, data=jnp.where(there, node.data, jnp.asarray(jnp.nan, node.data.dtype)))  # type: ignore[no-any-return]
        case Record():
            contents = tuple(spoiled(content, valid) for content in node.contents)
            return replace(node, contents=contents)  # type: ignore[no-any-return]
        case Indexed():
            return spoiled(project(node), valid)
        case Masked():
            return _missing(node.null, spoiled(node.content, valid), node.parameters)
        case Live():
            return Live(node.dead, spoiled(node.content, valid))
        case List() if not is_text(node):
            return replace(node, content=spoiled(node.content, take(valid, parents(node.offsets))))  # type: ignore[no-any-return]
        case Regular():
            return replace(node, content=spoiled(node.content, jnp.repeat(valid, node.size)))  # type: ignore[no-any-return]
    return hide(node, dead_of(valid))
