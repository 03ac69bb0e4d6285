"""`np.histogram`, `np.histogram2d`, `np.histogramdd` on traced arrays, with NumPy's rules for edges."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.aligning import line_up
from ..algorithms.elementwise import values_of
from ..algorithms.numbering import same
from ..algorithms.runtime import NOT_ALIGNED, RunTime, alive, at_run_time, either, strip
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.operations import to_jax
from ..highlevel.state import is_traced, node_of, wrap
from ..kernels import histogram as kernels
from ..nodes.kinds import Flat, Option
from ..nodes.moving import project
from ..nodes.walk import has_run_time_structure
from ..registry import implements


def flat_numbers(values: Any) -> tuple[Any, RunTime]:
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


def lined_up(weights: Any, *several: Any) -> tuple[Any, ...]:
    """Weights and what they weigh, in the same slots if they were selected differently.

    Where they do not belong together the weights are NaN, and so is what they are filled into.
    """
    if not isinstance(weights, ak.Array) or not all(isinstance(value, ak.Array) for value in several):
        return weights, *several
    arrays = [weights, *several]
    nodes = line_up([node_of(array) for array in arrays], levels=1, judged=1)
    return tuple(wrap(node, array.behavior, array.attrs) for node, array in zip(nodes, arrays, strict=True))


def counted(parts: list[RunTime]) -> Any:
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


def uniform_of(bins: Any, edges: Any) -> Any:
    """`(low, high, number)` of bins that are as wide as each other."""
    return (float(edges[0]), float(edges[-1]), int(bins)) if isinstance(bins, int | np.integer) else None


def _dtype(values: Any) -> Any:
    return np.uint8 if values.dtype == bool else np.dtype(values.dtype)


def _widths(edges: Any) -> Any:
    return jnp.diff(edges) if isinstance(edges, jax.Array) else np.diff(edges).astype(canonical(np.float64))


@implements(np.histogram, route="kernel", live=True)
def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    weights, a = lined_up(weights, a)
    values, found = flat_numbers(a)
    edges = bins = _bins(bins)
    if not isinstance(bins, jax.Array):
        _needs_range(bins, range)
        edges = np.histogram(np.empty(0, _dtype(values)), bins, range)[1]  # NumPy's own edges and errors
    numbers, own = (None, found) if weights is None else flat_numbers(weights)
    if numbers is not None and numbers.shape != values.shape:
        message = "weights should have the same shape as a."
        raise ValueError(message)
    counts = kernels.histogram(
        values, edges, uniform=uniform_of(bins, edges), weights=numbers, live=counted([found, own])
    )
    if density:
        counts = counts / _widths(edges) / jnp.sum(counts)
    return counts, edges


@implements(np.histogram2d, route="kernel", live=True)
def _histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    weights, x, y = lined_up(weights, x, y)
    if np.shape(flat_numbers(x)[0]) != np.shape(flat_numbers(y)[0]):
        message = "x and y must have the same length."
        raise ValueError(message)
    bins = _bins(bins)
    if not isinstance(bins, int | np.integer) and len(bins) not in (1, 2):
        bins = [bins, bins]  # edges of both
    counts, edges = _histogramdd([x, y], bins, range, density, weights)
    return counts, *edges


@implements(np.histogramdd, route="kernel", live=True)
def _histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    columns = _columns(sample)
    dimensions = len(columns)
    bins = _bins(bins)
    each = [bins] * dimensions if isinstance(bins, int | np.integer) else [*map(_bins, bins)]
    for one, limit in zip(each, [None] * dimensions if range is None else range, strict=False):
        _needs_range(one, limit)
    known: Any = [1 if isinstance(one, jax.Array) else one for one in each]
    edges: Any = np.histogramdd(np.empty((0, dimensions)), known, range)[1]  # NumPy's own edges and errors
    edges = [one if isinstance(one, jax.Array) else edge for one, edge in zip(each, edges, strict=True)]
    numbers, found = [values for values, _ in columns], [own for _, own in columns]
    double = canonical(np.float64)
    if weights is not None:
        weights, own = flat_numbers(weights)
        found.append(own)
    same_lengths(numbers if weights is None else [*numbers, weights])
    uniform = [*map(uniform_of, each, edges)]
    live = counted(found)
    counts = kernels.histogramdd(numbers, edges, uniform=uniform, weights=weights, live=live, dtype=double)
    return (density_of(counts, edges) if density else counts), edges


def same_lengths(columns: list[Any]) -> None:
    """Refuse columns of which one has more entries than another."""
    lengths = [column.shape[0] for column in columns]
    if len(set(lengths)) > 1:
        message = f"the values of every dimension, and the weights, must be as many: {lengths}"
        raise ValueError(message)


def density_of(counts: Any, edges: Any) -> Any:
    """Counts divided by their sum and by the volume of each bin."""
    density = counts / jnp.sum(counts)
    for axis, one in enumerate(edges):
        density = density / jnp.expand_dims(_widths(one), [*range(axis), *range(axis + 1, len(edges))])
    return density


def _columns(sample: Any) -> list[tuple[Any, RunTime]]:
    """The dimensions of a sample: a list of arrays, or one array with a column for each."""
    if isinstance(sample, list | tuple):
        return [*map(flat_numbers, sample)]
    # NumPy iterates over the rows before it asks us, so that of selected rows none arrive here
    values = to_jax(sample) if isinstance(sample, ak.Array) else jnp.asarray(sample)
    return [(column, RunTime()) for column in (values.T if values.ndim > 1 else values[None])]
