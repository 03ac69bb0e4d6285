"""Which bin a value falls into, by NumPy's rules: half-open bins, the last one closed."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

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
        uniform: range and number of bins, when arithmetic finds the bin to within one.
    """

    lower: np.ndarray | jax.Array
    highest: np.ndarray | jax.Array
    count: int
    uniform: Uniform | None


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
        return Bins(cast[:-1], cast[-1], count, uniform)
    if jnp.issubdtype(dtype, jnp.integer):
        lower, highest = _integer_bins(edges, dtype)
        return Bins(lower, highest, count, None if lower.size < count else _trusted(edges, dtype, uniform))
    lower = _round(edges[:-1], dtype, up=True)
    return Bins(lower, _round(edges[-1:], dtype, up=False)[0], count, _trusted(edges, dtype, uniform))


def bin_numbers(values: jax.Array, bins: Bins) -> tuple[jax.Array, jax.Array]:
    """Bin of each value, and whether it is in any (its bin is then a valid number, but meaningless).

    Example:
        >>> bins = make_bins(np.array([0.0, 1.0, 2.0]), np.dtype(np.float32), None)
        >>> number, inside = bin_numbers(jnp.array([0.5, 2.0, 3.0], dtype=np.float32), bins)
        >>> number[inside].tolist()
        [0, 1]
    """
    lower = jnp.asarray(bins.lower)
    if lower.shape[0] == 0:
        return jnp.zeros(values.shape, dtype=np.int32), jnp.zeros(values.shape, dtype=bool)
    x = values.astype(lower.dtype)
    inside = (x >= lower[0]) & (x <= jnp.asarray(bins.highest))
    x = jnp.where(inside, x, lower[0])  # NaN has no bin number at all
    last = lower.shape[0] - 1
    if bins.uniform is None:
        method = "compare_all" if last < 16 else "scan_unrolled"
        found = jnp.searchsorted(lower, x, side="right", method=method) - 1
        return found.astype(np.int32), inside
    guess = jnp.clip(_position(x, bins.uniform).astype(np.int32), 0, last)
    # the arithmetic is right to within one bin; the edges decide, as in np.histogram
    guess = guess - (x < _pick(lower, guess))
    above = jnp.minimum(guess + 1, last)
    return guess + ((above > guess) & (x >= _pick(lower, above))), inside


def _pick(table: jax.Array, index: jax.Array) -> jax.Array:
    return table.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


def _position(x: jax.Array, uniform: Uniform) -> jax.Array:
    low, high, count = uniform
    kind = x.dtype if jnp.issubdtype(x.dtype, jnp.floating) else jnp.result_type(float)
    start = jnp.asarray(low, dtype=kind)
    return (x.astype(kind) - start) / jnp.asarray(high - low, dtype=kind) * count


def _trusted(edges: np.ndarray, dtype: np.dtype, uniform: Uniform | None) -> Uniform | None:
    """The range, unless the arithmetic, rounding included, sees some edge half a bin from where it is.

    The arithmetic is monotone, so what holds at the edges holds between them: it is off by one bin at most.
    """
    if uniform is None:
        return None
    low, high, count = uniform
    kind = dtype if np.issubdtype(dtype, np.floating) else np.dtype(jnp.result_type(float))
    with np.errstate(all="ignore"):
        seen = (edges.astype(kind) - kind.type(low)) / kind.type(high - low) * kind.type(count)
        off = np.abs(seen.astype(np.float64) - np.arange(count + 1))
    return uniform if bool((off < 0.5).all()) else None


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
