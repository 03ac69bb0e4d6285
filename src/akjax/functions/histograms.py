"""`np.histogram` and `np.histogram2d` on traced arrays, with NumPy's rules for edges."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.elementwise import values_of
from ..algorithms.numbering import same
from ..algorithms.runtime import NOT_ALIGNED, RunTime, alive, at_run_time, either, strip
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.operations import to_jax
from ..highlevel.state import is_traced, node_of
from ..kernels import histogram as kernels
from ..nodes.kinds import Flat, Option
from ..nodes.moving import project
from ..nodes.walk import has_run_time_structure
from ..registry import implements


def _flat(values: Any) -> tuple[Any, RunTime]:
    """The numbers of a flat array, and which of them may not exist or be missing."""
    if not isinstance(values, ak.Array):
        return jnp.ravel(jnp.asarray(values)), RunTime()
    node = node_of(values)
    if not isinstance(project(node), Option) and not has_run_time_structure(node):
        return jnp.ravel(to_jax(values)), RunTime()
    envelope, found = strip(at_run_time(node))
    if found.depth > 0 or not isinstance(envelope, Flat):
        message = "np.histogram takes flat numbers: use ak.flatten(array, axis=None) first"
        raise StructureError(message)
    return jnp.asarray(values_of(envelope)), found


def _live(parts: list[RunTime]) -> Any:
    """Which entries count, of arrays that belong together by position."""
    dead, null = parts[0].dead.get(0), None
    for part in parts:
        if not same(part.dead.get(0), dead):
            raise StructureError(NOT_ALIGNED)
        null = either(null, part.null.get(0))
    out = either(dead, null)
    return None if out is None else alive(out)


def _bins(bins: Any) -> Any:
    """Bins as NumPy takes them, or traced edges."""
    if isinstance(bins, str):
        message = (
            f"np.histogram with bins={bins!r} derives the bins from the values, which are traced: "
            "give a number or edges"
        )
        raise TypeError(message)
    if isinstance(bins, ak.Array):
        return to_jax(bins) if is_traced(bins) else ak.to_numpy(bins)
    return bins


def _needs_range(bins: Any, limits: Any) -> None:
    if isinstance(bins, int | np.integer) and limits is None:
        message = (
            "np.histogram of traced values needs range=(low, high) or explicit edges: "
            "the bins cannot depend on the values"
        )
        raise TypeError(message)


def _uniform(bins: Any, edges: Any) -> Any:
    """`(low, high, number)` of bins that are as wide as each other."""
    return (float(edges[0]), float(edges[-1]), int(bins)) if isinstance(bins, int | np.integer) else None


def _dtype(values: Any) -> Any:
    return np.uint8 if values.dtype == bool else np.dtype(values.dtype)


def _widths(edges: Any) -> Any:
    return jnp.diff(edges) if isinstance(edges, jax.Array) else np.diff(edges).astype(canonical(np.float64))


@implements(np.histogram, route="kernel", live=True)
def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    values, found = _flat(a)
    edges = bins = _bins(bins)
    if not isinstance(bins, jax.Array):
        _needs_range(bins, range)
        edges = np.histogram(np.empty(0, _dtype(values)), bins, range)[1]  # NumPy's own edges and errors
    numbers, own = (None, found) if weights is None else _flat(weights)
    if numbers is not None and numbers.shape != values.shape:
        message = "weights should have the same shape as a."
        raise ValueError(message)
    counts = kernels.histogram(values, edges, uniform=_uniform(bins, edges), weights=numbers, live=_live([found, own]))
    if density:
        counts = counts / _widths(edges) / jnp.sum(counts)
    return counts, edges


@implements(np.histogram2d, route="kernel", live=True)
def _histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    (xs, of_x), (ys, of_y) = _flat(x), _flat(y)
    if np.shape(xs) != np.shape(ys):
        message = "x and y must have the same length."
        raise ValueError(message)
    pair = _pair_of_bins(bins)
    limits = (None, None) if range is None else range
    for one, limit in zip(pair, limits, strict=False):
        _needs_range(one, limit)
    known = [1 if isinstance(one, jax.Array) else one for one in pair]
    nothing = np.empty(0)
    edges = [*np.histogram2d(nothing, nothing, known, range)[1:]]  # NumPy's own edges and errors
    edges = [one if isinstance(one, jax.Array) else edge for one, edge in zip(pair, edges, strict=True)]
    numbers, of_weights = (None, of_x) if weights is None else _flat(weights)
    live = _live([of_x, of_y, of_weights])
    uniform = {f"uniform_{name}": _uniform(one, edge) for name, one, edge in zip("xy", pair, edges, strict=True)}
    counts = kernels.histogram2d(xs, ys, *edges, **uniform, weights=numbers, live=live)
    if density:
        counts = counts / _widths(edges[0])[:, None] / _widths(edges[1])[None, :] / jnp.sum(counts)
    return counts, *edges


def _pair_of_bins(bins: Any) -> tuple[Any, Any]:
    """The bins of either axis, by NumPy's rule: two things are one for each axis."""
    bins = _bins(bins)
    if not isinstance(bins, int | np.integer) and len(bins) == 1:
        message = "The dimension of bins must be equal to the dimension of the sample x."
        raise ValueError(message)
    if not isinstance(bins, int | np.integer) and len(bins) == 2:
        return _bins(bins[0]), _bins(bins[1])
    return bins, bins
