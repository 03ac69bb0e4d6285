"""Running sums of whole numbers."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from akjax.kernels._reduce import computed_first

__all__ = ["running_count", "running_places"]

_BLOCK = 8  # a power of two
_FEW = 4096


def running_count(numbers: jax.Array, before: int = 0) -> jax.Array:
    """The int32 sum of each number and all before it, and of what was there `before`.

    XLA for the CPU takes 8 nanoseconds a number for `jnp.cumsum`. Sums of blocks, their running sum, and what is within
    each block are loops over many numbers at once, and take a sixth of that.

    Example:
        >>> running_count(jnp.array([1, 0, 2, 1])).tolist()
        [1, 1, 3, 4]
    """
    numbers = numbers.astype(np.int32)
    size = numbers.shape[0]
    if size <= _FEW:
        return jnp.cumsum(numbers, dtype=np.int32) + before
    return _running(computed_first(jnp.pad(numbers, (_BLOCK, -size % _BLOCK))), before)[:size]


def running_places(places: jax.Array, size: int, before: int = 0) -> jax.Array:
    """For each number from 0 to `size - 1`, how many of some sorted places are not beyond it.

    Example:
        >>> running_places(jnp.array([1, 1, 3]), 4).tolist()
        [0, 2, 2, 3]
    """
    front, room = (0, size) if size <= _FEW else (_BLOCK, _BLOCK + size + -size % _BLOCK)
    begun = jnp.zeros(room, np.int32)
    begun = begun.at[places + front].add(1, indices_are_sorted=True, mode="promise_in_bounds")
    return running_count(begun, before) if size <= _FEW else _running(begun, before)[:size]


def _running(padded: jax.Array, before: int) -> jax.Array:
    """Running sums of whole blocks of numbers, with a block of zeros in front."""
    size = padded.shape[0] - _BLOCK
    blocks = padded[_BLOCK:].reshape(-1, _BLOCK)
    total = computed_first(functools.reduce(jnp.add, [blocks[:, k] for k in range(_BLOCK)]))
    first = computed_first(running_count(total, before) - total)
    found = jnp.broadcast_to(first[:, None], blocks.shape).reshape(-1)
    nth = lax.iota(np.int32, size) & (_BLOCK - 1)
    for step in range(_BLOCK):  # shifts of everything are loops without a jump in them
        moved = lax.slice_in_dim(padded, _BLOCK - step, _BLOCK - step + size)
        found = found + jnp.where(nth >= step, moved, 0)
    return found
