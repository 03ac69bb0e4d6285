"""Indexing one axis at a time by integers that may be traced: the tuples of NumPy's indexing.

The walk goes down the array with the positions of the rows it has come to. As long as these are static,
so is everything; once a traced integer has chosen among lists of different lengths, how long the chosen
ones are is known only at run time: they become as long as the longest, under a live mask.

An integer out of range cannot raise while tracing and is never clamped: numbers become NaN where they
are floating or complex, and missing where they are not; a list becomes a list of one such element.
"""

from __future__ import annotations

import dataclasses
import math
from types import EllipsisType
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.kinds import Empty, Flat, Indexed, List, Live, Masked, Node, Option, Record, Regular, replace
from ..nodes.moving import carry, offsets_of, option, ranges
from ..nodes.static import arange, static
from .gathering import take_rows
from .numbering import note
from .runtime import alive, as_regular, dead_of, depth_of, hide, is_text, masked
from .runtime_errors import check


@dataclasses.dataclass(frozen=True)
class Integers:
    """The integers of one axis.

    `values` has one axis. `shape` is that of the index they come from, none for a single integer: the axes that
    stand in the result in place of the one that is indexed. `null` is a float mask of those that are missing.
    """

    values: Any
    shape: tuple[int, ...] = ()
    null: Any = None


Item: TypeAlias = Integers | slice | EllipsisType | None


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows of a node: where they are, and which are in range (None: all).

    `number` says by which of several integers each row was chosen, once an axis was indexed by such: those of a
    further axis go with them one by one. `whole` is the length of the array, if the one row is the array itself.
    """

    at: Any
    valid: Any = None
    number: np.ndarray[Any, Any] | None = None
    whole: int | None = None

    @property
    def count(self) -> int:
        return int(self.at.shape[0])

    @property
    def known(self) -> bool:
        """Whether the positions are known while tracing."""
        return isinstance(self.at, np.ndarray)

    def below(self, at: Any, times: Any) -> Rows:
        """The rows of the content when each of these is a list of so many."""
        valid = self.valid
        if valid is not None:
            valid = note(("repeat", _number(times)), (valid,), valid.repeat(times))
        return Rows(at, valid, None if self.number is None else self.number.repeat(times))


def pick(node: Node, items: tuple[Item, ...]) -> Node:
    """`array[items]`, as the only row of the result.

    Args:
        node: the array.
        items: the index; field names are not among them, and all `Integers` with a shape have the same one.
    """
    return _pick(Regular(node, node.length, 1), Rows(arange(1), whole=node.length), items)


def _pick(node: Node, rows: Rows, items: tuple[Item, ...]) -> Node:
    if not items and rows.known:
        return carry(node, rows.at)
    if items and items[0] is None:
        return Regular(_pick(node, rows, items[1:]), 1, rows.count)
    match node:
        case Indexed():
            return _pick(node.content, dataclasses.replace(rows, at=take(node.index.array, rows.at)), items)
        case Record():
            contents = tuple(_pick(content, rows, items) for content in node.contents)
            return replace(node, contents=contents, length=rows.count)  # type: ignore[no-any-return]
        case Option() if rows.known:
            return _present(node, rows, items)
        case Option():
            return _pick(masked(node), rows, items)
        case Masked():
            return hide(_pick(node.content, rows, items), take(node.null, rows.at), node.parameters)
        case Empty() if rows.count == 0:
            return node
    if items:
        return _index(node, rows, items)
    match node:
        case Flat():
            return take_rows(node, rows.at, rows.valid)
        case List() | Regular():
            return _index(node, rows, (slice(None),))
    raise StructureError(_NOT_MOVED)


_NOT_MOVED = (
    "an index of traced values cannot move text, dates, unions or what a selection by traced values has chosen: "
    "take the fields of numbers first, index before selecting, or make the index static"
)


def _present(node: Option, rows: Rows, items: tuple[Item, ...]) -> Node:
    """Of values that are missing as known while tracing, those that are there."""
    at = node.index.array[rows.at]
    there = at >= 0
    some = Rows(at[there], None, None if rows.number is None else rows.number[there])
    return option(np.where(there, np.cumsum(there) - 1, -1), _pick(node.content, some, items), node.parameters)


# ------------------------------------------------------------------------------- one axis


def _index(node: Node, rows: Rows, items: tuple[Item, ...]) -> Node:
    """Rows that are lists, by the first of the items."""
    item, rest = items[0], items[1:]
    if item is Ellipsis:
        if depth_of(node) <= sum(other is not None for other in rest):
            return _pick(node, rows, rest)
        item, rest = slice(None), items
    lists = as_regular(node)
    if not isinstance(lists, List | Regular) or is_text(lists) or isinstance(lists.content, Live):
        raise StructureError(_NOT_MOVED)
    if isinstance(item, Integers):
        return _integers(lists, rows, item, rest)
    assert isinstance(item, slice)
    return _slice(lists, rows, item, rest)


def _extent(lists: List | Regular, at: Any) -> tuple[Any, Any]:
    """Where lists start in their content, and how long they are."""
    if isinstance(lists, Regular):
        return at * lists.size, np.full(at.shape[0], lists.size)
    offsets = lists.offsets.array
    return take(offsets, at), take(np.diff(offsets, append=offsets[-1:]), at)


def _structure(lists: List | Regular) -> Any:
    return lists.offsets if isinstance(lists, List) else (lists.size, lists.length)


def _number(operand: Any) -> Any:
    """An operand as value numbers know it: what is static is compared by value."""
    return static(operand) if isinstance(operand, np.ndarray) else operand


def _where(condition: Any, x: Any, y: Any) -> Any:
    return (jnp if isinstance(condition, jax.Array) or isinstance(x, jax.Array) else np).where(condition, x, y)


def _integers(lists: List | Regular, rows: Rows, item: Integers, rest: tuple[Item, ...]) -> Node:
    """One element of each list; of the first index with axes, one for each of its integers."""
    opens = bool(item.shape) and rows.number is None
    if opens:
        times = len(item.values)
        here = dataclasses.replace(rows.below(rows.at.repeat(times), times), number=np.tile(arange(times), rows.count))
    else:
        here = rows
    values, null = item.values, item.null
    if item.shape:
        assert here.number is not None
        values, null = take(values, here.number), None if null is None else take(null, here.number)
    starts, counts = _extent(lists, here.at)
    positions = values + counts * (values < 0)
    inside = (positions >= 0) & (positions < counts)
    asked, fine = (inside, inside) if null is None else (inside & alive(null), inside | ~alive(null))
    message = (
        f"index {{index}} is out of bounds for axis 0 with size {rows.whole}"
        if rows.whole is not None
        else "index out of range while attempting to get index {index}"
    )
    if isinstance(fine, np.ndarray):
        if not fine.all():
            raise IndexError(message.format(index=values[~fine][0]))
        valid = here.valid
    else:
        check(fine, IndexError, message, index=jnp.broadcast_to(values, fine.shape))
        valid = fine if here.valid is None else here.valid & fine
    operands = map(_number, (rows.at, rows.valid, item.values, item.null))
    at, valid = note(("at", _structure(lists), item.shape), operands, [_where(asked, starts + positions, 0), valid])
    found = _pick(lists.content, Rows(at, valid, here.number), rest)
    if null is not None:
        found = hide(found, null)
    if opens:
        for k in reversed(range(len(item.shape))):
            found = Regular(found, item.shape[k], rows.count * math.prod(item.shape[:k]))
    return found


def _slice(lists: List | Regular, rows: Rows, item: slice, rest: tuple[Item, ...]) -> Node:
    starts, counts = _extent(lists, rows.at)
    first, length = _bounds(item, counts)
    step = 1 if item.step is None else item.step
    if isinstance(length, np.ndarray):  # known lengths, perhaps of lists at unknown places
        inside = ranges(np.zeros(len(length), np.int64), length)
        at = (starts + first).repeat(length) + step * inside
        found = _pick(lists.content, rows.below(at, length), rest)
        if isinstance(lists, List):
            return replace(lists, offsets=offsets_of(length), content=found)  # type: ignore[no-any-return]
        size = int(_bounds(item, np.array([lists.size]))[1][0])
        return replace(lists, content=found, size=size, length=rows.count)  # type: ignore[no-any-return]
    longest = int(np.diff(lists.offsets.array).max(initial=0)) if isinstance(lists, List) else lists.size
    if rows.valid is not None and lists.content.length:
        # something must say that there is no such list
        longest = max(longest, 1)
        length = jnp.where(rows.valid, length, 1)
    inside = arange(longest)
    exists = (inside < length[:, None]).reshape(-1)
    at = jnp.where(exists, ((starts + first)[:, None] + step * inside).reshape(-1), 0)
    operands = map(_number, (rows.at, rows.valid, item.start, item.stop))
    at, exists = note(("slice", _structure(lists), item.step), operands, [at, exists])
    found = _pick(lists.content, rows.below(at, longest), rest)
    return List(offsets_of(np.full(rows.count, longest)), Live(dead_of(exists), found), lists.parameters)


def _bounds(item: slice, counts: Any) -> tuple[Any, Any]:
    """Where a slice of lists of these lengths starts in each, and how many elements it has."""
    traced = any(isinstance(x, jax.Array) for x in (item.start, item.stop, counts))
    clip = (jnp if traced else np).clip
    step = 1 if item.step is None else item.step
    low, high = (0, counts) if step > 0 else (-1, counts - 1)
    ends = [
        whole if end is None else clip(end + counts * (end < 0), low, high)
        for end, whole in ((item.start, low if step > 0 else high), (item.stop, high if step > 0 else low))
    ]
    first, last = ends
    length = (last - first + step - (1 if step > 0 else -1)) // step
    return first + 0 * counts, clip(length, 0, None)
