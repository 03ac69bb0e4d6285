"""Structure buffers (offsets, indexes, tags, text) as hashable values.

A raw ndarray cannot sit in the static half of a pytree: its `==` is elementwise and it has no hash.
`Static` compares and hashes *by value*, and equal buffers are one object, so that comparing two
arrays of one structure is a comparison of identities.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

_interned: weakref.WeakValueDictionary[tuple[Any, ...], Static] = weakref.WeakValueDictionary()
_lock = threading.Lock()


class Static:
    """A read-only NumPy buffer compared by value; make one with `static`.

    Args:
        array: the buffer, which nobody will change.
        digest: its hash; worked out when it is asked for by default.
    """

    __slots__ = ("__weakref__", "_hash", "array")

    def __init__(self, array: np.ndarray[Any, Any], digest: int | None = None) -> None:
        self.array = array
        self._hash = digest

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Static):
            return NotImplemented
        return hash(self) == hash(other) and _same(self.array, other.array)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = _digest(self.array)
        return self._hash

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        return np.array2string(self.array, threshold=6, edgeitems=2, separator=",")

    def __reduce__(self) -> tuple[Any, ...]:
        return (static, (np.asarray(self.array),))


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bytes of a buffer, as the largest integers that fit: NaNs are equal, and 0.0 is not -0.0."""
    flat = array.reshape(-1)
    return flat.view(np.uint64 if array.nbytes % 8 == 0 else np.uint8)


def _same(one: np.ndarray[Any, Any], two: np.ndarray[Any, Any]) -> bool:
    return one.dtype == two.dtype and one.shape == two.shape and np.array_equal(_bits(one), _bits(two))


_SAMPLE = 1 << 12


def _digest(array: np.ndarray[Any, Any]) -> int:
    """A hash of a value: from its sum and a sample of a large buffer, as reading all of it takes as long as a trace."""
    bits = _bits(array)
    step = max(1, bits.size // _SAMPLE)
    return hash((array.dtype.str, array.shape, int(np.add.reduce(bits)), bits[::step].tobytes()))


def static(array: Any, *, own: bool = False) -> Static:
    """The one `Static` of this value (dtype and shape included).

    Args:
        array: the buffer.
        own: whether nobody else will change it, so that it need not be copied.
    """
    array = np.ascontiguousarray(array)
    digest = _digest(array)
    key = (array.dtype.str, array.shape, digest)
    with _lock:
        found = _interned.get(key)
        if found is not None and _same(found.array, array):
            return found
        if not own and (array.flags.writeable or not array.flags.owndata):
            # somebody may change the buffer in place later; our value must not change with it
            array = array.copy()
        array.flags.writeable = False
        new = Static(array, digest)
        _interned[key] = new
        return new


def arange(length: int) -> np.ndarray[Any, Any]:
    """The numbers from 0 to `length`, as Awkward's 64-bit index type."""
    return np.arange(length, dtype=np.int64)
