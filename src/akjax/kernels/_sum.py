"""Sums whose error does not grow with the length of the segment (float32 alone would stop at 2^24)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from akjax.kernels._reduce import computed_first, iota, materialise, per_element, reduce_into
from akjax.kernels._segments import Segments

__all__ = ["accurate_sum"]

# Elements added one after the other before a partial sum starts: rounding errors grow with this number.
_CHUNK = 256
# Unsorted parents need one row of partial sums per block, so blocks are longer and only few segments qualify.
_BLOCK = 4096
_FEW = 1024


def accurate_sum(data: jax.Array, segments: Segments) -> jax.Array:
    """Segment sum of data that is already in the dtype of the result.

    Example:
        >>> accurate_sum(jnp.array([1.0, 2.0, 3.0]), Segments(np.array([0, 0, 2]), 3)).tolist()
        [3.0, 0.0, 3.0]
    """
    if data.dtype.itemsize <= 2 and jnp.issubdtype(data.dtype, jnp.floating):
        return accurate_sum(data.astype(np.float32), segments).astype(data.dtype)
    if not _needs_partial_sums(data, segments):
        return reduce_into("add", data, segments, 0)
    return _sum_by_chunks(data, segments) if segments.sorted else _sum_by_blocks(data, segments)


def _needs_partial_sums(data: jax.Array, segments: Segments) -> bool:
    single = data.dtype in (np.dtype(np.float32), np.dtype(np.complex64))
    if not single or segments.length == 0 or segments.regular_size is not None:
        return False  # XLA's dense reductions are trees already
    if not segments.sorted and segments.length > _FEW:
        return False
    most = segments.size
    if most > 2 * _CHUNK and segments.longest is not None:
        most = segments.longest
    return most > (2 * _CHUNK if segments.sorted else _BLOCK)


def _sum_by_chunks(data: jax.Array, segments: Segments) -> jax.Array:
    """Sum chunks that lie inside one segment densely, and add the chunk sums; scatter only what is left.

    What is left of a segment is less than a chunk at either end, so no sequential sum is long.
    """
    n_chunks = segments.size // _CHUNK
    whole = n_chunks * _CHUNK
    first = segments.index[:whole:_CHUNK]
    inside = first == segments.index[_CHUNK - 1 : whole : _CHUNK]
    zero = jnp.zeros((), data.dtype)

    def plain() -> jax.Array:
        return reduce_into("add", data, segments, 0)

    def chunked() -> jax.Array:
        known = computed_first(data)  # see `reduce_into`
        chunks = known[:whole].reshape(n_chunks, _CHUNK, *data.shape[1:])
        left = jnp.where(per_element(inside, chunks), zero, chunks).reshape(whole, *data.shape[1:])
        # fused into the scatter, which runs element by element, this would be several times slower
        left = materialise(jnp.concatenate([left, known[whole:]]))
        sums = jnp.sum(chunks, axis=1)
        sums = jnp.where(per_element(inside, sums), sums, zero)
        chunk_segments = Segments(first, segments.length)
        # XLA would scatter into the other sum, instead of into zeros: ones added to 2^24 get lost
        ends = materialise(reduce_into("add", left, segments, 0))
        return ends + accurate_sum(sums, chunk_segments)

    if isinstance(inside, np.ndarray):
        return chunked() if bool(inside.any()) else plain()
    # traced parents rarely have lists that long, and the check is cheap
    result: jax.Array = lax.cond(inside.any(), chunked, plain)
    return result


def _sum_by_blocks(data: jax.Array, segments: Segments) -> jax.Array:
    """One row of sums per block of elements, then the sum of the rows."""
    n_blocks = -(-segments.size // _BLOCK)
    length = segments.length
    parents = segments.index
    block = np.arange(segments.size, dtype=np.int32) if segments.static else iota(segments.size)
    rows = Segments((block // _BLOCK) * length + parents, n_blocks * length, sorted=False)
    partial = reduce_into("add", data, rows, 0)
    return jnp.sum(partial.reshape(n_blocks, length, *data.shape[1:]), axis=0)
