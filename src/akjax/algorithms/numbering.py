"""Value numbers: whether two buffers were computed by the same operation from the same inputs.

`jets.pt > 30` written twice makes two buffers that hold the same values. To know that while tracing,
every buffer has a number: one of its own, or, when it is the result of an operation that was noted, the
one number of that operation on the numbers of its operands. Numbers never hold a buffer, so that nothing
a trace made outlives it.

Buffers with room have one number with their fronts.

Conditions and the masks made of them are numbered by what they mean: a conjunction is the set of its
parts, whatever their order; a double negation is none; what `~is_none(p)` keeps is what `drop_none(p)` keeps.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable
from typing import Any

import jax
import numpy as np

from ..nodes.static import Static
from .evening import whole


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
        found = _of_buffers.get(id(whole(value)))
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
        if isinstance(buffer, jax.Array) and id(whole(buffer)) not in _of_buffers:
            _give(buffer, _interned((operation, numbers, k, str(buffer.dtype))))
    return results


def note_fresh(buffer: Any) -> None:
    """Note that a mask or offsets are as padding made them: what does not exist is all at the end, in no list."""
    _give(buffer, _Number((_FRESH,)))


def is_fresh(buffer: Any) -> bool:
    """Whether this was noted."""
    return isinstance(buffer, jax.Array) and _is(number_of(buffer), _FRESH)


# ------------------------------------------------------------------------------- conditions and masks


def note_conjunction(conditions: Iterable[Any], result: Any) -> Any:
    """Note that booleans hold where all of some conditions do."""
    return _meaning(result, _conjunction(map(number_of, conditions)))


def note_negation(condition: Any, result: Any) -> Any:
    """Note that booleans hold where a condition does not."""
    number = number_of(condition)
    return _meaning(result, number.key[1] if _is(number, _NOT) else _interned((_NOT, number)))


def note_refused(condition: Any, mask: Any) -> Any:
    """Note that a float mask (1 is out) is that of the elements for which a condition does not hold."""
    return _meaning(mask, _refused(number_of(condition)))


def note_kept(mask: Any, result: Any) -> Any:
    """Note that booleans hold for what a float mask leaves in."""
    return _meaning(result, _kept(number_of(mask)))


def note_either(masks: Iterable[Any], result: Any) -> Any:
    """Note that a float mask takes out what at least one of some masks does."""
    return _meaning(result, _refused(_conjunction(_kept(number_of(mask)) for mask in masks)))


_ALL, _NOT, _KEPT, _REFUSED, _FRESH = "all", "not", "kept", "refused", "fresh"


def _is(number: Any, kind: str) -> bool:
    key = getattr(number, "key", None)
    return type(key) is tuple and key[0] is kind


def _conjunction(numbers: Iterable[Any]) -> Any:
    parts: set[Any] = set()
    for number in numbers:
        parts |= number.key[1] if _is(number, _ALL) else {number}
    return _interned((_ALL, frozenset(parts))) if len(parts) > 1 else parts.pop()


def _kept(mask: Any) -> Any:
    return mask.key[1] if _is(mask, _REFUSED) else _interned((_KEPT, mask))


def _refused(condition: Any) -> Any:
    return condition.key[1] if _is(condition, _KEPT) else _interned((_REFUSED, condition))


def _meaning(buffer: Any, number: Any) -> Any:
    if isinstance(buffer, jax.Array) and id(whole(buffer)) not in _of_buffers and isinstance(number, _Number):
        _give(buffer, number)
    return buffer


def _interned(key: Any) -> _Number:
    number = _of_results.get(key)
    if number is None:
        number = _of_results[key] = _Number(key)
    return number


def _give(buffer: Any, number: _Number) -> _Number:
    buffer = whole(buffer)
    at, forget = id(buffer), _of_buffers.pop  # at the end of the interpreter the module's names are gone first
    _of_buffers[at] = weakref.ref(buffer, lambda _: forget(at, None)), number
    return number
