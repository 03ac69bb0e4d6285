"""Reducers over any axis: Awkward gives the structure of the result, kernels fill it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels import extrema, segment
from ..kernels.gather import take
from ..kernels.segment import Segments
from ..nodes.kinds import Flat, List, Live, Node, Option, replace
from ..nodes.walk import has_run_time_structure, map_flat, map_nodes
from ..structure.from_layout import from_layout
from . import statistics
from .elementwise import values_of
from .positions import Positions, match, positions
from .runtime import RunTime, alive, attach, strip
from .ufuncs import canonical

ARGUMENTS = ("argmin", "argmax")


def reduce(
    name: str,
    nodes: list[Node],
    axis: int | None,
    keepdims: bool,
    mask_identity: bool,
    outcome: Any,
    options: dict[str, Any] | None = None,
) -> Any:
    """Reduce the numbers of an array along an axis.

    Args:
        name: the reducer, as in `ak.<name>`.
        nodes: the array, without records and unions; statistics of two arrays (and weights) give more,
            of equal structure.
        axis: the axis, or None for everything.
        keepdims: whether the reduced axis stays, with length one.
        mask_identity: whether nothing reduces to a missing value.
        outcome: what Awkward's own reducer returns for an array of the right type and structure, in all
            but the values: a layout or a scalar.
        options: further arguments of statistics.

    Returns:
        A node, or a JAX scalar for `axis=None`; None where Awkward gives None.
    """
    node = nodes[0]
    several = [positions(n) for n in nodes]
    inside = several[0]
    if axis is None and not keepdims:
        return _total(name, several, outcome, options)
    outcome = from_layout(outcome)
    outside = positions(outcome)
    if outside.flat is None or inside.flat is None:
        return outcome
    axis = None if axis is None else (axis if axis >= 0 else axis + len(inside.of))
    segments = Segments(*_parents(inside, outside, axis, keepdims))
    dead = inside.dead()
    dtype = canonical(outside.flat.data.dtype)
    values = jnp.asarray(compute(name, several, segments, dead, axis, options, dtype), dtype)
    if not has_run_time_structure(node):
        return _fill(outcome, outside, values)
    return _fill_run_time(name, node, outcome, outside, values, segments, dead, axis, keepdims, mask_identity)


def _parents(inside: Positions, outside: Positions, axis: int | None, keepdims: bool) -> Any:
    if axis is None:
        return np.zeros(len(inside.rows), np.int32), len(outside.rows), True
    where = list(inside.of)
    if keepdims:
        where[axis] = np.zeros(len(inside.rows), dtype=np.int64)
    else:
        del where[axis]
    parents = match(where, outside.of)
    ordered = len(parents) < 2 or bool((parents[1:] >= parents[:-1]).all())
    return parents, len(outside.rows), ordered


def compute(
    name: str,
    several: list[Positions],
    segments: Segments,
    dead: Any,
    axis: int | None,
    options: dict[str, Any] | None,
    dtype: Any,
) -> Any:
    """One reducer on raw numbers."""
    live = None if dead is None else alive(dead)
    inside = several[0]
    if name == "count":
        return segment.segment_count(segments, live, np.int64)
    for one in several:
        assert one.flat is not None
        values_of(one.flat)
    if options is not None:
        numbers = [one.data().astype(dtype) for one in several]
        weight = numbers.pop() if options.get("weighted") else None
        return statistics.compute(name, numbers, segments, live, {**options, "weight": weight})
    data = inside.data()
    if name in ARGUMENTS:
        at = np.arange(len(inside.rows)) if axis is None else inside.of[axis]
        exists = inside.dead(existence_only=True)
        ranks = at if exists is None else _ranks(segments, alive(exists), axis, inside)
        return getattr(extrema, f"segment_{name}")(data, segments, ranks, live)
    module = extrema if name in ("min", "max") else segment
    return getattr(module, f"segment_{name}")(data, segments, live)


def _ranks(segments: Segments, live: Any, axis: int | None, inside: Positions) -> Any:
    """The position of each element among those that exist, which is what an argument reducer answers."""
    if not segments.sorted or (axis is not None and axis != len(inside.of) - 1):
        message = "argmin and argmax over an outer axis after a selection by traced values are not supported yet"
        raise StructureError(message)
    before = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(live, dtype=jnp.int32)])
    first = np.searchsorted(np.asarray(segments.parents), np.arange(segments.length))
    return before[:-1] - before[first][np.asarray(segments.parents)]


def _total(name: str, several: list[Positions], outcome: Any, options: Any) -> Any:
    inside = several[0]
    if outcome is None or inside.flat is None:
        return outcome
    segments = Segments(np.zeros(len(inside.rows), np.int32), 1)
    dead = inside.dead()
    dtype = canonical(np.asarray(outcome).dtype)
    value = jnp.asarray(compute(name, several, segments, dead, None, options, dtype)[0], dtype)
    if dead is not None and name in ("min", "max") and jnp.issubdtype(value.dtype, jnp.inexact):
        # nothing exists at run time: None cannot be said by a scalar, NaN can
        nothing = segment.segment_count(segments, alive(dead), np.int64)[0] == 0
        value = jnp.where(nothing, jnp.asarray(jnp.nan, value.dtype), value)
    return value


def _fill(outcome: Node, outside: Positions, values: Any) -> Node:
    """The structure of the result with its numbers."""

    def leaf(flat: Flat) -> Flat:
        shape = flat.data.shape
        size = int(np.prod(shape, dtype=np.int64))
        if len(outside.rows) == size and np.array_equal(outside.rows, np.arange(size)):
            return replace(flat, data=values.reshape(shape))  # type: ignore[no-any-return]
        whole = jnp.zeros(size, values.dtype).at[outside.rows].set(values)
        return replace(flat, data=whole.reshape(shape))  # type: ignore[no-any-return]

    return map_flat(leaf, outcome)


def _fill_run_time(
    name: str,
    node: Node,
    outcome: Node,
    outside: Positions,
    values: Any,
    segments: Segments,
    dead: Any,
    axis: int | None,
    keepdims: bool,
    mask_identity: bool,
) -> Node:
    _, found = strip(node)
    if axis is None:
        return _fill(outcome, outside, values)
    kept = RunTime(depth=found.depth)
    for depth in found.dead:
        if depth > axis:
            message = f"ak.{name} over an outer axis after a selection in an inner one is not supported yet"
            raise StructureError(message)
    kept.dead = {depth: mask for depth, mask in found.dead.items() if depth < axis}
    kept.null = {depth: mask for depth, mask in found.null.items() if depth < axis}
    count = None if dead is None else segment.segment_count(segments, alive(dead), np.int32)
    inner = len(outside.of) - 1
    if axis < found.depth and axis in found.dead:
        if inner != 0 or keepdims:
            message = f"ak.{name} over an outer axis of lists of lists after a selection by traced values is not supported yet"
            raise StructureError(message)
        # a column of the result exists when a selected list is that long
        kept.dead[0] = jnp.where(count > 0, jnp.float32(0), jnp.float32(1))
        return attach(_fill(outcome, outside, values), kept)
    if not mask_identity or count is None:
        return attach(_fill(outcome, outside, values), kept)
    null = jnp.where(count > 0, jnp.float32(0), jnp.float32(1))
    return attach(_run_time_option(outcome, outside, values, null, kept, inner), kept)


def _run_time_option(
    outcome: Node, outside: Positions, values: Any, null: Any, kept: RunTime, inner: int
) -> Node:
    """Missing where nothing exists at run time, in place of the option Awkward gives."""

    def whole(n: Node) -> Node | None:
        if not isinstance(n, Option) or not isinstance(n.content, Flat):
            return None
        index = n.index.array
        there = np.maximum(index, 0)
        if n.content.length == 0:
            kept.null[inner] = np.ones(len(index), np.float32)
            return Flat(np.zeros(len(index), n.content.data.dtype), n.content.parameters)
        missing = jnp.where(index < 0, jnp.float32(1), take(null, there))
        kept.null[inner] = missing
        return Flat(take(values, there), n.content.parameters)

    return map_nodes(whole, outcome)


def skeleton(node: Node, axis: int) -> Node:
    """The array cut off at an axis: its lists' elements are bare zeros, run-time structure kept."""
    match node:
        case List() if axis > 1:
            return replace(node, content=skeleton(node.content, axis - 1))  # type: ignore[no-any-return]
        case List():
            content = node.content
            zeros = Flat(np.zeros(content.length, np.int8))
            below: Node = Live(content.dead, zeros) if isinstance(content, Live) else zeros
            return List(node.offsets, below)
        case Live():
            return Live(node.dead, skeleton(node.content, axis))
        case _ if hasattr(node, "content"):
            return replace(node, content=skeleton(node.content, axis))  # type: ignore[no-any-return]
        case _:
            message = "ak.num of this array after a selection by traced values is not supported yet"
            raise StructureError(message)
