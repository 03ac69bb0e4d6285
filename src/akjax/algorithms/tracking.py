"""Index tracking: let Awkward itself move the elements.

On a structure that is known while tracing, a function that only moves elements can be run by Awkward on
the host: every element of every data buffer gets a number, the real function is called on the numbers,
and the numbers in its result say where each element came from. The program is then one gather a
buffer. Numbers start at 2^40: smaller ones in a result are constants the function made itself.

The numbers are 64-bit integers whatever the buffer holds, as all kinds of number join alike. Booleans
join with numbers only where a function says so: theirs are time differences, which never do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.kinds import ONE_NUMBER, Flat, Live, Masked, Node, Record, replace
from ..nodes.static import arange
from ..nodes.walk import iterate, map_flat
from ..structure.from_layout import buffer, from_layout
from ..structure.to_layout import envelope_layout, stand_in
from .origins import copied, held

START = 1 << 40
BOOLEAN = np.dtype("m8[as]")  # what the numbers of booleans look like


def _where(numbers: np.ndarray[Any, Any]) -> Any:
    return numbers.__array_interface__["data"][0], numbers.shape, numbers.strides


def plain_numbers(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The numbers of elements as integers, those of booleans too."""
    return numbers.view(np.int64) if numbers.dtype == BOOLEAN else numbers


def nodes_of_numbers(layout: Any) -> Node:
    """The nodes of a layout whose buffers hold numbers of elements."""
    return from_layout(layout, lambda content: plain_numbers(buffer(content)))


class UnknownDtype(Exception):
    """A buffer of the result has no single source to take its dtype from."""


class Table:
    """The numbering of all elements of some buffers.

    Args:
        booleans_apart: whether booleans must not join with numbers.
    """

    def __init__(self, booleans_apart: bool = True) -> None:
        self._booleans_apart = booleans_apart
        self._entries: list[tuple[int, int, Any, str | None]] = []  # first number, how many, buffer, words
        self._of: dict[int, np.ndarray[Any, Any]] = {}
        self._untouched: dict[Any, int] = {}  # entries by where their numbers lie in memory
        self._next = START

    def ids(self, data: Any, words: str | None = None) -> np.ndarray[Any, Any]:
        """The numbers of a buffer's elements, in its shape; the same buffer always gets the same ones."""
        if id(data) not in self._of:
            shape = data.shape[:-1] if words else data.shape
            size = int(np.prod(shape, dtype=np.int64))
            numbers = self._numbers(self._next, shape, size)
            apart = self._booleans_apart and data.dtype == np.bool_
            self._of[id(data)] = numbers.view(BOOLEAN) if apart else numbers
            if size:
                self._untouched[_where(numbers)] = len(self._entries)
            self._entries.append((self._next, size, data, words))
            self._next += size
        return self._of[id(data)]

    def _numbers(self, first: int, shape: Any, size: int) -> np.ndarray[Any, Any]:
        return np.arange(first, first + size, dtype=np.int64).reshape(shape)

    def reserve(self, like: Any) -> np.ndarray[Any, Any]:
        """Numbers for the elements of a buffer that is still to be computed."""
        return self.ids(like)

    def replace(self, before: Any, data: Any) -> None:
        """Put a buffer in the place of the one that numbers were reserved for."""
        self._of[id(data)] = self._of.pop(id(before))
        self._entries = [
            (first, size, data if old is before else old, words) for first, size, old, words in self._entries
        ]

    def layout(self, node: Node) -> Any:
        """The Awkward layout of a node with numbers in place of its data."""
        if any(isinstance(n, Live | Masked) for n in iterate(node)):
            raise StructureError(RUN_TIME)
        if isinstance(node, Flat) and not node.shape:
            raise TypeError(ONE_NUMBER)
        return envelope_layout(node, lambda flat: self.ids(flat.data, flat.words))

    def tracked(self, numbers: np.ndarray[Any, Any]) -> bool:
        """Whether a buffer of a result holds numbers of elements."""
        numbers = plain_numbers(numbers)
        if _where(numbers) in self._untouched:
            return True
        if numbers.dtype.kind not in "iuf" or not numbers.size:
            return False
        # of floats, which may be NaN, there are few
        return bool((numbers >= START).any() if numbers.dtype.kind == "f" else numbers.max() >= START)

    def known(self, numbers: np.ndarray[Any, Any]) -> bool:
        """Whether a buffer inside a running function stands for data, empty ones included."""
        return numbers.dtype in (np.int64, BOOLEAN) and (numbers.size == 0 or self.tracked(numbers))

    def node(self, layout: Any, truth: Callable[[], Any] | None = None, joined: bool = False) -> Node:
        """The nodes of a result, from its layout; see `resolve`."""
        return self.resolve(nodes_of_numbers(layout), truth, joined)

    def resolve(self, numbers: Node, truth: Callable[[], Any] | None = None, joined: bool = False) -> Node:
        """The nodes of a result: what its numbers point to.

        Args:
            numbers: `nodes_of_numbers` of the result of a function of tracked layouts.
            truth: gives the layout of the same function's result on zeros of the true dtypes; asked for
                only where the numbers do not tell a dtype (empty buffers, buffers joined from several).
            joined: whether any buffer may have been joined with others, if only with empty ones.
        """
        if not joined:
            try:
                return map_flat(lambda flat: self._flat(flat, None), numbers)
            except UnknownDtype:
                if truth is None:
                    raise
        assert truth is not None
        expected = from_layout(truth())
        if outline(expected) != outline(numbers):
            message = "the result has another structure for its true types than for tracked elements"
            raise StructureError(message)
        dtypes = iter([n.data.dtype for n in iterate(expected) if isinstance(n, Flat)])
        return map_flat(lambda flat: self._flat(flat, next(dtypes)), numbers)

    def dtypes(self) -> set[Any]:
        """The dtypes of the buffers that were numbered."""
        return {np.dtype(words or data.dtype) for _, _, data, words in self._entries}

    def element(self, number: np.ndarray[Any, Any]) -> Any:
        """The single element of this number (a NumPy array without axes)."""
        found = self._flat(Flat(plain_numbers(number.reshape(1))), None)
        if found.words is not None:
            message = "a single 64-bit integer that does not fit 32 bits needs jax_enable_x64: switch it on"
            raise TypeError(message)
        return found.data[0]

    def _entry(self, number: int) -> tuple[int, int, Any, str | None]:
        firsts = [entry[0] for entry in self._entries]
        return self._entries[int(np.searchsorted(firsts, number, side="right")) - 1]

    def _flat(self, flat: Flat, dtype: Any) -> Flat:
        numbers = flat.data
        if numbers.size == 0:
            if dtype is None:
                raise UnknownDtype
            return replace(flat, data=np.zeros(numbers.shape, dtype))  # type: ignore[no-any-return]
        untouched = self._untouched.get(_where(numbers))
        if untouched is not None and dtype is None:  # by far the most: nothing to look at
            _, _, data, words = self._entries[untouched]
            return replace(flat, data=data, words=words)  # type: ignore[no-any-return]
        high = int(numbers.max()) if numbers.dtype == np.int64 else None  # looked at once: there may be millions
        if high < START if high is not None else not self.tracked(numbers):
            return flat if dtype is None else replace(flat, data=numbers.astype(dtype))
        numbers = numbers.astype(np.int64) if numbers.dtype.kind == "f" else numbers
        low, high = int(numbers.min()), int(numbers.max()) if high is None else high
        if low >= START:
            first, size, data, words = self._entry(low)
            if high < first + size:
                if words and dtype is not None and dtype != words:
                    message = (
                        f"{words} values that do not fit 32 bits need jax_enable_x64 to be converted: switch it on"
                    )
                    raise TypeError(message)
                found = self._from_one(numbers, first, high, data, words)
                found = found if words or dtype is None or found.dtype == dtype else found.astype(_canonical(dtype))
                return replace(flat, data=found, words=words)  # type: ignore[no-any-return]
        if dtype is None:
            raise UnknownDtype
        return self._from_many(flat, numbers, dtype)

    def _from_one(self, numbers: np.ndarray[Any, Any], first: int, high: int, data: Any, words: str | None) -> Any:
        shape = data.shape[:-1] if words else data.shape
        positions = np.empty(numbers.shape, np.int32 if high - first <= np.iinfo(np.int32).max else np.int64)
        np.subtract(numbers, first, out=positions, casting="unsafe")
        positions = positions.reshape(-1)
        if numbers.shape == shape and np.array_equal(positions, np.arange(len(positions), dtype=positions.dtype)):
            return data
        flat = data if data.ndim == 1 else data.reshape((-1, 2) if words else -1)
        found = copied(flat, held(positions))
        return found.reshape((*numbers.shape, 2) if words else numbers.shape)

    def _from_many(self, flat: Flat, numbers: np.ndarray[Any, Any], dtype: Any) -> Flat:
        """Elements of several buffers, or of buffers and constants, in the dtype Awkward gives them."""
        shape, numbers = numbers.shape, numbers.reshape(-1)
        positions = np.empty(numbers.shape, dtype=np.int64)
        pieces: list[Any] = []
        total = 0
        constant = numbers < START
        if constant.any():
            pieces.append((numbers[constant].astype(dtype), None))
            positions[constant] = arange(int(constant.sum()))
            total = int(constant.sum())
        for first, size, data, words in self._entries:
            mine = (numbers >= first) & (numbers < first + size)
            if not mine.any():
                continue
            positions[mine] = numbers[mine] - first + total
            pieces.append((data, words))
            total += size
        (words, *others) = {words for _, words in pieces}
        if words is None and not others:
            parts = [jnp.asarray(data).reshape(-1).astype(_canonical(dtype)) for data, _ in pieces]
        elif not others:
            parts, shape = [jnp.asarray(data) for data, _ in pieces], (*shape, 2)
        else:
            message = "64-bit integers cannot be joined with others while jax_enable_x64 is off: switch it on"
            raise TypeError(message)
        small = total <= np.iinfo(np.int32).max
        found = take(jnp.concatenate(parts), held(positions.astype(np.int32) if small else positions))
        found = found.reshape(shape)
        return replace(flat, data=found, words=words)  # type: ignore[no-any-return]


class Whole(Table):
    """A numbering of buffers as a whole, for where no element can move: all elements of a buffer have one number."""

    def _numbers(self, first: int, shape: Any, size: int) -> np.ndarray[Any, Any]:
        return np.broadcast_to(np.array(first), shape)

    def _from_one(self, numbers: np.ndarray[Any, Any], first: int, high: int, data: Any, words: str | None) -> Any:
        assert numbers.shape == (data.shape[:-1] if words else data.shape)
        return data


def is_flat(nodes: Sequence[Node]) -> bool:
    """Whether arrays are numbers, and records of numbers, of one length: broadcasting then moves nothing."""
    inner = [n for node in nodes for n in iterate(node)]
    plain = all(isinstance(n, Record) or (isinstance(n, Flat) and np.ndim(n.data) == 1) for n in inner)
    return plain and len({n.length for n in inner}) == 1 and nodes[0].length > 0


class Zeros:
    """Like a `Table`, but what stands for an array is zeros of its true dtypes."""

    def layout(self, node: Node) -> Any:
        return stand_in(node)

    def ids(self, data: Any) -> Any:
        return np.broadcast_to(np.zeros((), data.dtype), data.shape)

    def node(self, layout: Any, truth: Any = None) -> Node:
        return from_layout(layout)

    def known(self, numbers: np.ndarray[Any, Any]) -> bool:
        return numbers.dtype.kind in "biufc"


def outline(node: Node) -> list[Any]:
    """The kinds of the nodes of a tree, by which two structures are told apart."""
    return [type(n) for n in iterate(node)]


RUN_TIME = (
    "this function needs to know which elements exist, and here that is decided at run time (a selection by "
    "traced values came before it). Supported after such a selection: ufuncs, reducers, ak.num, "
    "ak.combinations, ak.zip, ak.with_field, ak.flatten, boolean selection, np.histogram and returning the result"
)


def _canonical(dtype: Any) -> Any:
    return jax.dtypes.canonicalize_dtype(dtype)
