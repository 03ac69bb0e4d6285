"""Means, spreads, moments and correlations of segments, on raw numbers.

Values where nothing can be said (no elements, one element with `ddof=1`) are NaN as in Awkward, but
are selected, not divided out, so that gradients of everything else stay finite.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..kernels import extrema
from ..kernels.gather import take
from ..kernels.segment import Segments, segment_count, segment_sum


def _divide(one: Any, two: Any) -> Any:
    known = two != 0
    return jnp.where(known, one / jnp.where(known, two, 1), jnp.nan)


def _safe_sqrt(value: Any) -> Any:
    """The square root with slope 0 at 0, where the spread of equal values has a kink."""
    positive = value > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, value, 1)), value)


class Sample:
    """Numbers in segments with optional weights; the building block of every statistic."""

    def __init__(self, segments: Segments, live: Any, weight: Any) -> None:
        self._segments = segments
        self._live = live
        self._weight = weight
        if weight is None:
            self.total = jnp.asarray(segment_count(segments, live, np.int64))
        else:
            self.total = segment_sum(weight, segments, live)

    def sum(self, values: Any) -> Any:
        """The (weighted) sum of each segment."""
        weighted = values if self._weight is None else values * self._weight
        return segment_sum(weighted, self._segments, self._live)

    def mean(self, values: Any) -> Any:
        """The (weighted) mean of each segment."""
        return _divide(self.sum(values), self.total)

    def centred(self, values: Any) -> Any:
        """The values less the mean of their segment."""
        mean = self.mean(values)
        known = jnp.where(jnp.isnan(mean), 0, mean)
        # an undefined mean has no say in the gradient, unless a value itself is undefined
        poisoned = jnp.isnan(mean) & (self.total != 0)
        mean = jnp.where(poisoned, jnp.nan, known)
        return values - take(mean, self._segments.parents)

    def covariance(self, x: Any, y: Any) -> Any:
        """The mean product of deviations."""
        return self.mean(self.centred(x) * self.centred(y))

    def variance(self, x: Any, ddof: Any) -> Any:
        """The mean squared deviation, with Bessel's correction for `ddof=1`."""
        deviation = self.centred(x)
        squared = jnp.abs(deviation) ** 2 if jnp.iscomplexobj(deviation) else deviation * deviation
        return _divide(self.sum(squared), self.total - ddof)

    def correlation(self, x: Any, y: Any) -> Any:
        """Pearson's coefficient."""
        dx, dy = self.centred(x), self.centred(y)
        return _divide(self.sum(dx * dy), _safe_sqrt(self.sum(dx * dx) * self.sum(dy * dy)))


def compute(name: str, values: list[Any], segments: Segments, live: Any, options: dict[str, Any]) -> Any:
    """One statistic on raw numbers.

    Args:
        name: as in `ak.<name>`.
        values: x, or x and y, floating.
        segments: which segment each number is in.
        live: which numbers exist, or None.
        options: `weight` (numbers or None), `ddof`, `n`.
    """
    if name == "ptp":
        return extrema.segment_max(values[0], segments, live) - extrema.segment_min(values[0], segments, live)
    sample = Sample(segments, live, options.get("weight"))
    ddof = options.get("ddof", 0)
    match name:
        case "mean":
            return sample.mean(values[0])
        case "var":
            return sample.variance(values[0], ddof)
        case "std":
            return _safe_sqrt(sample.variance(values[0], ddof))
        case "moment":
            return sample.mean(values[0] ** options["n"])
        case "covar":
            return sample.covariance(*values)
        case "corr":
            return sample.correlation(*values)
    raise AssertionError(name)
