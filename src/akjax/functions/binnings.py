"""Bins as `akjax.histogram` takes them: a number and a range, edges, or the axes of a `hist.Hist`.

Axes are recognised by what they have, so that neither `hist` nor `boost_histogram` is needed to run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import awkward as ak
import jax
import numpy as np

from ..highlevel.operations import to_jax
from ..highlevel.state import is_traced


@dataclasses.dataclass(frozen=True)
class Binning:
    """The bins of one dimension.

    Attributes:
        edges: increasing, one more than there are bins; NumPy or traced.
        uniform: `(low, high, number)` if they may be evenly spaced.
        closed: whether the last bin contains its upper edge, as NumPy's does.
        flow: whether there is a bin below the first edge, and one above the last.
    """

    edges: Any
    uniform: tuple[float, float, int] | None
    closed: bool
    flow: tuple[bool, bool]

    @property
    def widths(self) -> Any:
        """How wide each bin is."""
        return self.edges[1:] - self.edges[:-1]

    def half_open(self) -> Any:
        """Edges of which all bins contain the lower only, and that put every value into the same bin."""
        if not self.closed or isinstance(self.edges, jax.Array):
            return self.edges
        return np.append(self.edges[:-1], np.nextafter(self.edges[-1], np.inf))

    def numpys(self) -> Any:
        """Edges that put every value into the same bin when the last bin contains its upper one."""
        return self.edges if self.closed else np.append(self.edges[:-1], np.nextafter(self.edges[-1], -np.inf))


def binnings(bins: Any, limits: Any, dimensions: int, flow: bool) -> list[Binning]:
    """The bins of each dimension.

    Args:
        bins: a number, edges, an axis, a sequence of these (one a dimension), or a `hist.Hist`.
        limits: `(low, high)`, or one such pair a dimension, where `bins` has numbers.
        dimensions: how many there are.
        flow: whether bins below and above are asked for; an axis has those that its traits say.

    Raises:
        TypeError: bins that would depend on the values, or an axis without edges.
        ValueError: as many bins or ranges as there are not dimensions; edges that do not rise.
    """
    each = _each(bins, dimensions)
    ranges = _ranges(limits, dimensions)
    return [_binning(one, limit, flow) for one, limit in zip(each, ranges, strict=True)]


def axes_of(bins: Any) -> list[Any] | None:
    """The axes of a `hist.Hist`, of a sequence of axes, or of a single one; None for anything else."""
    if is_axis(bins):
        return [bins]
    if hasattr(bins, "axes"):
        return list(bins.axes)
    if isinstance(bins, list | tuple) and bins and all(map(is_axis, bins)):
        return list(bins)
    return None


def is_axis(value: Any) -> bool:
    """Whether a value is an axis of `hist` or `boost_histogram`."""
    return hasattr(value, "traits") and hasattr(value, "extent")


def _each(bins: Any, dimensions: int) -> list[Any]:
    if isinstance(bins, str):
        message = f"bins={bins!r} would depend on the values, which are traced: give a number and a range, or edges"
        raise TypeError(message)
    if hasattr(bins, "axes"):
        bins = list(bins.axes)
    elif _is_number(bins):
        return [bins] * dimensions
    elif is_axis(bins) or _is_edges(bins, dimensions):
        bins = [bins] * (1 if is_axis(bins) else dimensions)
    each = list(bins)
    if len(each) != dimensions:
        message = f"bins for {len(each)} dimensions, but the sample has {dimensions}"
        raise ValueError(message)
    return each


def _is_edges(bins: Any, dimensions: int) -> bool:
    """Whether bins are the edges of every dimension, as in `np.histogram2d`, and not one thing for each."""
    if isinstance(bins, ak.Array | np.ndarray | jax.Array):
        return bins.ndim == 1 and (dimensions == 1 or len(bins) != dimensions)
    flat = not any(is_axis(one) or rank(one) for one in bins)
    return flat and (dimensions == 1 or len(bins) != dimensions)


def _ranges(limits: Any, dimensions: int) -> Sequence[Any]:
    if limits is None:
        return [None] * dimensions
    if dimensions == 1 and len(limits) == 2 and rank(limits[0]) == 0:
        return [limits]
    if len(limits) != dimensions:
        message = f"range has {len(limits)} pairs, but the sample has {dimensions} dimensions"
        raise ValueError(message)
    return list(limits)


def _binning(bins: Any, limits: Any, flow: bool) -> Binning:
    if is_axis(bins):
        return _of_axis(bins, flow)
    sides = (flow, flow)
    if isinstance(bins, ak.Array):
        bins = to_jax(bins) if is_traced(bins) else ak.to_numpy(bins)
    if isinstance(bins, jax.Array) and bins.ndim == 1:
        return Binning(bins, None, True, sides)
    if _is_number(bins) and limits is None:
        message = "a number of bins needs range=(low, high): the bins cannot depend on the values, which are traced"
        raise TypeError(message)
    edges = np.histogram(np.empty(0), bins, limits)[1]  # NumPy's own edges and errors
    uniform = (float(edges[0]), float(edges[-1]), int(bins)) if _is_number(bins) else None
    return Binning(edges, uniform, True, sides)


def _of_axis(axis: Any, flow: bool) -> Binning:
    traits = axis.traits
    if traits.circular or traits.growth or not traits.ordered:
        message = (
            f"the axis {axis!r} has no fixed edges: Regular, Variable and Integer axes that are neither circular nor "
            "growing can be filled with traced values"
        )
        raise TypeError(message)
    edges = np.asarray(axis.edges, dtype=np.float64)
    uniform = (float(edges[0]), float(edges[-1]), len(edges) - 1)
    sides = (bool(traits.underflow) and flow, bool(traits.overflow) and flow)
    return Binning(edges, uniform, bool(traits.continuous and not traits.overflow), sides)


def rank(value: Any) -> int:
    """The number of axes, of traced arrays as well."""
    return int(value.ndim) if hasattr(value, "ndim") else np.ndim(value)


def _is_number(bins: Any) -> bool:
    return isinstance(bins, int | np.integer)
