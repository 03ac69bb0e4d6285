"""Sizes that threads share evenly, and static indices with room up to such a size.

XLA for the CPU gives every thread a part of a loop. A loop in which it gathers it vectorises only if all parts are
equal: of a size that the number of threads does not divide it takes up to twice as long.
"""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import DTypeLike

__all__ = ["empty_with_room", "even", "filled"]

# sizes from the one on are made multiples of the other
_LARGE = 1 << 12
_EVENLY = 64


def even(size: int) -> int:
    """The size that a large buffer of at least this size should have.

    Example:
        >>> even(10), even(10_000)
        (10, 10048)
    """
    return size if size < _LARGE else -(-size // _EVENLY) * _EVENLY


# the whole buffers, by the ids of their fronts
_whole: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}


def empty_with_room(size: int, dtype: DTypeLike) -> np.ndarray:
    """A buffer that is to become a static index, with room behind it for `filled`.

    Example:
        >>> empty_with_room(5000, np.int32).shape
        (5000,)
    """
    whole = np.empty(even(size), dtype)
    front = whole[:size]
    if len(whole) > size:
        _remember(front, whole)
    return front


def filled(index: np.ndarray) -> np.ndarray:
    """A static index, and behind it its last number again up to an even size.

    Of a read-only index it is one object as long as the index is there, and its own memory if that has room.

    Example:
        >>> index = filled(np.arange(5000))
        >>> index.shape, int(index[-1])
        ((5056,), 4999)
    """
    size = len(index)
    if even(size) == size:
        return index
    found = _whole.get(id(index))
    if found is not None and found[0]() is index and not index.flags.writeable:
        whole = found[1]
    else:
        whole = np.empty(even(size), index.dtype)
        whole[:size] = index
        if not index.flags.writeable:  # somebody may change another
            _remember(index, whole)
    if whole.flags.writeable:
        whole[size:] = index[-1]
        whole.flags.writeable = False
    return whole


def _remember(front: np.ndarray, whole: np.ndarray) -> None:
    at, forget = id(front), _whole.pop  # at the end of the interpreter the module's names are gone first
    _whole[at] = weakref.ref(front, lambda _: forget(at, None)), whole
