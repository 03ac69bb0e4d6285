"""Which bin a value falls into, by NumPy's rules: half-open bins, the last one closed."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["Bins", "Uniform", "bin_numbers", "make_bins"]

Uniform: TypeAlias = tuple[float, float, int]


@dataclasses.dataclass(frozen=True, eq=False)
class Bins:
    """Bins in the dtype of the values.

    Attributes:
        lower: lowest value of each bin that a value can reach at all.
        highest: highest value that is in the last bin.
        count: number of bins.
        arithmetic: how to calculate the bin, of bins that are about as wide as each other.
    """

    lower: np.ndarray | jax.Array
    highest: np.ndarray | jax.Array
    count: int
    arithmetic: Arithmetic | None


class Arithmetic(NamedTuple):
    """The bin is `(x - low) * scale` without its fraction, and at most the last one.

    No compiler may fuse or reorder this difference and product, and they grow with x: what NumPy gets for the lowest
    value of each bin and for the value below says how far the program is off for any value.

    Attributes:
        low: in the dtype to calculate in.
        scale: in the same.
        exact: whether this is always the bin; otherwise it may also be the next higher one.
    """

    low: np.floating
    scale: np.floating
    exact: bool


def make_bins(edges: np.ndarray | jax.Array, dtype: np.dtype, uniform: Uniform | None) -> Bins:
    """Express edges in the dtype of the values such that every comparison has the same outcome.

    Static edges are rounded towards the inside of their bin on the host (``x >= edge`` is ``x >= ceil(edge)``
    for every x of the dtype): float32 values meet float64 edges exactly, without a float64 pass or x64.

    Example:
        >>> make_bins(np.array([0.5, 1.5]), np.dtype(np.int32), None).lower
        array([1], dtype=int32)
    """
    count = edges.shape[0] - 1
    if uniform is not None and uniform[2] != count:
        msg = f"uniform says {uniform[2]} bins, but there are {count + 1} edges"
        raise ValueError(msg)
    if not isinstance(edges, np.ndarray):
        common = jnp.promote_types(dtype, edges.dtype)
        cast = edges.astype(common)
        return Bins(cast[:-1], cast[-1], count, None)
    if jnp.issubdtype(dtype, jnp.integer):
        lower, highest = _integer_bins(edges, dtype)
        return Bins(lower, highest, count, None if lower.size < count else _arithmetic(lower, uniform))
    lower = _round(edges[:-1], dtype, up=True)
    return Bins(lower, _round(edges[-1:], dtype, up=False)[0], count, _arithmetic(lower, uniform))


def bin_numbers(values: jax.Array, bins: Bins) -> tuple[jax.Array, jax.Array]:
    """Bin of each value, and whether it is in any; the number of what is in none has no meaning.

    Example:
        >>> bins = make_bins(np.array([0.0, 1.0, 2.0]), np.dtype(np.float32), None)
        >>> number, inside = bin_numbers(jnp.array([0.5, 2.0, 3.0], dtype=np.float32), bins)
        >>> number[inside].tolist()
        [0, 1]
    """
    if bins.lower.shape[0] == 0:
        return jnp.zeros(values.shape, dtype=np.int32), jnp.zeros(values.shape, dtype=bool)
    x = values.astype(bins.lower.dtype)
    inside = (x >= bins.lower[0]) & (x <= bins.highest)
    last = bins.lower.shape[0] - 1
    if bins.arithmetic is not None and bins.arithmetic.exact:
        return jnp.minimum(_calculated(x, bins.arithmetic), last), inside
    lower = jnp.asarray(bins.lower)
    x = jnp.where(inside, x, lower[0])  # NaN has no bin number at all
    if bins.arithmetic is None:
        method = "compare_all" if last < 16 else "scan_unrolled"
        found = jnp.searchsorted(lower, x, side="right", method=method) - 1
        return found.astype(np.int32), inside
    guess = jnp.minimum(_calculated(x, bins.arithmetic), last)
    first = lower.at[guess].get(mode="promise_in_bounds", wrap_negative_indices=False)
    return guess - (x < first), inside


def _calculated(x: jax.Array, by: Arithmetic) -> jax.Array:
    return ((x.astype(by.low.dtype) - by.low) * by.scale).astype(np.int32)


# How many of the next lower origins and of the next larger scales are tried: the edges are rounded, and so is what is
# calculated.
_ORIGINS = (0, 1, 3)
_SCALES = (0, 1, 2, 4)


def _arithmetic(lower: np.ndarray, uniform: Uniform | None) -> Arithmetic | None:
    """Arithmetic that is exact, or else never too low, if there is any.

    Example:
        >>> _arithmetic(np.arange(0, 20, 2, dtype=np.float32), (0.0, 20.0, 10)).exact
        True
    """
    if uniform is None:
        return None
    low, high, count = uniform
    kind = lower.dtype if np.issubdtype(lower.dtype, np.floating) else np.dtype(jnp.result_type(float))
    if not high - low > count * float(np.finfo(kind).tiny):
        return None  # XLA takes smaller differences for zero
    number = np.arange(count)
    reached = lower > lower[0]  # from below, that is
    before, bound = _before(lower[reached]).astype(kind), number[reached]
    first = lower.astype(kind)
    found = None
    with np.errstate(all="ignore"):
        for down in _ORIGINS:
            origin = _steps(kind.type(low), down, -np.inf)
            for up in _SCALES:
                scale = _steps(kind.type(count / (high - low)), up, np.inf)
                most = (before - origin) * scale
                if not (((first - origin) * scale >= number).all() and (most < bound + 1).all()):
                    continue
                if bool((most < bound).all()):
                    return Arithmetic(origin, scale, exact=True)
                found = found or Arithmetic(origin, scale, exact=False)
    return found


def _steps(value: np.floating, steps: int, towards: float) -> np.floating:
    for _ in range(steps):
        value = np.nextafter(value, value.dtype.type(towards))
    return value


def _before(values: np.ndarray) -> np.ndarray:
    """The next lower value of each."""
    integral = np.issubdtype(values.dtype, np.integer)
    before: np.ndarray = values - values.dtype.type(1) if integral else np.nextafter(values, values.dtype.type(-np.inf))
    return before


def _round(edges: np.ndarray, dtype: np.dtype, *, up: bool) -> np.ndarray:
    with np.errstate(over="ignore"):
        near = edges.astype(dtype)
        away = near < edges if up else near > edges
        return np.where(away, np.nextafter(near, dtype.type(np.inf if up else -np.inf)), near)


def _integer_bins(edges: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    limits = np.iinfo(dtype)
    # Python integers: an edge may lie beyond every integer dtype
    lowest = [int(e) for e in np.ceil(edges[:-1].astype(np.float64))]
    highest = int(np.floor(np.float64(edges[-1])))
    reachable = [max(e, int(limits.min)) for e in lowest if e <= limits.max and highest >= limits.min]
    return np.array(reachable, dtype=dtype), np.array(min(highest, int(limits.max)) if reachable else 0, dtype=dtype)
