"""Rows that exist only at run time, put into lists of given lengths."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.running import running_count
from ..nodes.boundaries import Bounds, boundaries
from ..nodes.kinds import Flat, Jagged, List, Live, Node, Regular
from ..nodes.moving import crop, offsets_of, project
from ..nodes.static import static
from .gathering import spoiled
from .ranks import Ranks, packed, split_live
from .runtime import alive, dead_of
from .runtime_errors import check

_UNEQUAL = "structure imposed by 'counts' does not fit in the array: they add up to another number of elements"


def by_counts(node: Node, counts: Any) -> Node:
    """Lists of lengths that are known while tracing; one number stands for all lists."""
    total, content = _in_front(node)
    if np.ndim(counts) == 0:
        size = int(counts)
        if size < 1:
            message = "a regular size after a selection by traced values must be at least 1"
            raise StructureError(message)
        rows = content.length // size
        check(total % size == 0, ValueError, _UNEQUAL)
        exists = np.arange(rows, dtype=np.int32) < total // size
        return Live(dead_of(exists), Regular(crop(content, 0, rows * size), size, rows))
    asked = int(np.sum(counts))
    if asked > content.length or (np.asarray(counts) < 0).any():
        raise ValueError(_UNEQUAL)
    fits = total == asked
    check(fits, ValueError, _UNEQUAL)
    return List(offsets_of(counts), spoiled(crop(content, 0, asked), jnp.broadcast_to(fits, (asked,))))


def by_traced_counts(node: Node, counts: Node) -> Node:
    """Lists of lengths that are known at run time only: at most as many elements as there are rows."""
    dead, asked = split_live(counts)
    asked = project(asked)
    if not isinstance(asked, Flat) or np.ndim(asked.data) != 1:
        message = "counts must be a flat array of integers, none of them missing"
        raise StructureError(message)
    total, content = _in_front(node)
    lengths = jnp.asarray(asked.data).astype(np.int32)
    lengths = lengths if dead is None else jnp.where(alive(dead), lengths, 0)
    check((lengths.sum() == total) & (lengths >= 0).all(), ValueError, _UNEQUAL)
    slots = content.length
    lengths = jnp.maximum(lengths, 0)
    ends = jnp.minimum(running_count(lengths), slots)
    rows = lengths.shape[0]
    offsets = jnp.concatenate([jnp.zeros(1, np.int32), ends, jnp.full(1, slots, np.int32)]).astype(np.int32)
    begun = jnp.zeros(slots + 1, np.int32).at[ends].add(1)
    parents = running_count(begun[:slots])
    bounds = Bounds(rows + 1, slots, slots, slots**2, math.comb(slots, 2), math.comb(slots, 3))
    unused = np.ones(1, np.float32)
    gone = jnp.concatenate([jnp.zeros(rows, np.float32) if dead is None else dead, unused])
    # lists that do not fit have no values
    fits = jnp.broadcast_to(lengths.sum() == total, (slots,))
    return Live(gone, Jagged(boundaries(offsets, parents, bounds), spoiled(content, fits)))


def _in_front(node: Node) -> tuple[Any, Node]:
    """How many rows exist, and the rows, these first."""
    rows = List(static(np.array([0, node.length])), node)
    dead, _ = split_live(node)
    return Ranks(rows, dead).counts[0], split_live(packed(rows).content)[1]
