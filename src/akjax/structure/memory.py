"""Memory for buffers of arrays: where from, and used again when nobody holds it."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

# JAX takes a buffer at such an address over on a CPU, where it would copy others
_ALIGNMENT = 64

# references to what only a block holds: its own, and that of the call that counts
_UNUSED = 2


def blank(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """A buffer with anything in it.

    Args:
        shape: its shape.
        dtype: its dtype.
    """
    return _over(np.empty(_size(shape, dtype), np.uint8), shape, dtype)


class Pool:
    """Memory that is used again, for buffers of a few sizes that are made again and again.

    Fresh memory costs a page fault every 4096 bytes, each as long as copying ten pages, and what is freed in megabytes
    the C library returns to the system.

    Example:
        >>> pool = Pool()
        >>> one = pool.blank((1000,), np.float32)
        >>> address = one.__array_interface__["data"]
        >>> del one
        >>> pool.blank((1000,), np.float32).__array_interface__["data"] == address
        True
    """

    def __init__(self) -> None:
        self._blocks: dict[int, list[_Block]] = {}

    def blank(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        """A buffer with anything in it, in memory that no array is in any more."""
        size = _size(shape, dtype)
        blocks = self._blocks.setdefault(size, [])
        block = next((one for one in blocks if one.is_free()), None)
        if block is None:
            block = _Block(size)
            blocks.append(block)
        return _over(block.memory, shape, dtype)


class _Block:
    """Memory that knows whether an array is in it: every view of it counts as a reference to it."""

    def __init__(self, size: int) -> None:
        self.memory = np.empty(size, np.uint8)

    def is_free(self) -> bool:
        return sys.getrefcount(self.memory) == _UNUSED


def _size(shape: tuple[int, ...], dtype: Any) -> int:
    return math.prod(shape) * int(np.dtype(dtype).itemsize) + _ALIGNMENT


def _over(raw: np.ndarray[Any, Any], shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    dtype = np.dtype(dtype)
    start = -raw.__array_interface__["data"][0] % _ALIGNMENT
    found: np.ndarray[Any, Any] = raw[start : start + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
    return found
