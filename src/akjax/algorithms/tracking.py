"""Index tracking: let Awkward itself move the elements.

On a structure that is known while tracing, a function that only moves elements can be run by Awkward on
the host: every element of every data buffer gets a number, the real function is called on the numbers,
and the numbers in its result say where each element came from. The program is then one gather a
buffer. Numbers start at 2^40: smaller ones in a result are constants the function made itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.kinds import Flat, Live, Masked, Node, replace
from ..nodes.static import arange, static
from ..nodes.walk import iterate, map_flat
from ..structure.from_layout import from_layout
from ..structure.to_layout import envelope_layout

START = 1 << 40


class UnknownDtype(Exception):
    """A buffer of the result has no single source to take its dtype from."""


class Table:
    """The numbering of all elements of some buffers."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, int, Any, str | None]] = []  # first number, how many, buffer, words
        self._of: dict[int, np.ndarray[Any, Any]] = {}
        self._next = START

    def ids(self, data: Any, words: str | None = None) -> np.ndarray[Any, Any]:
        """The numbers of a buffer's elements, in its shape; the same buffer always gets the same ones."""
        if id(data) not in self._of:
            shape = data.shape[:1] if words else data.shape
            size = int(np.prod(shape, dtype=np.int64))
            self._of[id(data)] = (self._next + arange(size)).reshape(shape)
            self._entries.append((self._next, size, data, words))
            self._next += size
        return self._of[id(data)]

    def layout(self, node: Node) -> Any:
        """The Awkward layout of a node with numbers in place of its data."""
        if any(isinstance(n, Live | Masked) for n in iterate(node)):
            raise StructureError(RUN_TIME)
        return envelope_layout(node, lambda flat: self.ids(flat.data, flat.words))

    def tracked(self, numbers: np.ndarray[Any, Any]) -> bool:
        """Whether a buffer of a result holds numbers of elements."""
        return bool(numbers.dtype.kind in "iuf" and numbers.size and (numbers >= START).any())

    def known(self, numbers: np.ndarray[Any, Any]) -> bool:
        """Whether a buffer inside a running function stands for data, empty ones included."""
        return numbers.dtype == np.int64 and (numbers.size == 0 or self.tracked(numbers))

    def node(self, layout: Any, truth: Callable[[], Any] | None = None) -> Node:
        """The nodes of a result: what its numbers point to.

        Args:
            layout: the layout of the result of a function of tracked layouts.
            truth: gives the layout of the same function's result on zeros of the true dtypes; asked for
                only where the numbers do not tell a dtype (empty buffers, buffers joined from several).
        """
        numbers = from_layout(layout)
        try:
            return map_flat(lambda flat: self._flat(flat, None), numbers)
        except UnknownDtype:
            if truth is None:
                raise
        dtypes = iter([n.data.dtype for n in iterate(from_layout(truth())) if isinstance(n, Flat)])
        try:
            return map_flat(lambda flat: self._flat(flat, next(dtypes)), numbers)
        except StopIteration:
            message = "the result has another structure for its true types than for tracked elements"
            raise StructureError(message) from None

    def element(self, number: Any) -> Any:
        """The single element of this number."""
        found = self._flat(Flat(np.asarray([number])), None)
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
        if not self.tracked(numbers):
            return flat if dtype is None else replace(flat, data=numbers.astype(dtype))  # type: ignore[no-any-return]
        numbers = numbers.astype(np.int64) if numbers.dtype.kind == "f" else numbers
        low, high = int(numbers.min()), int(numbers.max())
        if low >= START:
            first, size, data, words = self._entry(low)
            if high < first + size:
                found = self._from_one(numbers - first, data, words)
                return replace(flat, data=found, words=words)  # type: ignore[no-any-return]
        if dtype is None:
            raise UnknownDtype
        return replace(flat, data=self._from_many(numbers, dtype))  # type: ignore[no-any-return]

    def _from_one(self, positions: np.ndarray[Any, Any], data: Any, words: str | None) -> Any:
        shape = data.shape[:1] if words else data.shape
        if positions.shape == shape and np.array_equal(positions.reshape(-1), arange(positions.size)):
            return data
        flat = data if words or data.ndim == 1 else data.reshape(-1)
        # an element used several times must not be computed several times
        barrier = positions.size > flat.shape[0] and not isinstance(data, np.ndarray)
        found = take(flat, _interned(positions.reshape(-1)), barrier=barrier)
        return found if words else found.reshape(positions.shape)

    def _from_many(self, numbers: np.ndarray[Any, Any], dtype: Any) -> Any:
        """Elements of several buffers, or of buffers and constants, in the dtype Awkward gives them."""
        flat = numbers.reshape(-1)
        positions = np.empty(flat.shape, dtype=np.int64)
        pieces: list[Any] = []
        total = 0
        constant = flat < START
        if constant.any():
            pieces.append(jnp.asarray(flat[constant].astype(dtype)))
            positions[constant] = arange(int(constant.sum()))
            total = int(constant.sum())
        for first, size, data, words in self._entries:
            mine = (flat >= first) & (flat < first + size)
            if not mine.any():
                continue
            if words is not None:
                message = "64-bit integers cannot be joined with others while jax_enable_x64 is off: switch it on"
                raise TypeError(message)
            positions[mine] = flat[mine] - first + total
            pieces.append(jnp.asarray(data).reshape(-1).astype(_canonical(dtype)))
            total += size
        joined = jnp.concatenate(pieces) if len(pieces) > 1 else pieces[0]
        return take(joined, _interned(positions)).reshape(numbers.shape)


RUN_TIME = (
    "this function needs to know which elements exist, and here that is decided at run time (a selection by "
    "traced values came before it). Supported after such a selection: ufuncs, reducers, ak.num, "
    "ak.combinations, ak.zip, ak.with_field, ak.flatten, boolean selection, np.histogram and returning the result"
)


def _canonical(dtype: Any) -> Any:
    return jax.dtypes.canonicalize_dtype(dtype)


def _interned(positions: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One array object for one index, so that a program holds it once."""
    return static(positions).array
