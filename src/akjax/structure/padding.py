"""Buffers padded up to capacities: those of a whole array, or those that a program uses of one that fits it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ..errors import StructureError
from ..kernels.lists import known_parents
from ..nodes.boundaries import Boundaries, Bounds, boundaries
from ..nodes.kinds import Flat, Jagged, List, Live, Masked, Node, Record, Regular, replace
from ..nodes.static import Static
from .envelope import Envelope, Sizes, labelled, number_of_pairs, sizes_in, sizes_of_lengths, within
from .memory import blank

Array: TypeAlias = np.ndarray[Any, Any]
Blank: TypeAlias = Callable[[tuple[int, ...], Any], Array]


class Padded:
    """A buffer to be padded: what it will look like, and how to make it.

    Attributes:
        shape: its shape.
        dtype: its dtype.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, write: Callable[[Array], None]) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._write = write

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.shape)

    def made(self, blank: Blank = blank) -> Array:
        """The buffer itself, in memory that `blank` gives for a shape and a dtype."""
        found = blank(self.shape, self.dtype)
        self._write(found)
        return found


def _rows(number: int, slots: int) -> Padded:
    """The mask of the rows that do not exist."""

    def write(dead: Array) -> None:
        dead[:number] = 0
        dead[number:] = 1

    return Padded((slots,), np.float32, write)


def _numbers(data: Array, slots: int) -> Padded:
    """Numbers, and zeros behind them."""

    def write(whole: Array) -> None:
        whole[: len(data)] = data
        whole[len(data) :] = 0

    return Padded((slots, *data.shape[1:]), data.dtype, write)


def _offsets(offsets: Array, lists: int, slots: int) -> Padded:
    """Offsets of the lists; the last of those that do not exist holds the slots that are not used."""

    def write(padded: Array) -> None:
        padded[: len(offsets)] = offsets
        padded[len(offsets) :] = offsets[-1]
        padded[-1] = slots

    return Padded((lists + 1,), np.int32, write)


def _parents(offsets: Array, lists: int, slots: int) -> Padded:
    """The list that each slot is in."""
    total = int(offsets[-1])

    def write(parents: Array) -> None:
        known_parents(offsets, parents[:total])
        parents[total:] = lists - 1

    return Padded((slots,), np.int32, write)


def pad(node: Node, envelope: Envelope) -> Node:
    """An array padded up to an envelope in which it fits: the rows and elements behind it do not exist.

    Returns:
        Nodes over buffers that are still to be made.
    """
    return Live(_rows(node.length, envelope.rows), _Padding(envelope).node(node, envelope.rows, ""))


class _Padding:
    def __init__(self, envelope: Envelope) -> None:
        self._lists = dict(envelope.lists)
        self._products = envelope.products
        self._boundaries: dict[Any, Boundaries] = {}
        self._buffers: dict[Any, Padded] = {}

    def node(self, node: Node, slots: int, path: str) -> Node:
        where = f"the field {path}" if path else "the array"
        match node:
            case Flat() | Regular() if 0 in (node.shape[1:] if isinstance(node, Flat) else (node.size,)):
                message = f"akjax.traced takes no lists of the regular length 0, as {where} has: use ak.from_regular"
                raise StructureError(message)
            case Flat():
                return replace(node, data=self._padded(node.data, slots))  # type: ignore[no-any-return]
            case Record():
                contents = tuple(self.node(content, slots, label) for label, content in labelled(node, path))
                return replace(node, contents=contents, length=slots)  # type: ignore[no-any-return]
            case Masked():
                return Masked(self._padded(node.null, slots), self.node(node.content, slots, path), node.parameters)
            case Regular():
                content = self.node(node.content, slots * node.size, path)
                return replace(node, content=content, length=slots)  # type: ignore[no-any-return]
            case List() if (node.parameters or {}).get("__array__") not in ("string", "bytestring"):
                path += "[]"
                sizes = self._lists[path]
                content = self.node(node.content, sizes.total, path)
                return Jagged(self._of(node.offsets, slots, sizes, path), content, node.parameters)  # type: ignore[arg-type]
        message = (
            f"akjax.traced takes numbers in records and lists, with missing values; {where} has something else (text, "
            "a union, dates or an unknown type): leave it out, or give the array itself to the function"
        )
        raise StructureError(message)

    def _of(self, offsets: Static, lists: int, sizes: Sizes, path: str) -> Boundaries:
        """The boundaries, one object for equal offsets."""
        key = (offsets, lists, sizes)
        if key not in self._boundaries:
            products = tuple((two if one == path else one, n) for (one, two), n in self._products if path in (one, two))
            padded, parents = (make(offsets.array, lists, sizes.total) for make in (_offsets, _parents))
            self._boundaries[key] = boundaries(padded, parents, Bounds(lists, *sizes, path, products))
        return self._boundaries[key]

    def _padded(self, data: Any, slots: int) -> Padded:
        """One object for one buffer."""
        key = id(data), slots
        if key not in self._buffers:
            self._buffers[key] = _numbers(data, slots)
        return self._buffers[key]


class Lengths:
    """Sizes of lists by their offsets, worked out once."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Array, Array, Sizes]] = {}

    def fit(self, offsets: Array, bounds: Bounds) -> bool:
        """Whether lists stay within bounds."""
        return within(self._of(offsets)[2], sizes_in(bounds))

    def fit_together(self, one: Array, two: Array, most: int | None) -> bool:
        """Whether there are no more pairs of an element of one and an element of the other in a row."""
        return most is None or number_of_pairs(self._of(one)[1], self._of(two)[1]) <= most

    def _of(self, offsets: Array) -> tuple[Array, Array, Sizes]:
        if id(offsets) not in self._found:
            lengths = np.diff(offsets)
            self._found[id(offsets)] = offsets, lengths, sizes_of_lengths(int(offsets[-1]), lengths)
        return self._found[id(offsets)]


def fitted(node: Node, skeleton: Live, rows: int, lengths: Lengths) -> dict[int, Padded] | None:
    """The buffers of an array in the places of a padded one.

    Args:
        node: the array, or some of its columns.
        skeleton: the padded array, over the numbers of its leaves.
        rows: how many rows that has.
        lengths: where sizes of the lists are remembered.

    Returns:
        By number, buffers that are still to be made; None where the array does not fit: it is too large, is of another
        type, or has columns in different lists where the other's are in one.
    """
    try:
        places = list(_places(node, skeleton.content, rows))
    except _OtherType:
        return None
    sources: dict[int, Array] = {}
    lists: dict[int, Bounds] = {}
    for leaf, source, _, bounds in places:
        if not _same(sources.setdefault(leaf.number, source), source):
            return None
        if bounds is not None:
            lists[leaf.number] = bounds
    each = all(lengths.fit(sources[number], bounds) for number, bounds in lists.items())
    pairs = itertools.combinations(lists, 2)
    if (
        node.length >= rows
        or not each
        or not all(lengths.fit_together(sources[a], sources[b], lists[a].product(lists[b])) for a, b in pairs)
    ):
        return None
    dead: Any = skeleton.dead
    return {dead.number: _rows(node.length, rows), **{leaf.number: buffer for leaf, _, buffer, _ in places}}


class _OtherType(Exception):
    """A node in the place of one of another kind."""


def _places(node: Node, into: Node, slots: int) -> Iterator[tuple[Any, Array, Padded, Bounds | None]]:
    """The leaves of a padded array with what stands there in another, and what is known of lists."""
    match into, node:
        case Record(), Record():
            there = dict(labelled(into, ""))
            for label, content in labelled(node, ""):
                yield from _places(content, there[label], slots)
        case Flat(), Flat() if (into.words, into.rank) == (node.words, node.rank):
            yield into.data, node.data, _numbers(node.data, slots), None
        case Masked(), Masked():
            yield into.null, node.null, _numbers(node.null, slots), None
            yield from _places(node.content, into.content, slots)
        case Regular(), Regular() if into.size == node.size:
            yield from _places(node.content, into.content, slots * node.size)
        case Jagged(), List():
            lists: Any = into.offsets
            offsets, bounds = node.offsets.array, lists.bounds
            yield lists.offsets, offsets, _offsets(offsets, bounds.rows, bounds.slots), bounds
            yield lists.parents, offsets, _parents(offsets, bounds.rows, bounds.slots), None
            yield from _places(node.content, into.content, bounds.slots)
        case _:
            raise _OtherType


def _same(one: Array, two: Array) -> bool:
    return one is two or (one.shape == two.shape and one.strides == two.strides and np.array_equal(one, two))
