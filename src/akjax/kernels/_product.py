"""Segment products with a derivative that is exact where factors are zero."""

from __future__ import annotations

import functools
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from akjax.kernels._reduce import materialise, per_element, reduce_into
from akjax.kernels._segments import Segments
from akjax.kernels._sum import accurate_sum

__all__ = ["product"]

Parents: TypeAlias = np.ndarray | jax.Array
# Up to this length log2(length) shifts of the whole array beat a scan over it: for 3 M elements and lists of
# at most 13 compiling the gradient takes 0.8 s instead of 3.5, running it 69 ms instead of 83.
_SHORT = 256

Static: TypeAlias = Segments | tuple[int, bool]


def product(data: jax.Array, segments: Segments) -> jax.Array:
    """Segment product of data that is already in the dtype of the result.

    Example:
        >>> jax.grad(lambda x: product(x, Segments(np.array([0, 0]), 1))[0])(jnp.array([0.0, 3.0])).tolist()
        [3.0, 0.0]
    """
    # static parents stay NumPy inside the rule (host checks); traced ones must be an argument of it
    if segments.static:
        return _product(segments, None, data)
    return _product((segments.length, segments.sorted), segments.parents, data)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _product(static: Static, parents: Parents | None, data: jax.Array) -> jax.Array:
    return reduce_into("mul", data, _rebuild(static, parents), 1)


@_product.defjvp
def _product_jvp(
    static: Static,
    primals: tuple[Parents | None, jax.Array],
    tangents: tuple[object, jax.Array],
) -> tuple[jax.Array, jax.Array]:
    parents, data = primals
    segments = _rebuild(static, parents)
    others = _product_of_the_others(data, segments)
    return _product(static, parents, data), accurate_sum(others * tangents[1], segments)


def _rebuild(static: Static, parents: Parents | None) -> Segments:
    if isinstance(static, Segments):
        return static
    assert parents is not None
    return Segments(parents, *static)


def _product_of_the_others(data: jax.Array, segments: Segments) -> jax.Array:
    """For each element the product of the others in its segment: by multiplications, never by a quotient."""
    if data.size == 0:
        return data
    size = segments.regular_size
    if size is not None:
        dense = data.reshape(segments.length, size, *data.shape[1:])
        before, after = (lax.associative_scan(jnp.multiply, dense, axis=1, reverse=r) for r in (False, True))
        one = jnp.ones_like(dense[:, :1])
        before = jnp.concatenate([one, before[:, :-1]], axis=1)
        after = jnp.concatenate([after[:, 1:], one], axis=1)
        return (before * after).reshape(data.shape)
    if not segments.sorted:
        order = jnp.argsort(segments.index, stable=True)
        parents = jnp.asarray(segments.index)[order]
        result = _product_of_the_others(data[order], Segments(parents, segments.length))
        return jnp.zeros_like(data).at[order].set(result, unique_indices=True)
    parents = materialise(jnp.asarray(segments.index))
    before = _product_before(data, parents, segments.longest)
    after = _product_before(data[::-1], parents[::-1], segments.longest)[::-1]
    return before * after


def _product_before(data: jax.Array, parents: jax.Array, longest: int | None) -> jax.Array:
    """For each element the product of those before it in its segment."""
    one = jnp.ones((), data.dtype)

    def shifted(x: jax.Array, step: int) -> jax.Array:
        same = jnp.pad(parents[step:] == parents[:-step], (step, 0))
        moved = jnp.concatenate([jnp.ones_like(x[:step]), x[:-step]])
        # select the factor, not the product: a discarded inf would come back as a NaN gradient
        return jnp.where(per_element(same, x), moved, one)

    def combine(a: tuple[jax.Array, jax.Array], b: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        return a[0] | b[0], jnp.where(b[0], one, a[1]) * b[1]

    running = shifted(data, 1)
    if longest is None or longest > _SHORT:
        restart = jnp.pad(parents[1:] != parents[:-1], (1, 0), constant_values=True)
        flags = per_element(restart, data)
        result: jax.Array = lax.associative_scan(combine, (flags, running), axis=0)[1]
        return result
    step = 1
    while step < longest - 1:  # after a turn, running covers twice as many elements
        running = running * shifted(running, step)
        step *= 2
    return running
