"""`np.histogram` and `np.histogram2d` on traced arrays, with NumPy's rules for edges."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.runtime import alive, strip
from ..errors import StructureError
from ..highlevel.operations import to_jax
from ..highlevel.state import is_traced, node_of, wrap
from ..kernels import histogram as kernels
from ..nodes.kinds import Live
from ..registry import implements


def _flat(values: Any) -> tuple[Any, Any]:
    """The numbers of a flat array, and which of them exist."""
    if not isinstance(values, ak.Array):
        return jnp.ravel(jnp.asarray(values)), None
    if not is_traced(values):
        return jnp.ravel(jnp.asarray(ak.to_numpy(values))), None
    node = node_of(values)
    envelope, found = strip(node)
    if found.depth > 0 or found.null:
        if found.null or isinstance(node, Live):
            message = "np.histogram takes flat numbers: use ak.flatten(array, axis=None) first"
            raise StructureError(message)
        return jnp.ravel(to_jax(values)), None
    numbers = to_jax(wrap(envelope)) if not is_concrete(envelope) else envelope.data  # type: ignore[union-attr]
    dead = found.dead.get(0)
    return numbers, None if dead is None else alive(dead)


def is_concrete(node: Any) -> bool:
    """Whether a flat node holds numbers known while tracing."""
    return isinstance(getattr(node, "data", None), np.ndarray)


def _edges(values: Any, bins: Any, limits: Any) -> tuple[Any, Any]:
    """Bin edges, and `(low, high, number)` when they are uniform."""
    if isinstance(bins, str):
        message = f"np.histogram with bins={bins!r} derives the bins from the values, which are traced: give a number or edges"
        raise TypeError(message)
    if np.ndim(bins) == 0:
        number = int(bins)
        if limits is None:
            message = "np.histogram of traced values needs range=(low, high) or explicit edges: the bins cannot depend on the values"
            raise TypeError(message)
        kind = np.empty(0, np.dtype(values.dtype) if not isinstance(values, np.ndarray) else values.dtype)
        edges = np.histogram_bin_edges(kind, bins=number, range=limits)
        return edges, (float(edges[0]), float(edges[-1]), number)
    edges = bins if isinstance(bins, jax.Array) else np.asarray(ak.to_numpy(bins) if isinstance(bins, ak.Array) else bins)
    if np.ndim(edges) != 1:
        message = "`bins` must be 1d, when an array"
        raise ValueError(message)
    if isinstance(edges, np.ndarray) and np.any(edges[:-1] > edges[1:]):
        message = "`bins` must increase monotonically, when an array"
        raise ValueError(message)
    return edges, None


def _weights(weights: Any, live: Any) -> tuple[Any, Any]:
    if weights is None:
        return None, live
    values, own = _flat(weights)
    return values, own if live is None else live


@implements(np.histogram, route="kernel", live=True)
def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:  # noqa: A002
    values, live = _flat(a)
    edges, uniform = _edges(values, bins, range)
    numbers, live = _weights(weights, live)
    if numbers is not None and numbers.shape != values.shape:
        message = "weights should have the same shape as a."
        raise ValueError(message)
    counts = kernels.histogram(values, edges, uniform=uniform, weights=numbers, live=live)
    if density:
        widths = jnp.diff(jnp.asarray(edges))
        counts = counts / widths / jnp.sum(counts)
    return counts, edges


@implements(np.histogram2d, route="kernel", live=True)
def _histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:  # noqa: A002
    xs, live = _flat(x)
    ys, also = _flat(y)
    if live is not None and also is not None and live is not also:
        live = live & also
    live = live if live is not None else also
    if np.shape(xs) != np.shape(ys):
        message = "x and y must have the same length."
        raise ValueError(message)
    pair = _pair_of_bins(bins)
    x_range, y_range = (None, None) if range is None else range
    x_edges, x_uniform = _edges(xs, pair[0], x_range)
    y_edges, y_uniform = _edges(ys, pair[1], y_range)
    numbers, live = _weights(weights, live)
    counts = kernels.histogram2d(
        xs, ys, x_edges, y_edges, uniform_x=x_uniform, uniform_y=y_uniform, weights=numbers, live=live
    )
    if density:
        area = jnp.diff(jnp.asarray(x_edges))[:, None] * jnp.diff(jnp.asarray(y_edges))[None, :]
        counts = counts / area / jnp.sum(counts)
    return counts, x_edges, y_edges


def _pair_of_bins(bins: Any) -> Any:
    if np.ndim(bins) == 0 or isinstance(bins, jax.Array | np.ndarray):
        return bins, bins
    if len(bins) == 2:
        return bins
    return bins, bins
