"""Rows of a buffer at an index, with everything the compiler may assume about the index."""

from __future__ import annotations

from typing import overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from akjax.kernels._index import Facts, facts_of
from akjax.kernels._reduce import as_array, computed_first

__all__ = ["take", "take_mask"]


@overload
def take(
    data: np.ndarray, index: np.ndarray, *, in_bounds: bool = ..., barrier: bool = ..., rising: bool = ...
) -> np.ndarray: ...
@overload
def take(
    data: jax.Array, index: np.ndarray | jax.Array, *, in_bounds: bool = ..., barrier: bool = ..., rising: bool = ...
) -> jax.Array: ...
@overload
def take(
    data: np.ndarray | jax.Array, index: jax.Array, *, in_bounds: bool = ..., barrier: bool = ..., rising: bool = ...
) -> jax.Array: ...


def take(
    data: np.ndarray | jax.Array,
    index: np.ndarray | jax.Array,
    *,
    in_bounds: bool = True,
    barrier: bool = False,
    rising: bool = False,
) -> np.ndarray | jax.Array:
    """Rows of ``data`` at a one-dimensional integer index, static (NumPy) or traced.

    Args:
        data: buffer of shape ``(n, *inner)``.
        index: row numbers in ``[0, n)``.
        in_bounds: with ``False`` an index outside ``[0, n)`` gives the fill value (NaN, or the integer's
            extreme) instead of an error (static index) or an undefined row (traced index).
        barrier: compute ``data`` once before it is gathered; without it XLA may compute it again per row.
        rising: whether a traced index never falls; of a static one that is known.

    Returns:
        Array of shape ``(len(index), *inner)``; NumPy when both inputs are.

    Raises:
        IndexError: a static index is out of bounds although ``in_bounds`` says otherwise.

    Example:
        >>> take(jnp.array([1.0, 2.0, 3.0]), np.array([2, 0, 0])).tolist()
        [3.0, 1.0, 1.0]
        >>> take(np.array([1.0, 2.0, 3.0]), np.array([2, 0]))
        array([3., 1.])
    """
    n = data.shape[0]
    if isinstance(index, np.ndarray):
        facts = facts_of(index) if index.size else None
        inside = facts is None or (facts.least >= 0 and facts.most < n)
        if facts is not None and in_bounds and not inside:
            msg = f"index between {facts.least} and {facts.most}, but there are {n} rows"
            raise IndexError(msg)
        if isinstance(data, np.ndarray) and inside:
            return np.take(data, index, axis=0)
        if facts is None:
            return as_array(data)[:0]
        return _take_static(_maybe_barrier(data, barrier), index, facts, in_bounds=inside)
    if n == 0:
        if in_bounds and index.shape[0]:
            msg = f"{index.shape[0]} rows of an empty buffer"
            raise IndexError(msg)
        return _missing_rows(jnp.asarray(data), index.shape[0])
    return _gather(_maybe_barrier(data, barrier), index, in_bounds=in_bounds, rising=rising)


def take_mask(
    mask: np.ndarray | jax.Array, index: np.ndarray | jax.Array, *, rising: bool = False, once: bool = False
) -> np.ndarray | jax.Array:
    """The same of a mask of floats that are 0 or 1, which moves as booleans: a quarter of the memory.

    Args:
        mask: the mask.
        index: row numbers.
        rising: whether the index never falls.
        once: whether little is computed with the copies, so that a buffer of them costs more than taking them again.

    Example:
        >>> take_mask(jnp.array([0.0, 1.0]), np.array([1, 0, 1])).tolist()
        [1.0, 0.0, 1.0]
    """
    whole = isinstance(index, np.ndarray) and len(index) == mask.shape[0] and (not len(index) or facts_of(index).run)
    if whole or isinstance(mask, np.ndarray):  # all in order is the same mask
        return take(mask, index, rising=rising)
    there = take(computed_first(mask != 0), index, rising=rising)
    there = there if once else computed_first(there)
    return jnp.where(there, jnp.ones((), mask.dtype), jnp.zeros((), mask.dtype))


def _maybe_barrier(data: np.ndarray | jax.Array, barrier: bool) -> jax.Array:
    x = as_array(data)
    return computed_first(x) if barrier else x


def _take_static(data: jax.Array, index: np.ndarray, facts: Facts, *, in_bounds: bool) -> jax.Array:
    n, m = data.shape[0], index.shape[0]
    if n == 0:
        return _missing_rows(data, m)
    if in_bounds and facts.run:  # a contiguous run moves as one block, without an index
        return data if m == n else lax.slice_in_dim(data, facts.least, facts.least + m)
    return _gather(data, facts.column, in_bounds=in_bounds, rising=facts.rising, distinct=facts.distinct)


def _gather(
    data: jax.Array,
    index: np.ndarray | jax.Array,
    *,
    in_bounds: bool,
    rising: bool = False,
    distinct: bool = False,
) -> jax.Array:
    mode = lax.GatherScatterMode
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(1, data.ndim)), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    return lax.gather(
        data,
        index if index.ndim == 2 else index[:, None],
        numbers,
        slice_sizes=(1, *data.shape[1:]),
        indices_are_sorted=rising,
        unique_indices=distinct,
        mode=mode.PROMISE_IN_BOUNDS if in_bounds else mode.FILL_OR_DROP,
    )


def _missing_rows(data: jax.Array, m: int) -> jax.Array:
    # one row that exists gives the gather a place to read from; no index reaches it
    row = jnp.zeros((1, *data.shape[1:]), dtype=data.dtype)
    return _gather(row, np.ones(m, dtype=np.int32), in_bounds=False)
