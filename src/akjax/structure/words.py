"""64-bit integers while JAX's 64-bit types are off: kept as two 32-bit words, never truncated.

Event numbers of an experiment need more than 32 bits, and JAX narrows an int64 buffer without a word
when `jax_enable_x64` is off. Buffers that fit are left to JAX; the others travel as words: they can be
moved, selected and returned, and arithmetic on them says what to switch on.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def wide() -> bool:
    """Whether JAX has 64-bit types now."""
    return bool(jax.config.read("jax_enable_x64"))  # type: ignore[no-untyped-call]


def needs_words(data: Any) -> bool:
    """Whether JAX would truncate this buffer."""
    if not isinstance(data, np.ndarray) or data.dtype not in (np.int64, np.uint64):
        return False
    if wide() or data.size == 0:
        return False
    narrow = np.iinfo(np.int32 if data.dtype == np.int64 else np.uint32)
    return bool(data.min() < narrow.min or data.max() > narrow.max)


def split(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The buffer as 32-bit words, one axis more."""
    return np.ascontiguousarray(data).view(np.uint32).reshape((*data.shape, 2))


def joined(words: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """The 64-bit integers of the words."""
    return np.ascontiguousarray(words).view(dtype).reshape(words.shape[:-1])
