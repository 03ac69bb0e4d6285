"""Histograms of which every entry is spread over the bins by a Gaussian: the counts are differentiable.

An entry at x adds to a bin with edges a and b what a Gaussian around x has between them,
``Phi((b - x) / h) - Phi((a - x) / h)``, with the bandwidth h as its standard deviation; in several dimensions the
product. All bandwidths to zero is the histogram itself: this is a kernel density estimate (Rosenblatt 1956,
Parzen 1962) integrated over the bins, as in W. Xu et al., "Optimizing statistical analyses by differentiable binned
kernel density estimates".

Entries are taken in chunks that fit the cache, and again in reverse mode, so that no array of entries times bins is
ever there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import erf
from jax.typing import ArrayLike

from akjax.kernels._reduce import as_array, as_dtype, materialise, select
from akjax.kernels.segment import Live

__all__ = ["smooth_histogram"]

CHUNK = 2**18  # numbers of a chunk: a few megabytes


def smooth_histogram(
    values: Sequence[ArrayLike],
    edges: Sequence[ArrayLike],
    bandwidths: Sequence[ArrayLike],
    *,
    weights: ArrayLike | None = None,
    live: Live = None,
    flow: Sequence[tuple[bool, bool]] | None = None,
    chunk: int = CHUNK,
) -> jax.Array:
    """Sum of the weights in each bin, of entries spread out by a Gaussian.

    Args:
        values: one flat array a dimension. NaN is beyond the last edge.
        edges: increasing bin edges of each dimension; NumPy or JAX.
        bandwidths: standard deviation of the Gaussian of each dimension; 0 spreads nothing (bins are then
            half-open), a negative one gives NaN.
        weights: one for each entry.
        live: which entries exist.
        flow: for each dimension, whether there is a bin below the first edge and one above the last.
        chunk: how many numbers may be in memory at a time.

    Returns:
        Floats, one axis a dimension.

    Example:
        >>> smooth_histogram([jnp.array([1.0])], [np.array([0.0, 1.0, 2.0])], [1e-9]).tolist()
        [0.5, 0.5]
        >>> x = jnp.array([0.5])
        >>> smooth_histogram([x], [np.array([0.0, 1.0])], [10.0], flow=[(True, True)]).sum().tolist()
        1.0
    """
    numbers = [as_array(value) for value in values]
    dtype = _floating([*numbers, *map(jnp.asarray, bandwidths), *([] if weights is None else [as_array(weights)])])
    beyond = flow or [(False, False)] * len(numbers)
    axes = [
        _Axis(jnp.asarray(edge, dtype), jnp.asarray(width, dtype), *sides)
        for edge, width, sides in zip(edges, bandwidths, beyond, strict=True)
    ]
    w = jnp.ones(numbers[0].shape, dtype) if weights is None else as_array(weights)
    w = select(live, w, 0).astype(dtype)
    columns = [select(live, x, 0).astype(dtype) for x in numbers]
    return _in_chunks(axes, columns, w, chunk).astype(dtype)


class _Axis:
    """The bins of one dimension and how far an entry reaches."""

    def __init__(self, edges: jax.Array, width: jax.Array, below: bool, above: bool) -> None:
        self._edges = edges
        self._width = width
        self._below = below
        self._above = above
        self.bins = edges.shape[0] - 1 + below + above

    def shares(self, x: jax.Array) -> jax.Array:
        """The share of each bin in each entry, shape ``(bins, entries)``."""
        up_to = materialise(self._up_to(self._place(x)))
        inside = up_to[1:] - up_to[:-1]
        parts = [up_to[:1]] * self._below + [inside] + [1 - up_to[-1:]] * self._above
        return jnp.concatenate(parts) if len(parts) > 1 else inside

    def _place(self, x: jax.Array) -> jax.Array:
        """Infinity, and what is no number at all, as far away as makes no difference and no derivative."""
        low, high = self._edges[0], self._edges[-1]
        far = 40 * jnp.abs(self._width) + (high - low)
        return jnp.where(jnp.isfinite(x), x, lax.stop_gradient(jnp.where(x < 0, low - far, high + far)))

    def _up_to(self, x: jax.Array) -> jax.Array:
        """How much of each entry is below each edge."""
        away = self._edges[:, None] - x
        spread = self._width != 0
        scale = 1 / (jnp.where(spread, self._width, 1) * math.sqrt(2))
        scale = jnp.where(self._width < 0, jnp.nan, scale)
        return jnp.where(spread, (1 + erf(away * scale)) / 2, (away > 0).astype(x.dtype))


def _in_chunks(axes: list[_Axis], columns: list[jax.Array], w: jax.Array, chunk: int) -> jax.Array:
    entries = w.shape[0]
    wide = jnp.promote_types(w.dtype, as_dtype(np.float64))
    shape = tuple(axis.bins for axis in axes)
    widest = max(math.prod(shape[:-1]), *shape)
    size = max(chunk // max(widest, 1), 1)
    start = jnp.zeros(shape, wide)
    if entries <= size:
        return start + _sum(axes, columns, w)
    padded = [jnp.pad(part, (0, -entries % size)).reshape(-1, size) for part in [*columns, w]]

    def add(total: jax.Array, parts: list[jax.Array]) -> tuple[jax.Array, None]:
        return total + _sum(axes, parts[:-1], parts[-1]), None

    return lax.scan(jax.checkpoint(add, prevent_cse=False), start, padded)[0]


def _sum(axes: list[_Axis], columns: list[jax.Array], w: jax.Array) -> jax.Array:
    """The histogram of a few entries."""
    *others, last = [axis.shares(x) for axis, x in zip(axes, columns, strict=True)]
    if not others:
        return jnp.sum(last * w, axis=1)
    together = w[None]
    for shares in others:
        together = (together[:, None] * shares).reshape(-1, w.shape[0])
    found: Any = jnp.matmul(together, last.T, precision=lax.Precision.HIGHEST)
    return found.reshape(tuple(axis.bins for axis in axes))  # type: ignore[no-any-return]


def _floating(arrays: list[jax.Array]) -> np.dtype:
    kind = jnp.result_type(*arrays)
    return np.dtype(kind if jnp.issubdtype(kind, jnp.inexact) else jnp.result_type(float))
