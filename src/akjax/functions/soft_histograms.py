"""`akjax.histogram`: counts, or what a Gaussian around every value puts into the bins."""

from __future__ import annotations

import math
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.runtime_errors import check
from ..kernels.histogram import histogramdd
from ..kernels.smooth import smooth_histogram
from .binnings import Binning, binnings, rank
from .histograms import counted, flat_numbers, same_lengths


def histogram(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    *,
    weights: Any = None,
    bandwidth: Any = None,
    density: bool = False,
    flow: bool = False,
) -> tuple[Any, Any]:
    """Histogram in any number of dimensions, differentiable with a bandwidth.

    Without a bandwidth it counts as `np.histogram` does, and only the weights have a gradient. With one, every value
    is a Gaussian of that standard deviation, of which each bin gets the part that lies between its edges: then the
    values, the weights and the bandwidth have gradients, and the bandwidth to zero is the histogram again.

    Elements that were removed by a selection, and missing ones, are not counted. Lists are taken apart, after the
    arrays are broadcast against each other: weights of events go with values of jets. The memory it takes does not
    grow with the number of values times the number of bins.

    Args:
        sample: an array, or a tuple of arrays, one a dimension.
        bins: a number, with `range`; edges; an axis of `hist` (Regular, Variable, Integer); a sequence with one of
            these for each dimension; or a `hist.Hist`, whose bins are used.
        range: `(low, high)`, or one such pair a dimension.
        weights: an array or a number.
        bandwidth: standard deviation of the Gaussian, in units of the values; a sequence has one (or None) for each
            dimension. None and 0 count.
        density: divide by the sum and by the volume of each bin.
        flow: whether there are two more bins on each axis, for what lies below its first edge and above its last, so
            that nothing is lost (NaN is above). Axes of `hist` have those that they are made with.

    Returns:
        `(counts, edges)`. The counts have one axis a dimension; they are integers without weights and bandwidth. The
        edges are an array, or a tuple of arrays when the sample is a tuple.

    Raises:
        TypeError: a number of bins without a range, or an axis that has no fixed edges.
        ValueError: arrays, bins or ranges that are not as many as there are dimensions, a negative bandwidth.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> mass = ak.Array([[91.0, 88.5], [], [120.0]])
        >>> counts, edges = akjax.histogram(mass, 2, (80, 100), flow=True)
        >>> counts.tolist(), edges.tolist()
        ([0, 1, 1, 1], [80.0, 90.0, 100.0])
        >>> def in_window(scale):
        ...     return akjax.histogram(mass * scale, 2, (80, 100), bandwidth=2.0)[0][1]
        >>> value, slope = jax.value_and_grad(in_window)(1.0)
        >>> print(f"{value:.3f} {slope:.2f}")
        0.918 29.34
    """
    several = isinstance(sample, tuple | list) and any(rank(one) > 0 for one in sample)
    columns = list(sample) if several else [sample]
    axes = binnings(bins, range, len(columns), flow)
    if density and flow:
        message = "a density is of what is inside the bins: flow=True and density=True exclude each other"
        raise ValueError(message)
    widths = _bandwidths(bandwidth, len(columns))
    numbers, scales, live = _entries(columns, weights)
    if any(not _is_zero(width) for width in widths):
        counts = _smooth(numbers, axes, widths, scales, live)
    else:
        counts = _exact(numbers, axes, scales, live)
        counts = counts if bandwidth is None else counts.astype(jnp.result_type(counts.dtype, float))
    if density:
        counts = counts / jnp.sum(counts) / _volumes(axes)
    edges = tuple(axis.edges for axis in axes)
    return counts, edges if several else edges[0]


def _exact(numbers: list[Any], axes: list[Binning], weights: Any, live: Any) -> Any:
    return histogramdd(
        numbers,
        [axis.numpys() for axis in axes],
        uniform=[axis.uniform for axis in axes],
        weights=weights,
        live=live,
        flow=[axis.flow for axis in axes],
    )


def _smooth(numbers: list[Any], axes: list[Binning], widths: list[Any], weights: Any, live: Any) -> Any:
    for width in widths:
        check(jnp.asarray(width) >= 0, ValueError, "bandwidth must not be negative: {width}", width=width)
    edges = [axis.half_open() if _is_zero(width) else axis.edges for axis, width in zip(axes, widths, strict=True)]
    flow = [axis.flow for axis in axes]
    return smooth_histogram(numbers, edges, widths, weights=weights, live=live, flow=flow)


def _bandwidths(bandwidth: Any, dimensions: int) -> list[Any]:
    single = bandwidth is None or not (isinstance(bandwidth, list | tuple) or rank(bandwidth))
    each = [bandwidth] * dimensions if single else list(bandwidth)
    if len(each) != dimensions:
        message = f"{len(each)} bandwidths, but the sample has {dimensions} dimensions"
        raise ValueError(message)
    for width in each:
        if isinstance(width, int | float | np.number) and not width >= 0:
            message = f"bandwidth must not be negative: {width}"
            raise ValueError(message)
    return [0.0 if width is None else width for width in each]


def _is_zero(width: Any) -> bool:
    return isinstance(width, int | float | np.number) and width == 0


def _entries(columns: list[Any], weights: Any) -> tuple[list[Any], Any, Any]:
    """The flat numbers of each dimension, their weights, and which of them exist."""
    arrays = columns if weights is None or rank(weights) == 0 else [*columns, weights]
    if any(isinstance(array, ak.Array) and array.ndim > 1 for array in arrays):
        arrays = [ak.ravel(array) for array in ak.broadcast_arrays(*arrays)]
    flat = [flat_numbers(array) for array in arrays]
    numbers = [values for values, _ in flat]
    same_lengths(numbers)
    live = counted([found for _, found in flat])
    if weights is not None and rank(weights) == 0:
        return numbers, jnp.broadcast_to(jnp.asarray(weights), numbers[0].shape), live
    return numbers[: len(columns)], None if weights is None else numbers[-1], live


def _volumes(axes: list[Binning]) -> jax.Array:
    each = [jnp.asarray(axis.widths) for axis in axes]
    return math.prod(jnp.meshgrid(*each, indexing="ij"), start=jnp.ones(()))
