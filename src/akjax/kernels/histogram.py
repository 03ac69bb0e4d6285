"""Histograms that agree with ``np.histogram`` bin for bin.

Counts are integers (a float32 count would stop at 2^24). Values out of range, NaN and dead elements are not
counted. Only the weights have a gradient: a count is piecewise constant in the values.
XLA takes subnormal numbers for zero, also when it compares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from akjax.kernels._bins import Bins, Uniform, bin_numbers, make_bins
from akjax.kernels._reduce import as_array, as_dtype, select
from akjax.kernels._segments import Segments
from akjax.kernels.segment import Live, segment_count, segment_sum

__all__ = ["histogram", "histogramdd"]

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
    return histogramdd([values], [edges], uniform=[uniform], weights=weights, live=live)


def histogramdd(
    values: Sequence[ArrayLike],
    edges: Sequence[Edges],
    *,
    uniform: Sequence[Uniform | None] | None = None,
    weights: ArrayLike | None = None,
    live: Live = None,
    flow: Sequence[tuple[bool, bool]] | None = None,
    dtype: np.dtype | None = None,
) -> jax.Array:
    """The same in any number of dimensions.

    Args:
        values: one flat array a dimension.
        edges: the bin edges of each dimension.
        uniform: as in `histogram`, for each dimension.
        weights: one for each entry.
        live: which entries exist.
        flow: for each dimension, whether there is a bin for what is below the first edge, and one for what
            is above the last (NaN is).
        dtype: of the result; None for integer counts, or the dtype of the weights.

    Returns:
        Counts or sums as in `histogram`, with one axis a dimension.

    Example:
        >>> e = np.array([0.0, 1.0, 2.0])
        >>> x, y = jnp.array([0.5, 1.5]), jnp.array([1.5, 1.5])
        >>> histogramdd([x, y], [e, e]).tolist()
        [[0, 1], [0, 1]]
        >>> histogramdd([jnp.array([-1.0, 0.5, 7.0, 8.0])], [e], flow=[(True, True)]).tolist()
        [1, 1, 0, 2]
    """
    dimensions = len(values)
    numbers = [_numeric(value) for value in values]
    evenly = uniform or [None] * dimensions
    sides = flow or [(False, False)] * dimensions
    each = zip(numbers, edges, evenly, sides, strict=True)
    found = [_place(x, make_bins(edge, x.dtype, even), edge, side) for x, edge, even, side in each]
    shape = tuple(edge.shape[0] - 1 + sum(side) for edge, side in zip(edges, sides, strict=True))
    number, inside = found[0]
    for size, (further, also) in zip(shape[1:], found[1:], strict=True):
        number, inside = number * size + further, inside & also
    return _fill(number, inside, math.prod(shape), weights, live, dtype).reshape(shape)


def _place(x: jax.Array, bins: Bins, edges: Edges, flow: tuple[bool, bool]) -> tuple[jax.Array, jax.Array]:
    """The bin of each value counting the one below, if there is one, and whether it is in any."""
    number, inside = bin_numbers(x, bins)
    below, above = flow
    if not below and not above:
        return number, inside
    if bins.lower.shape[0]:
        lower = x.astype(bins.lower.dtype) < jnp.asarray(bins.lower)[0]
    else:  # integers that reach no bin
        lower = x.astype(float) < edges[0]
    number = jnp.where(inside, number + below, jnp.where(lower, 0, bins.count + below))
    return number, inside | (lower if below else False) | (~inside & ~lower if above else False)


def _numeric(values: ArrayLike) -> jax.Array:
    x = as_array(values)
    if x.dtype == np.bool_:
        return x.astype(np.uint8)
    if x.dtype.itemsize == 2 and jnp.issubdtype(x.dtype, jnp.floating):
        return x.astype(np.float32)  # exact; NumPy has no rounding for bfloat16
    return x


def _fill(
    number: jax.Array, inside: jax.Array, count: int, weights: ArrayLike | None, live: Live, dtype: np.dtype | None
) -> jax.Array:
    counted = inside if live is None else inside & live
    bins = Segments(number, count, sorted=False)
    if weights is None:
        counts = jnp.asarray(segment_count(bins, counted))
        return counts if dtype is None else counts.astype(dtype)
    w = as_array(weights)
    inexact = jnp.issubdtype(w.dtype, jnp.inexact)
    wide = as_dtype(jnp.promote_types(w.dtype, np.float64)) if inexact else w.dtype  # as np.histogram adds
    # selected before the cast: in debug-NaN mode even a cast of NaN is an error
    return segment_sum(select(counted, w, 0).astype(wide), bins).astype(dtype or w.dtype)
