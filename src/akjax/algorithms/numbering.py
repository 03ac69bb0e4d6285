"""Value numbers: whether two buffers were computed by the same operation from the same inputs.

`jets.pt > 30` written twice makes two buffers that hold the same values. To know that while tracing,
every buffer has a number: one of its own, or, when it is the result of an operation that was noted, the
one number of that operation on the numbers of its operands. Numbers never hold a buffer, so that nothing
a trace made outlives it.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable
from typing import Any

import jax
import numpy as np

from ..nodes.static import Static


class _Number:
    """Compared by identity; `key` says of what, and keeps the numbers it is made of alive."""

    __slots__ = ("__weakref__", "key")

    def __init__(self, key: Any = None) -> None:
        self.key = key


_of_results: weakref.WeakValueDictionary[Any, _Number] = weakref.WeakValueDictionary()
_of_buffers: dict[int, tuple[weakref.ref[Any], _Number]] = {}


def number_of(value: Any) -> Any:
    """The number of a buffer; what is compared by value is its own."""
    if isinstance(value, jax.Array):
        found = _of_buffers.get(id(value))
        return _give(value, _Number()) if found is None else found[1]
    if isinstance(value, Static):
        return value
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        return type(value), repr(value)  # 1, True and 1.0 differ, and so do 0.0 and -0.0
    return _Number()  # what can change between two uses is like nothing else


def same(one: Any, two: Any) -> bool:
    """Whether two buffers (or None) are known to hold the same values."""
    if one is two:
        return True
    return isinstance(one, jax.Array) and isinstance(two, jax.Array) and number_of(one) is number_of(two)


def note(operation: Hashable, operands: Iterable[Any], results: Any) -> Any:
    """Note that buffers are the results of an operation, which must depend on nothing but its operands.

    Args:
        operation: the operation and everything static about it.
        operands: buffers and scalars.
        results: a buffer, or a list of them.

    Returns:
        `results`.
    """
    # operands first: one that is passed through keeps its number
    numbers = tuple(map(number_of, operands))
    for k, buffer in enumerate(results if isinstance(results, list) else [results]):
        if isinstance(buffer, jax.Array) and id(buffer) not in _of_buffers:
            key = (operation, numbers, k, str(buffer.dtype))
            number = _of_results.get(key)
            if number is None:
                number = _of_results[key] = _Number(key)
            _give(buffer, number)
    return results


def _give(buffer: Any, number: _Number) -> _Number:
    at = id(buffer)
    _of_buffers[at] = weakref.ref(buffer, lambda _: _of_buffers.pop(at, None)), number
    return number
