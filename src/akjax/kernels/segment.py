"""Reductions of elements into segments: sums, products, truth values and counts.

Data has shape ``(n, *inner)``; results have shape ``(length, *inner)``. ``live`` is an optional boolean array
over the ``n`` elements: an element that is not live contributes nothing, neither to the value nor to the
gradient, whatever its slot holds. Dtypes are NumPy's and Awkward's: integers add up in 64 bits (as far as the
JAX configuration has them).
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike, DTypeLike

from akjax.kernels._product import product
from akjax.kernels._reduce import as_array, as_dtype, reduce_into, select
from akjax.kernels._segments import Segments
from akjax.kernels._sum import accurate_sum

__all__ = [
    "Live",
    "Segments",
    "segment_all",
    "segment_any",
    "segment_count",
    "segment_count_nonzero",
    "segment_prod",
    "segment_sum",
]

Live = jax.Array | np.ndarray | None

# of fewer elements the memory for counting them does not matter
_MANY = 1 << 16


def segment_sum(data: ArrayLike, segments: Segments, live: Live = None) -> jax.Array:
    """Sum of each segment; 0 for an empty one.

    Example:
        >>> x = jnp.array([1, 2, 3])
        >>> segment_sum(x, Segments(np.array([0, 0, 2]), 3)).tolist()
        [3, 0, 3]
        >>> segment_sum(x, Segments(np.array([0, 0, 2]), 3), jnp.array([True, False, True])).tolist()
        [1, 0, 3]
    """
    x = as_array(data)
    if x.dtype == np.bool_:
        return _count_true(x, segments, live).astype(_accumulator(x.dtype))
    return accurate_sum(select(live, x, 0).astype(_accumulator(x.dtype)), segments)


def segment_prod(data: ArrayLike, segments: Segments, live: Live = None) -> jax.Array:
    """Product of each segment; 1 for an empty one. The gradient is exact where factors are zero.

    Example:
        >>> segment_prod(jnp.array([2, 3, 4]), Segments(np.array([0, 0, 2]), 3)).tolist()
        [6, 1, 4]
    """
    x = as_array(data)
    return product(select(live, x, 1).astype(_accumulator(x.dtype)), segments)


def segment_any(data: ArrayLike, segments: Segments, live: Live = None) -> jax.Array:
    """Whether any element of a segment is nonzero (NaN is); ``False`` for an empty one.

    Example:
        >>> segment_any(jnp.array([0, 3, 0]), Segments(np.array([0, 0, 2]), 3)).tolist()
        [True, False, False]
    """
    return _count_true(_truth(data), segments, live) > 0


def segment_all(data: ArrayLike, segments: Segments, live: Live = None) -> jax.Array:
    """Whether all elements of a segment are nonzero (NaN is); ``True`` for an empty one.

    Example:
        >>> segment_all(jnp.array([0, 3, 4]), Segments(np.array([0, 0, 2]), 3)).tolist()
        [False, True, True]
    """
    return _count_true(~_truth(data), segments, live) == 0


def segment_count(segments: Segments, live: Live = None, dtype: object = np.int64) -> jax.Array | np.ndarray:
    """Number of (live) elements of each segment: NumPy when everything is static.

    Example:
        >>> segment_count(Segments(np.array([0, 0, 2]), 3))
        array([2, 0, 1])
        >>> segment_count(Segments(np.array([0, 0, 2]), 3), jnp.array([True, False, True])).tolist()
        [1, 0, 1]
    """
    if live is None and segments.counts is not None:
        return segments.counts.astype(as_dtype(dtype))
    if live is None and segments.starts is not None:
        return jnp.diff(segments.starts, append=segments.size).astype(as_dtype(dtype))
    every = jnp.ones(segments.size, dtype=bool) if live is None else as_array(live)
    return _count_true(every, segments, None).astype(as_dtype(dtype))


def segment_count_nonzero(data: ArrayLike, segments: Segments, live: Live = None) -> jax.Array:
    """Number of nonzero elements of each segment (NaN is nonzero).

    Example:
        >>> segment_count_nonzero(jnp.array([0, 3, 4]), Segments(np.array([0, 0, 2]), 3)).tolist()
        [1, 0, 1]
    """
    return _count_true(_truth(data), segments, live).astype(as_dtype(np.int64))


def _accumulator(dtype: np.dtype) -> np.dtype:
    if dtype == np.bool_ or jnp.issubdtype(dtype, jnp.signedinteger):
        return as_dtype(np.int64)
    return as_dtype(np.uint64) if jnp.issubdtype(dtype, jnp.unsignedinteger) else dtype


def _truth(data: ArrayLike) -> jax.Array:
    x = as_array(data)
    return x if x.dtype == np.bool_ else x != 0


def _count_true(truth: jax.Array, segments: Segments, live: Live) -> jax.Array:
    there = select(live, truth, False)
    longest = segments.size if segments.longest is None else segments.longest
    if longest > np.iinfo(np.int16).max or there.shape[0] < _MANY:
        return _counted(there, segments, np.int32 if longest <= np.iinfo(np.int32).max else as_dtype(np.int64))
    # a byte or two for each element instead of four; a GPU adds to whole words only
    small = np.int8 if longest <= np.iinfo(np.int8).max else np.int16
    found: jax.Array = lax.platform_dependent(
        there, cpu=partial(_counted, segments=segments, counter=small), default=partial(_counted, segments=segments)
    )
    return found


def _counted(there: jax.Array, segments: Segments, counter: DTypeLike = np.int32) -> jax.Array:
    count = reduce_into("add", there.astype(counter), segments, 0)
    return count.astype(np.int32) if np.dtype(counter).itemsize < np.dtype(np.int32).itemsize else count
