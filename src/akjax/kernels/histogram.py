"""Histograms that agree with ``np.histogram`` bin for bin.

Counts are integers (a float32 count would stop at 2^24). Values out of range, NaN and dead elements are not
counted. Only the weights have a gradient: a count is piecewise constant in the values.
XLA takes subnormal numbers for zero, also when it compares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from akjax.kernels._bins import Bins, Uniform, bin_numbers, make_bins
from akjax.kernels._reduce import as_array, as_dtype, computed_first, iota, reduce_into, select
from akjax.kernels._segments import Segments
from akjax.kernels.segment import Live, segment_sum

__all__ = ["histogram", "histogramdd"]

Edges = np.ndarray | jax.Array
# where entries count in the flat result, and whether they do, of numbers and what is live
Cells = Callable[[list[jax.Array], Live], tuple[jax.Array, jax.Array]]
_Entries = TypeVar("_Entries")

# Entries that are counted a chunk at a time, when there are many: memory that a program needs beyond some 30 MB
# the C library gives back after each call, and getting it anew costs more than the counting. For a length that is odd
# XLA's loops take up to four times as long.
_MANY = 1 << 21
_CHUNK = 1 << 17
# Cells in turn for what does not count: adding to one number again and again waits for each sum.
_OTHERS = 8


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
    numbers = [jax.lax.stop_gradient(_numeric(value)) for value in values]
    evenly = uniform or [None] * dimensions
    sides = flow or [(False, False)] * dimensions
    axes = [make_bins(edge, x.dtype, even) for edge, x, even in zip(edges, numbers, evenly, strict=True)]
    shape = tuple(edge.shape[0] - 1 + sum(side) for edge, side in zip(edges, sides, strict=True))

    looked_up = any(bins.arithmetic is None or not bins.arithmetic.exact for bins in axes)

    def cells(numbers: list[jax.Array], live: Live) -> tuple[jax.Array, jax.Array]:
        found = [_place(*each) for each in zip(numbers, axes, edges, sides, strict=True)]
        cell, inside = found[0]
        for size, (further, also) in zip(shape[1:], found[1:], strict=True):
            cell, inside = cell * size + further, inside & also
        if looked_up and live is not None:  # a lookup and a choice in one loop take one number at a time
            cell = computed_first(cell)
        return cell, inside if live is None else inside & live

    total = math.prod(shape)
    if weights is None:
        counts = _count(cells, numbers, live, total).astype(dtype or as_dtype(np.int64))
    else:
        w = as_array(weights)
        known = all(isinstance(edge, np.ndarray) for edge in edges)
        counts = _add(cells, numbers, live, w, total, known).astype(dtype or w.dtype)
    return counts.reshape(shape)


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


def _count(cells: Cells, numbers: list[jax.Array], live: Live, total: int) -> jax.Array:
    """How many entries are in each cell."""
    size = numbers[0].shape[0]
    counter = np.dtype(np.int32) if size <= np.iinfo(np.int32).max else as_dtype(np.int64)

    def count(entries: tuple[list[jax.Array], Live], new: ArrayLike) -> jax.Array:
        cell, counted = cells(*entries)
        # what does not count has cells, too: everything adds the same, and nothing decides how much
        return reduce_into("add", jnp.ones(cell.shape, counter), _bins(cell, counted & new, total), 0)

    entries = (numbers, live)
    counts = count(entries, True) if size <= _MANY else _in_chunks(count, entries, size, total, counter)
    return counts[:total]


def _add(cells: Cells, numbers: list[jax.Array], live: Live, weights: jax.Array, total: int, known: bool) -> jax.Array:
    """The sum of the weights in each cell."""
    size = weights.shape[0]
    inexact = jnp.issubdtype(weights.dtype, jnp.inexact)
    wide = as_dtype(jnp.promote_types(weights.dtype, np.float64)) if inexact else weights.dtype  # as np.histogram adds

    def add(entries: tuple[list[jax.Array], Live, jax.Array], new: ArrayLike) -> jax.Array:
        cell, counted = cells(*entries[:2])
        counted = counted & new
        # selected before the cast: in debug-NaN mode even a cast of NaN is an error
        selected = select(counted, entries[2], 0).astype(wide)
        return segment_sum(selected, _bins(cell, counted, total)).astype(wide)

    @jax.custom_jvp
    def chunked(numbers: list[jax.Array], live: Live, weights: jax.Array) -> jax.Array:
        return _in_chunks(add, (numbers, live, weights), size, total, wide)

    @chunked.defjvp
    def _(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
        # at once: backwards this is one lookup, where a loop would keep something of every chunk
        return chunked(*primals), add((*primals[:2], tangents[2]), True)

    # edges that are traced are not for a function with a derivative of its own to see
    at_once = size <= _MANY or not known or not inexact
    sums = add((numbers, live, weights), True) if at_once else chunked(numbers, live, weights)
    return sums[:total]


def _bins(cell: jax.Array, counted: jax.Array, total: int) -> Segments:
    """The cells, and behind them some for what does not count."""
    elsewhere = total + (iota(cell.shape[0]) & (_OTHERS - 1))
    return Segments(jnp.where(counted, cell, elsewhere), total + _OTHERS, sorted=False)


def _in_chunks(
    fill: Callable[[_Entries, ArrayLike], jax.Array], entries: _Entries, size: int, total: int, dtype: np.dtype
) -> jax.Array:
    """Fill entries chunk by chunk; `fill` is told which of a chunk are new."""
    length = min(size, -(-total // _CHUNK) * _CHUNK)

    def step(i: jax.Array, sums: jax.Array) -> jax.Array:
        start = jnp.minimum(i * length, size - length)
        some = jax.tree.map(lambda x: jax.lax.dynamic_slice(x, (start,), (length,)), entries)
        # the last chunk begins in the one before
        return sums + fill(some, start + iota(length) >= i * length)

    sums: jax.Array = jax.lax.fori_loop(0, -(-size // length), step, jnp.zeros(total + _OTHERS, dtype))
    return sums
