"""The primitives under every segment kernel: reduce elements into segments, spread segments over elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from akjax.kernels._segments import Segments

__all__ = [
    "Kind",
    "as_array",
    "as_dtype",
    "computed_first",
    "iota",
    "materialise",
    "per_element",
    "reduce_into",
    "select",
    "spread",
]

Kind: TypeAlias = Literal["add", "mul", "min", "max"]

_SCATTER: dict[Kind, Callable[..., jax.Array]] = {
    "add": lax.scatter_add,
    "mul": lax.scatter_mul,
    "min": lax.scatter_min,
    "max": lax.scatter_max,
}
_DENSE: dict[Kind, Callable[..., jax.Array]] = {
    "add": jnp.sum,
    "mul": jnp.prod,
    "min": jnp.min,
    "max": jnp.max,
}


# Untyped in some JAX versions. Also keeps XLA from folding a computation on large constants (many seconds).
materialise: Callable[[jax.Array], jax.Array] = lax.optimization_barrier


def computed_first(data: jax.Array) -> jax.Array:
    """The same rows, computed before what uses them, and not again for each use.

    A barrier alone does not do that: XLA for the CPU (of jaxlib before 0.11) removes barriers before it decides what
    to compute together. What is scattered to it leaves in memory, and it does not see that these two rows go nowhere.

    Example:
        >>> computed_first(jnp.array([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    if data.shape[0] == 0 or not isinstance(data, jax.core.Tracer):
        return data
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, data.ndim)), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
    )
    outside = lax.full((2, 1), -1, np.int32)
    nothing = lax.full((2, *data.shape[1:]), 0, data.dtype)
    scatter = lax.scatter_max if data.dtype == np.bool_ else lax.scatter_add  # which is linear
    return scatter(data, outside, nothing, numbers, indices_are_sorted=True, mode=lax.GatherScatterMode.FILL_OR_DROP)


def as_array(data: ArrayLike) -> jax.Array:
    """``jnp.asarray``, but JAX arrays pass as they are: a copy of NaN is an error in debug-NaN mode."""
    return data if isinstance(data, jax.Array) else jnp.asarray(data)


def as_dtype(dtype: object) -> np.dtype:
    """The dtype as this JAX configuration has it, without the warning that ``astype`` would give.

    Example:
        >>> as_dtype(np.float32)
        dtype('float32')
    """
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def iota(n: int) -> jax.Array:
    """0, 1, ... n-1 in the smallest index dtype, made by the program: no constant to store."""
    return lax.iota(np.int32 if n <= np.iinfo(np.int32).max else as_dtype(np.int64), n)


def per_element(mask: jax.Array | np.ndarray, data: jax.Array) -> jax.Array | np.ndarray:
    """Give a mask over elements the rank of data of shape ``(n, *inner)``."""
    return mask.reshape(mask.shape + (1,) * (data.ndim - 1))


def select(live: jax.Array | np.ndarray | None, data: jax.Array, fill: complex) -> jax.Array:
    """Data with a constant in the places that are not live: their value and gradient stop here.

    Example:
        >>> select(jnp.array([True, False]), jnp.array([1.0, jnp.inf]), 0).tolist()
        [1.0, 0.0]
    """
    if live is None:
        return data
    return jnp.where(per_element(live, data), data, jnp.asarray(fill, dtype=data.dtype))


def reduce_into(kind: Kind, data: jax.Array, segments: Segments, identity: complex) -> jax.Array:
    """Combine the elements of each segment; an empty segment gives the identity.

    Example:
        >>> reduce_into("max", jnp.array([1, 3, 2]), Segments(np.array([0, 0, 2]), 3), -9).tolist()
        [3, -9, 2]
    """
    shape = (segments.length, *data.shape[1:])
    start = jnp.full(shape, identity, dtype=data.dtype)
    if math.prod(shape) == 0 or segments.size == 0:
        return start
    size = segments.regular_size
    if size is not None:
        if jnp.issubdtype(data.dtype, np.floating):
            # XLA's library of reductions takes what is gathered into itself, and is forty times slower then
            data = computed_first(data)
        dense = data.reshape(segments.length, size, *data.shape[1:])
        return _DENSE[kind](dense, axis=1).astype(data.dtype)
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, data.ndim)),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
    )
    # lax, not .at[]: that would first look for negative indices, element by element
    return _SCATTER[kind](
        start,
        segments.column,
        data,
        numbers,
        indices_are_sorted=segments.sorted,
        mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS,
    )


def spread(values: jax.Array, segments: Segments) -> jax.Array:
    """The value of its segment, for each element.

    Example:
        >>> spread(jnp.array([5, 6, 7]), Segments(np.array([0, 0, 2]), 3)).tolist()
        [5, 5, 7]
    """
    inner = values.shape[1:]
    shape = (segments.size, *inner)
    if math.prod(shape) == 0 or segments.length == 0:
        return jnp.zeros(shape, dtype=values.dtype)
    size = segments.regular_size
    if size is not None:
        return jnp.broadcast_to(values[:, None], (segments.length, size, *inner)).reshape(shape)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(1, values.ndim)), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    return lax.gather(
        values,
        segments.column,
        numbers,
        slice_sizes=(1, *inner),
        indices_are_sorted=segments.sorted,
        mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS,
    )
