"""Smallest and largest element of each segment, and where it is.

NaN follows eager Awkward: a real minimum or maximum passes NaN over (a segment of nothing but NaN gives the
identity); a complex one, like ``argmin`` and ``argmax``, keeps a NaN where it comes first. Complex numbers
compare by real part, then by imaginary part. Ties share the gradient equally, as in ``jnp.max``.
"""

from __future__ import annotations

import functools
from typing import Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from akjax.kernels._reduce import as_array, as_dtype, computed_first, iota, per_element, reduce_into, select, spread
from akjax.kernels._segments import Segments
from akjax.kernels._sum import accurate_sum
from akjax.kernels.gather import take
from akjax.kernels.segment import Live, segment_all, segment_any

__all__ = ["segment_argmax", "segment_argmin", "segment_max", "segment_min"]

Sense = Literal["min", "max"]


def segment_min(data: ArrayLike, segments: Segments, live: Live = None) -> jax.Array:
    """Smallest element of each segment; +inf, the largest integer or ``True`` for an empty one.

    Example:
        >>> segment_min(jnp.array([2.0, 1.0, 3.0]), Segments(np.array([0, 0, 2]), 3)).tolist()
        [1.0, inf, 3.0]
    """
    return _extremum("min", data, segments, live)


def segment_max(data: ArrayLike, segments: Segments, live: Live = None) -> jax.Array:
    """Largest element of each segment; -inf, the smallest integer or ``False`` for an empty one.

    Example:
        >>> segment_max(jnp.array([2.0, 1.0, 3.0]), Segments(np.array([0, 0, 2]), 3)).tolist()
        [2.0, -inf, 3.0]
        >>> one = Segments(np.array([0, 0, 0]), 1)
        >>> jax.grad(lambda x: segment_max(x, one)[0])(jnp.array([2.0, 2.0, 1.0])).tolist()
        [0.5, 0.5, 0.0]
    """
    return _extremum("max", data, segments, live)


def segment_argmin(data: ArrayLike, segments: Segments, positions: ArrayLike, live: Live = None) -> jax.Array:
    """Position of the first smallest live element of each segment; -1 where there is none.

    Example:
        >>> x, rank = jnp.array([2.0, 1.0, 3.0]), jnp.array([0, 1, 0])
        >>> segment_argmin(x, Segments(np.array([0, 0, 2]), 3), rank).tolist()
        [1, -1, 0]
    """
    return _argument("min", data, segments, positions, live)


def segment_argmax(data: ArrayLike, segments: Segments, positions: ArrayLike, live: Live = None) -> jax.Array:
    """Position of the first largest live element of each segment; -1 where there is none.

    Example:
        >>> x, rank = jnp.array([2.0, 1.0, 3.0]), jnp.array([0, 1, 0])
        >>> segment_argmax(x, Segments(np.array([0, 0, 2]), 3), rank).tolist()
        [0, -1, 0]
    """
    return _argument("max", data, segments, positions, live)


def _extremum(sense: Sense, data: ArrayLike, segments: Segments, live: Live) -> jax.Array:
    x = as_array(data)
    if x.dtype == np.bool_:
        return segment_any(x, segments, live) if sense == "max" else segment_all(x, segments, live)
    alive = None if live is None else as_array(live)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return _best(sense, x, segments, alive)
    # static parents stay NumPy inside the rule (host checks); traced ones must be an argument of it
    if segments.static:
        return _differentiable(sense, segments, None, alive, x)
    known = (segments.length, segments.sorted, segments.bound)
    return _differentiable(sense, known, segments.parents, alive, x)


Static: TypeAlias = Segments | tuple[int, bool, int | None]
Parents: TypeAlias = np.ndarray | jax.Array | None


# JAX has no derivative for scatter_max; this rule is made of differentiable pieces, for every order and mode.
@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _differentiable(sense: Sense, static: Static, parents: Parents, live: jax.Array | None, x: jax.Array) -> jax.Array:
    segments = _rebuild(static, parents)
    if not jnp.iscomplexobj(x):
        return _best(sense, x, segments, live)
    first = _first(sense, x, segments, live)
    return _at(x, first, jnp.asarray(_identity(sense, x.dtype), dtype=x.dtype))


@_differentiable.defjvp
def _differentiable_jvp(
    sense: Sense,
    static: Static,
    primals: tuple[Parents, jax.Array | None, jax.Array],
    tangents: tuple[object, object, jax.Array],
) -> tuple[jax.Array, jax.Array]:
    parents, live, x = primals
    segments = _rebuild(static, parents)
    best = _differentiable(sense, static, parents, live, x)
    tied = x == spread(best, segments)
    if jnp.iscomplexobj(x):  # a NaN equals nothing, yet it is the result where it comes first
        elements = per_element(iota(segments.size), x)
        chosen = elements == spread(_first(sense, x, segments, live), segments)
        tied = jnp.where(jnp.isnan(spread(best, segments)), chosen, tied)
    tied = select(live, tied, False)
    shares = jnp.maximum(reduce_into("add", tied.astype(np.int32), segments, 0), 1)
    tangent = jnp.where(tied, tangents[2], jnp.zeros((), x.dtype))
    return best, accurate_sum(tangent, segments) / shares.astype(x.dtype)


def _rebuild(static: Static, parents: Parents) -> Segments:
    if isinstance(static, Segments):
        return static
    assert parents is not None
    return Segments(parents, *static)


def _argument(sense: Sense, data: ArrayLike, segments: Segments, positions: ArrayLike, live: Live) -> jax.Array:
    alive = None if live is None else as_array(live)
    x = lax.stop_gradient(as_array(data))
    if x.dtype == np.bool_:
        x = x.astype(np.int8)
    first = _first(sense, x, segments, alive)
    rank = as_array(positions).astype(as_dtype(np.int64))
    return _at(jnp.broadcast_to(per_element(rank, x), x.shape), first, jnp.asarray(-1, dtype=rank.dtype))


def _identity(sense: Sense, dtype: np.dtype) -> float | int:
    if jnp.issubdtype(dtype, jnp.inexact):
        return np.inf if sense == "min" else -np.inf
    limits = np.iinfo(dtype)
    return int(limits.max if sense == "min" else limits.min)


def _best(sense: Sense, x: jax.Array, segments: Segments, live: jax.Array | None) -> jax.Array:
    """Extremum of real data, NaN passed over."""
    identity = _identity(sense, x.dtype)
    candidates = select(live, x, identity)
    if jnp.issubdtype(x.dtype, jnp.floating):
        candidates = jnp.where(jnp.isnan(candidates), jnp.asarray(identity, dtype=x.dtype), candidates)
    return reduce_into(sense, candidates, segments, identity)


def _first(sense: Sense, x: jax.Array, segments: Segments, live: jax.Array | None) -> jax.Array:
    """Element number of the first extremal live element of each segment, ``n`` where there is none."""
    if jnp.iscomplexobj(x):
        return _first_complex(sense, x, segments, live)
    key = _keys(sense, x)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        there = None if live is None else jnp.broadcast_to(per_element(live, key), key.shape)
        return _first_least(computed_first(key), segments, there)
    last = np.iinfo(key.dtype).max
    key = computed_first(select(live, key, last))
    # NaN compares false: where it comes first it is never replaced, elsewhere it never replaces
    if live is None and (segments.static or segments.starts is not None):
        earliest = _first_elements(segments, key)
        stuck = _at(key, earliest, jnp.asarray(last, key.dtype)) == last - 1
        return jnp.where(stuck, earliest, _first_key(key, segments))

    def careful() -> jax.Array:
        foremost = per_element(iota(segments.size), key) == spread(_lowest(key < last, segments), segments)
        placed = jnp.where(foremost, np.iinfo(key.dtype).min, last)
        known = jnp.where(key == last - 1, placed.astype(key.dtype), key)
        return _first_key(known, segments)

    found: jax.Array = lax.cond((key == last - 1).any(), careful, lambda: _first_key(key, segments))
    return found


def _first_elements(segments: Segments, x: jax.Array) -> jax.Array:
    """Number of the first element of each segment, of those of elements like `x`; ``n`` where there is none."""
    starts = segments.starts
    if starts is None:
        first: np.ndarray | jax.Array = _first_known(segments)
    else:
        first = jnp.where(jnp.diff(starts, append=segments.size) > 0, starts, segments.size)
    return jnp.broadcast_to(per_element(first, x), (segments.length, *x.shape[1:]))


def _first_known(segments: Segments) -> np.ndarray:
    """The same on the host: XLA would fold this scatter of constants, for many seconds."""
    parents = segments.parents
    assert isinstance(parents, np.ndarray)
    first = np.full(segments.length, segments.size, dtype=iota(segments.size).dtype)
    if segments.sorted:
        begins = np.flatnonzero(parents[1:] != parents[:-1]) + 1
        begins = np.concatenate([np.zeros(min(1, segments.size), begins.dtype), begins])
        first[parents[begins]] = begins
    else:
        first[parents[::-1]] = np.arange(segments.size, dtype=first.dtype)[::-1]
    return first


def _keys(sense: Sense, x: jax.Array) -> jax.Array:
    """Integers in the order of real numbers, the one asked for first; NaN is the last but one that there is.

    A scatter is serial, and three times faster with integers: their minimum takes a cycle, and no care of NaN.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x if sense == "min" else ~x
    kind = np.dtype(f"int{8 * x.dtype.itemsize}")
    bits = lax.bitcast_convert_type(jnp.where(x == 0, jnp.zeros((), x.dtype), x), kind)  # -0.0 is 0.0
    most = np.iinfo(kind).max
    key = jnp.where(bits < 0, bits ^ most, bits)
    return jnp.where(jnp.isnan(x), jnp.asarray(most - 1, kind), key if sense == "min" else ~key)


def _first_key(key: jax.Array, segments: Segments) -> jax.Array:
    """Element number of the first smallest key of each segment that is not the last one there is, ``n`` without one."""
    starts = segments.begins
    if key.ndim > 1 or starts is None or segments.size < _LONG * max(segments.length, 1):
        return _first_least(key, segments, key < np.iinfo(key.dtype).max)
    return _first_key_by_blocks(key, segments, as_array(starts))


# from that many elements a segment on, on average, a scatter of blocks is faster than one of elements
_LONG = 16
_BLOCK = 8  # a power of two


def _first_key_by_blocks(key: jax.Array, segments: Segments, starts: jax.Array) -> jax.Array:
    """The same of long segments that are contiguous: of blocks in them, and of what is left of them at either end."""
    size, most = segments.size, jnp.asarray(np.iinfo(key.dtype).max, key.dtype)
    count = size // _BLOCK
    blocks, parents = key[: count * _BLOCK].reshape(count, _BLOCK), segments.index[: count * _BLOCK]
    low, nth = blocks[:, 0], jnp.zeros(count, np.int32)
    for k in range(1, _BLOCK):
        low, nth = jnp.minimum(blocks[:, k], low), jnp.where(blocks[:, k] < low, k, nth)
    first, inside = parents[::_BLOCK], parents[::_BLOCK] == parents[_BLOCK - 1 :: _BLOCK]
    if not isinstance(first, np.ndarray):  # then the numbers of all elements need not be in memory any more
        first, inside = computed_first(first), computed_first(inside)
    within = Segments(first, segments.length)
    low, nth = computed_first(jnp.where(inside, low, most)), computed_first(nth)
    block = _first_least(low, within, low < most)
    found = jnp.where(block < count, block * _BLOCK + _at(nth, block, jnp.int32(0)), size)
    least = _at(low, block, most)
    ends = jnp.append(starts[1:], jnp.int32(size))
    head = jnp.minimum((starts + _BLOCK - 1) & -_BLOCK, ends)
    for begin, stop in ((starts, head), (jnp.maximum(ends & -_BLOCK, head), ends)):
        for k in range(_BLOCK - 1):
            there = jnp.minimum(begin + k, size - 1)
            here = jnp.where(begin + k < stop, take(key, there), most)
            better = (here < least) | ((here == least) & (there < found) & (here < most))
            least, found = jnp.where(better, here, least), jnp.where(better, there, found)
    return computed_first(found)


def _first_least(key: jax.Array, segments: Segments, live: jax.Array | None) -> jax.Array:
    """Element number of the first smallest of those integers that are live, ``n`` where there is none."""
    most = np.iinfo(key.dtype).max
    least = reduce_into("min", key if live is None else jnp.where(live, key, most), segments, most)
    wins = key == spread(least, segments)
    return _lowest(wins if live is None else wins & live, segments)


def _first_complex(sense: Sense, x: jax.Array, segments: Segments, live: jax.Array | None) -> jax.Array:
    wins = jnp.ones(x.shape, dtype=bool) if live is None else jnp.broadcast_to(per_element(live, x), x.shape)
    n = segments.size
    found = jnp.full((segments.length, *x.shape[1:]), n, dtype=iota(n).dtype)
    for part in (jnp.real(x), jnp.imag(x)):
        earliest = _lowest(wins, segments)
        stuck = jnp.isnan(_at(part, earliest, jnp.zeros((), part.dtype)))
        found = jnp.where(stuck & (found == n), earliest, found)
        wins = wins & (part == spread(_best_among(sense, part, segments, wins), segments))
    return jnp.where(found == n, _lowest(wins, segments), found)


def _best_among(sense: Sense, x: jax.Array, segments: Segments, wins: jax.Array) -> jax.Array:
    return _best(sense, jnp.where(wins, x, jnp.asarray(_identity(sense, x.dtype), dtype=x.dtype)), segments, None)


def _lowest(mask: jax.Array, segments: Segments) -> jax.Array:
    elements = per_element(iota(segments.size), mask)
    return reduce_into("min", jnp.where(mask, elements, segments.size), segments, segments.size)


def _at(x: jax.Array, index: jax.Array, missing: jax.Array) -> jax.Array:
    """Elements of x at an index along its first axis; ``missing`` where the index is ``len(x)``."""
    if x.shape[0] == 0:
        return jnp.full(index.shape, missing)
    found = jnp.take_along_axis(x, jnp.minimum(index, x.shape[0] - 1), axis=0, mode="promise_in_bounds")
    return jnp.where(index < x.shape[0], found, missing)
