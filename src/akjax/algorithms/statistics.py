"""Means, spreads, moments and correlations of segments, on raw numbers.

Values where nothing can be said (no elements, one element with `ddof=1`) are NaN (or infinite) as in Awkward,
but they are selected and have no derivative, so that gradients of everything else stay finite.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels import extrema
from ..kernels._reduce import spread
from ..kernels.segment import Segments, segment_count, segment_sum


def _divide(one: Any, two: Any) -> Any:
    """A quotient; where it is infinite or undefined it has its value but no derivative."""
    known = two != 0
    return jnp.where(known, one / jnp.where(known, two, 1), lax.stop_gradient(one / two))


def _root(value: Any) -> Any:
    """The square root with slope 0 at 0, where the spread of equal values has a kink."""
    positive = value > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, value, 1)), lax.stop_gradient(jnp.sqrt(value)))


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
        return values - spread(mean, self._segments)

    def covariance(self, x: Any, y: Any) -> Any:
        """The mean product of deviations."""
        return self.mean(self.centred(x) * self.centred(y))

    def variance(self, x: Any, ddof: Any) -> Any:
        """The mean squared deviation, with Bessel's correction for `ddof=1`."""
        deviation = self.centred(x)
        squared = deviation.real**2 + deviation.imag**2 if jnp.iscomplexobj(deviation) else deviation * deviation
        variance = self.mean(squared)
        if ddof == 0:
            return variance
        known = self.total != ddof
        undefined = lax.stop_gradient(variance * (self.total / (self.total - ddof)))
        return jnp.where(known, variance * _divide(self.total, jnp.where(known, self.total - ddof, 1)), undefined)

    def correlation(self, x: Any, y: Any) -> Any:
        """Pearson's coefficient."""
        dx, dy = self.centred(x), self.centred(y)
        return _divide(self.sum(dx * dy), _root(self.sum(dx * dx) * self.sum(dy * dy)))

    def line(self, x: Any, y: Any) -> dict[str, Any]:
        """The straight line closest to the points, and the errors of its parameters."""
        sx, sy, sxx, sxy = self.sum(x), self.sum(y), self.sum(x * x), self.sum(x * y)
        delta = self.total * sxx - sx * sx
        return {
            "intercept": _divide(sxx * sy - sx * sxy, delta),
            "slope": _divide(self.total * sxy - sx * sy, delta),
            "intercept_error": _root(_divide(sxx, delta)),
            "slope_error": _root(_divide(self.total, delta)),
        }


def compute(name: str, values: list[Any], segments: Segments, live: Any, dtype: Any, options: dict[str, Any]) -> Any:
    """One statistic on raw numbers.

    Args:
        name: as in `ak.<name>`.
        values: x, or x and y; the weight is the last one when `options` says so.
        segments: which segment each number is in.
        live: which numbers exist, or None.
        dtype: of the result; numbers are converted first, as Awkward does.
        options: `weighted`, `ddof`, `n`, `part`.
    """
    if name == "ptp":
        span = extrema.segment_max(values[0], segments, live) - extrema.segment_min(values[0], segments, live)
        return jnp.where(jnp.asarray(segment_count(segments, live)) > 0, span, 0)
    # the variance of complex numbers is real
    numbers = [x.astype(jnp.promote_types(x.dtype, dtype) if jnp.iscomplexobj(x) else dtype) for x in values]
    if live is not None:
        # what does not exist may hold anything, and powers and products of it have derivatives
        numbers = [jnp.where(live, x, jnp.asarray(0.5, x.dtype)) for x in numbers]
    weight = numbers.pop() if options.get("weighted") else None
    sample = Sample(segments, live, weight)
    ddof = options.get("ddof", 0)
    match name:
        case "mean":
            return sample.mean(numbers[0])
        case "var":
            return sample.variance(numbers[0], ddof)
        case "std":
            return _root(sample.variance(numbers[0], ddof))
        case "moment":
            return sample.mean(numbers[0] ** options["n"])
        case "covar":
            return sample.covariance(*numbers)
        case "corr":
            return sample.correlation(*numbers)
        case "linear_fit":
            return sample.line(*numbers)[options["part"]]
    raise AssertionError(name)
