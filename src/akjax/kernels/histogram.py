"""Histograms that agree with ``np.histogram`` bin for bin.

Counts are integers (a float32 count would stop at 2^24). Values out of range, NaN and dead elements are not
counted. Only the weights have a gradient: a count is piecewise constant in the values.
XLA takes subnormal numbers for zero, also when it compares.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from akjax.kernels._bins import Uniform, bin_numbers, make_bins
from akjax.kernels._reduce import as_array, as_dtype, select
from akjax.kernels._segments import Segments
from akjax.kernels.segment import Live, segment_count, segment_sum

__all__ = ["histogram", "histogram2d"]

Edges = np.ndarray | jax.Array


def histogram(
    values: ArrayLike,
    edges: Edges,
    *,
    uniform: Uniform | None = None,
    weights: ArrayLike | None = None,
    live: Live = None,
) -> jax.Array:
    """Number of values, or sum of their weights, in each bin.

    Args:
        values: flat array.
        edges: increasing bin edges, one more than there are bins; NumPy (static) or JAX (traced).
        uniform: ``(low, high, nbins)`` when the edges are evenly spaced: finds bins by arithmetic, much
            faster; the edges still decide where the arithmetic rounds.
        weights: one for each value.
        live: which values exist.

    Returns:
        Integer counts without weights, otherwise sums in the dtype of the weights.

    Example:
        >>> histogram(jnp.array([0.0, 0.5, 1.0, 2.0, 2.5]), np.array([0.0, 1.0, 2.0])).tolist()
        [2, 2]
        >>> x, w = jnp.array([0.5, 1.5]), jnp.array([2.0, 3.0])
        >>> histogram(x, np.array([0.0, 1.0, 2.0]), weights=w).tolist()
        [2.0, 3.0]
    """
    x = _numeric(values)
    bins = make_bins(edges, x.dtype, uniform)
    number, inside = bin_numbers(x, bins)
    return _fill(number, inside, bins.count, weights, live)


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    x_edges: Edges,
    y_edges: Edges,
    *,
    uniform_x: Uniform | None = None,
    uniform_y: Uniform | None = None,
    weights: ArrayLike | None = None,
    live: Live = None,
) -> jax.Array:
    """Two-dimensional histogram, shape ``(nx, ny)``, always of floats, as ``np.histogram2d``.

    Example:
        >>> e = np.array([0.0, 1.0, 2.0])
        >>> histogram2d(jnp.array([0.5, 1.5]), jnp.array([1.5, 1.5]), e, e).tolist()
        [[0.0, 1.0], [0.0, 1.0]]
    """
    one, two = _numeric(x), _numeric(y)
    x_bins, y_bins = make_bins(x_edges, one.dtype, uniform_x), make_bins(y_edges, two.dtype, uniform_y)
    row, row_inside = bin_numbers(one, x_bins)
    column, column_inside = bin_numbers(two, y_bins)
    inside = row_inside & column_inside
    double = as_dtype(np.float64)
    w = None if weights is None else select(live, as_array(weights), 0).astype(double)
    flat = _fill(row * y_bins.count + column, inside, x_bins.count * y_bins.count, w, live)
    return flat.astype(double).reshape(x_bins.count, y_bins.count)


def _numeric(values: ArrayLike) -> jax.Array:
    x = as_array(values)
    if x.dtype == np.bool_:
        return x.astype(np.uint8)
    if x.dtype.itemsize == 2 and jnp.issubdtype(x.dtype, jnp.floating):
        return x.astype(np.float32)  # exact; NumPy has no rounding for bfloat16
    return x


def _fill(number: jax.Array, inside: jax.Array, count: int, weights: ArrayLike | None, live: Live) -> jax.Array:
    counted = inside if live is None else inside & live
    bins = Segments(number, count, sorted=False)
    if weights is None:
        return jnp.asarray(segment_count(bins, counted))
    w = as_array(weights)
    inexact = jnp.issubdtype(w.dtype, jnp.inexact)
    wide = as_dtype(jnp.promote_types(w.dtype, np.float64)) if inexact else w.dtype  # as np.histogram adds
    # selected before the cast: in debug-NaN mode even a cast of NaN is an error
    return segment_sum(select(counted, w, 0).astype(wide), bins).astype(w.dtype)
