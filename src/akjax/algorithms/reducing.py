"""Reducers over any axis: Awkward gives the structure of the result, kernels fill it."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..caches import droppable
from ..errors import StructureError
from ..kernels import extrema, segment
from ..kernels.gather import take
from ..kernels.running import running_count
from ..kernels.segment import Segments
from ..nodes.boundaries import parents, starts
from ..nodes.kinds import Flat, Indexed, Jagged, List, Live, Masked, Node, Option, Regular, replace
from ..nodes.moving import indexed, option, project
from ..nodes.static import Static, arange, static
from ..nodes.walk import has_run_time_structure, iterate, map_flat, map_nodes
from ..structure.from_layout import from_layout, regular
from . import statistics
from .columns import columns
from .combining import at_lists
from .elementwise import values_of
from .evening import evened
from .ordering import segments_of
from .positions import Positions, match, positions
from .promises import promise
from .ranks import packed, split_live
from .runtime import RunTime, alive, as_regular, attach, dead_below, dead_of, depth_of, either, hide, masked, strip
from .standing import has_traced_lists
from .ufuncs import canonical

ARGUMENTS = ("argmin", "argmax")
BOUNDS = ("min", "max")
# of these, numbers that are there several times make no difference
_REPEATABLE = ("any", "all", *BOUNDS, *ARGUMENTS)
_BLIND = ("count", "count_nonzero", "sum", "any", "all", *BOUNDS, *ARGUMENTS)

# Awkward's own answer, of other values, for the arrays themselves (None) or for others of their type
Ask: TypeAlias = "Callable[[list[Node] | None], Any]"


@dataclasses.dataclass(frozen=True)
class Reduction:
    """What is asked for.

    Attributes:
        name: the reducer or statistic, as in `ak.<name>`.
        axis: the axis, or None for everything.
        keepdims: whether the reduced axis stays, with length one.
        mask_identity: whether nothing reduces to a missing value.
        options: further arguments of statistics, None for a reducer.
        initial: a bound that minimum and maximum do not pass, or None.
    """

    name: str
    axis: int | None
    keepdims: bool
    mask_identity: bool
    options: dict[str, Any] | None = None
    initial: Any = None


@dataclasses.dataclass(frozen=True)
class Groups:
    """Numbers and the group each of them is in.

    Attributes:
        several: the buffers, one an array.
        segments: the group of each number.
        live: which numbers are there (exist and are not missing), or None.
        rank: what argmin and argmax answer for the number at a place in the buffer, by group; -1 is no place.
    """

    several: list[Any]
    segments: Segments
    live: Any
    rank: Callable[[Any], Any]


def reduce(reduction: Reduction, nodes: list[Node], ask: Ask) -> tuple[Any, Any]:
    """Reduce the numbers of an array along an axis.

    Args:
        reduction: what to compute.
        nodes: the array, without records and unions; statistics of two arrays (and weights) give more,
            of equal structure.
        ask: what Awkward answers, for an array of the right type in all but the values.

    Returns:
        A node, or a JAX scalar where nothing but one number is left, or None where Awkward gives None;
        and an answer of Awkward's with the right behavior and attributes.
    """
    nodes = [unfolded(node) for node in nodes]
    depth = number_depth(nodes[0])
    if depth is not None:
        innermost = depth if reduction.axis == -1 else reduction.axis
        if innermost == depth and depth > 0:
            outcome = ask([one_row(node) for node in nodes])
            dtype = _dtype_of(outcome)
            return innermost_lists(nodes, lambda lists, dead: _of_innermost(reduction, lists, dtype, dead)), outcome
        everything = reduction.axis is None or innermost == depth
        if everything and not reduction.keepdims and _size(nodes[0]) > 0:
            outcome = ask([one_row(node) for node in nodes])
            return _total(reduction, nodes, outcome), outcome
        if has_traced_lists(nodes[0]):
            outcome = ask([one_row(node) for node in nodes])
            return _of_traced(reduction, nodes, outcome, depth), outcome
    in_front = _in_front(reduction, nodes)
    outcome = ask(None if in_front is nodes else in_front)
    nodes = in_front
    if not isinstance(outcome, ak.Array):
        return _total(reduction, nodes, outcome), outcome
    return _anywhere(reduction, nodes, from_layout(outcome.layout)), outcome


def compute(reduction: Reduction, groups: Groups, dtype: Any) -> Any:
    """One reducer on raw numbers, in the dtype of the result."""
    name, segments, live = reduction.name, groups.segments, groups.live
    if name == "count" and live is None:
        values: Any = segment.segment_count(segments, None, np.int64)
        return values if values.dtype == dtype else jnp.asarray(values, dtype)
    several, segments, live = evened(groups.several, segments, live, name in _REPEATABLE)
    if name == "count":
        values = segment.segment_count(segments, live, np.int64)
    elif reduction.options is not None:
        values = statistics.compute(name, several, segments, live, dtype, reduction.options)
    elif name in ARGUMENTS:
        first = getattr(extrema, f"segment_{name}")(several[0], segments, jnp.arange(segments.size), live)
        values = jnp.where(first < 0, -1, groups.rank(first)) if segments.size else first
    elif name in BOUNDS:
        values = _bounded(reduction, getattr(extrema, f"segment_{name}")(several[0], segments, live), groups)
    else:
        values = getattr(segment, f"segment_{name}")(several[0], segments, live)
    return values if values.dtype == dtype else jnp.asarray(values, dtype)


def _bounded(reduction: Reduction, values: Any, groups: Groups) -> Any:
    """With an initial value: to Awkward a bound of real numbers, and the answer for no number."""
    if reduction.initial is None:
        return values
    numpys = reduction.axis is None and totals_are_numpys()
    if values.dtype == bool and not numpys:
        return values
    bound = reduction.initial if isinstance(reduction.initial, jax.Array) else np.asarray(reduction.initial)
    bound = bound.astype(values.dtype)
    if jnp.iscomplexobj(values) and not numpys:
        return jnp.where(jnp.asarray(segment.segment_count(groups.segments, groups.live)) == 0, bound, values)
    return (jnp.minimum if reduction.name == "min" else jnp.maximum)(values, bound)


@functools.cache
def totals_are_numpys() -> bool:
    """Whether the minimum of all is NumPy's: NaN when one of them is; older Awkward passes it over."""
    return bool(np.isnan(ak.min(ak.Array([np.nan, 0.0]))))


# ------------------------------------------------------------------------------- lists, where they stand


def unfolded(node: Node) -> Node:
    """Regular dimensions of buffers as nodes."""

    def unfold(n: Node) -> Node | None:
        regular = as_regular(n)
        return None if regular is n else map_nodes(unfold, regular)

    return map_nodes(unfold, node)


def number_depth(node: Node) -> int | None:
    """The number of list levels when there is nothing but lists, missing values and numbers, else None."""
    if node.parameters:
        return None
    match node:
        case Flat():
            return 0
        case List() | Regular():
            below = number_depth(node.content)
            return None if below is None else below + 1
        case Live() | Masked() | Option() | Indexed():
            return number_depth(node.content)
        case _:
            return None


def _size(node: Node) -> int:
    """The number of numbers."""
    return node.length if isinstance(node, Flat) else _size(node.content)  # type: ignore[union-attr]


def one_row(node: Node) -> Node:
    """An array of the same type with one element at every level, for questions of type."""
    match node:
        case Flat():
            words = node.words
            return replace(node, data=np.zeros((1, 2) if words else 1, node.data.dtype))  # type: ignore[no-any-return]
        case List():
            return List(static(np.array([0, 1])), one_row(node.content))
        case Regular():
            return Regular(one_row(node.content), 1, 1)
        case Option():
            return Option(static(np.array([0])), one_row(node.content))
        case Masked():
            return Masked(np.zeros(1, np.float32), one_row(node.content))
    return one_row(node.content)  # type: ignore[union-attr]


def _dtype_of(outcome: Any) -> Any:
    if not isinstance(outcome, ak.Array):
        return canonical(np.asarray(outcome).dtype)
    (flat,) = [n for n in iterate(from_layout(outcome.layout)) if isinstance(n, Flat)]
    return canonical(flat.data.dtype)


def innermost_lists(nodes: list[Node], make: Callable[[list[Any], Any], Node], dead: Any = None) -> Node:
    """Put something in the place of the innermost lists; what is above them stays.

    Args:
        nodes: arrays of equal structure with a `number_depth` of at least 1.
        make: gets the innermost lists of each, and the mask of those that do not exist or are missing.
        dead: such a mask of the rows.
    """
    node: Any = nodes[0]
    if isinstance(node, List | Regular) and number_depth(node) == 1:
        return make(nodes, dead)
    contents = [n.content for n in nodes]  # type: ignore[union-attr]
    content = innermost_lists(contents, make, dead_below(node, dead))
    match node:
        case Option():
            return option(node.index.array, content)
        case Indexed():
            return indexed(node.index.array, content)
        case Masked():
            return hide(content, node.null, node.parameters)
        case Regular():
            return regular(content, node.size, node.length, None)
    return replace(node, content=content)  # type: ignore[no-any-return]


def _of_innermost(reduction: Reduction, nodes: list[Any], dtype: Any, dead: Any) -> Node:
    lists = nodes[0]
    starts, segments = _segments_of(lists)
    inside = [positions(node.content) for node in nodes]
    at = inside[0].of[0]
    missing, exists = inside[0].dead(), inside[0].nonexistent()
    countless = missing is None and isinstance(lists, Jagged)
    # what is in a list that does not exist does no harm there; only derivatives of products look at other elements
    unseen = isinstance(lists, Jagged) and reduction.name in _BLIND
    outer = None if unseen else dead_below(lists, dead)
    if len(at) < segments.size:
        segments = Segments(segments.parents[at], segments.length, bound=segments.bound)
        outer = None if outer is None else take(outer, at)
    missing = either(missing, outer)
    live = None if missing is None else alive(missing)

    slots: list[Any] = []

    def rank(place: Any) -> Any:
        there, place = place >= 0, jnp.maximum(place, 0)
        place = place if len(at) == lists.content.length else take(jnp.asarray(at), place)
        slots.extend((place, there))
        if exists is None:
            return place - starts
        before = jnp.concatenate([jnp.zeros(1, jnp.int32), running_count(alive(exists))])
        return take(before, place) - take(before, starts)

    values = compute(reduction, Groups(_buffers(inside), segments, live, rank), dtype)
    if slots and reduction.mask_identity and isinstance(lists, List):
        values = promise(values, lists, split_live(lists.content)[0], slots[0])
    if not reduction.mask_identity:
        result: Node = Flat(values)
    elif slots and not (live is None and segments.static):
        result = Masked(dead_of(slots[1]), Flat(values))
    else:
        # whether there is anything in a list that does not exist is no question: traced offsets say it of the others
        result = _masked(values, segments, None if countless else live)
    return regular(result, 1, len(starts), None) if reduction.keepdims else result


def _masked(values: Any, segments: Segments, live: Any) -> Node:
    """Values that are missing where nothing was reduced."""
    if live is None and segments.static:
        counts = np.asarray(segment.segment_count(segments))
        return option(np.where(counts > 0, arange(len(counts)), -1), Flat(values))
    return Masked(_nothing(segments, live), Flat(values))


def _nothing(segments: Segments, live: Any) -> Any:
    """The float mask of groups in which there is nothing."""
    return jnp.where(segment.segment_count(segments, live, np.int32) > 0, jnp.float32(0), jnp.float32(1))


_segments: weakref.WeakKeyDictionary[Static, Segments] = droppable(weakref.WeakKeyDictionary())


def _segments_of(lists: List | Regular) -> tuple[np.ndarray[Any, Any], Segments]:
    """Where the lists start, and the list of each element: made once for each structure."""
    if isinstance(lists, Regular):
        numbers = arange(lists.length)
        return numbers * lists.size, Segments(np.repeat(numbers, lists.size), lists.length)
    if isinstance(lists, Jagged):
        return starts(lists.offsets), segments_of(lists)
    offsets: Any = lists.offsets
    found = _segments.get(offsets)
    if found is None:
        found = _segments[offsets] = Segments(parents(lists.offsets), lists.length)
    return lists.offsets.array[:-1], found


def _buffers(several: list[Positions]) -> list[Any]:
    buffers = []
    for one in several:
        assert one.flat is not None
        values_of(one.flat)
        buffers.append(one.data())
    return buffers


# ------------------------------------------------------------------------------- everything


def _total(reduction: Reduction, nodes: list[Node], outcome: Any) -> Any:
    """All numbers to one; which list they are in does not matter."""
    if outcome is None or positions(_joined(nodes[0])).flat is None:
        return outcome
    values, null = _one_value(reduction, nodes, _dtype_of(outcome))
    if null is not None and reduction.mask_identity and jnp.issubdtype(values.dtype, jnp.inexact):
        # nothing exists at run time: None cannot be said by a scalar, NaN can
        return jnp.where(null[0] == 0, values[0], jnp.asarray(jnp.nan, values.dtype))
    return values[0]


def _one_value(reduction: Reduction, nodes: list[Node], dtype: Any) -> tuple[Any, Any]:
    """All numbers reduced to a buffer of one, and the mask that says that there were none, if that can be."""
    reduction = dataclasses.replace(reduction, axis=None)
    several = [positions(_joined(node)) for node in nodes]
    inside = several[0]
    count = len(inside.rows)
    segments = Segments(np.broadcast_to(np.int32(0), count), 1)
    dead, exists = inside.dead(), inside.nonexistent()
    live = None if dead is None else alive(dead)

    def rank(place: Any) -> Any:
        place = jnp.maximum(place, 0)
        place = place if inside.numbers is inside.of[0] else take(jnp.asarray(inside.numbers), place)
        return place if exists is None else take(running_count(alive(exists)) - 1, place)

    values = compute(reduction, Groups(_buffers(several), segments, live, rank), dtype)
    if reduction.name in (*BOUNDS, "ptp"):
        values = _as_numpy(values, several[0].data(), live)
    return values, None if live is None else _nothing(segments, live)


def _as_numpy(value: Any, data: Any, live: Any) -> Any:
    """NaN when there is one among the numbers."""
    if not (jnp.issubdtype(data.dtype, jnp.inexact) and totals_are_numpys()):
        return value
    unknown = jnp.isnan(data) if live is None else jnp.isnan(data) & live
    return jnp.where(unknown.any(), np.asarray(np.nan, value.dtype), value)


def _joined(node: Node) -> Node:
    """The array without its outer lists."""
    if has_traced_lists(node):
        return _flattened(node)
    while isinstance(node, List | Regular):
        node = node.content
    return node


def _flattened(node: Node, dead: Any = None, null: Any = None) -> Node:
    """The numbers of an array, with the run-time structure above them."""
    match node:
        case Live():
            return _flattened(node.content, either(dead, node.dead), null)
        case Masked():
            return _flattened(node.content, dead, either(null, node.null))
        case List() | Regular():
            # what is in a missing list does not exist
            return _flattened(node.content, dead_below(node, either(dead, null)))
    shown = node if null is None else Masked(null, node)
    return shown if dead is None else Live(dead, shown)


# ------------------------------------------------------------------------------- lists of run-time length


def _of_traced(reduction: Reduction, nodes: list[Node], outcome: Any, depth: int) -> Node:
    """Lists of run-time length over an axis that is not the innermost, or over all of them to lists of one."""
    dtype, axis = _dtype_of(outcome), reduction.axis
    if axis is None:
        values, null = _one_value(reduction, nodes, dtype)
        one = Masked(null, Flat(values)) if reduction.mask_identity and null is not None else Flat(values)
        return functools.reduce(lambda node, _: Regular(node, 1, 1), range(depth), one)  # type: ignore[arg-type,return-value]
    axis = axis if axis >= 0 else axis + depth + 1
    if axis > 0:
        reduction = dataclasses.replace(reduction, axis=axis)
        return at_lists(nodes, axis, lambda several, above: _by_column(reduction, several, above, dtype))
    reduction = dataclasses.replace(reduction, axis=0)
    rows = [List(static(np.array([0, node.length])), node) for node in nodes]
    return _by_column(reduction, rows, None, dtype)


def _by_column(reduction: Reduction, several: list[List], above: Any, dtype: Any) -> Node:
    """The numbers inside of the elements of lists, reduced by their positions; of one list what is in the result."""
    lists = several[0]
    whole = reduction.axis == 0
    made = columns(lists, above, lists.length + 1 if whole else lists.length)
    segments = Segments(made.to, made.size, sorted=False)
    nth: list[Any] = []

    def rank(place: Any) -> Any:
        nth[:] = nth or [made.nth()]
        return take(nth[0], jnp.maximum(place, 0))

    buffers = [jnp.asarray(values_of(_numbers_of(one))) for one in several]
    values = compute(reduction, Groups(buffers, segments, made.live, rank), dtype)
    numbers: Node = Masked(_nothing(segments, made.live), Flat(values)) if reduction.mask_identity else Flat(values)
    if not whole:
        found = made.lists(numbers)
        return Regular(found, 1, lists.length) if reduction.keepdims else found
    if not reduction.keepdims:
        return made.elements(numbers)
    return Live(np.array([0, 1], np.float32), made.lists(numbers))


def _numbers_of(node: Node) -> Flat:
    """The buffer of numbers of an array, missing ones filled with something."""
    node = masked(project(node))
    return node if isinstance(node, Flat) else _numbers_of(node.content)  # type: ignore[union-attr]


# ------------------------------------------------------------------------------- any axis


def _in_front(reduction: Reduction, nodes: list[Node]) -> list[Node]:
    """The arrays with what exists in front in the lists inside the axis, whose elements are paired by position."""
    if reduction.axis is None or not any(isinstance(n, Live) for node in nodes for n in iterate(node)):
        return nodes
    depth = depth_of(nodes[0])
    axis = reduction.axis if reduction.axis >= 0 else reduction.axis + depth + 1
    first = axis if reduction.name in ARGUMENTS and axis > 0 else axis + 1
    for level in range(first, depth + 1):
        if level in strip(nodes[0])[1].dead:
            nodes = [at_lists([node], level, lambda lists, _: packed(lists[0])) for node in nodes]
    return nodes


def _anywhere(reduction: Reduction, nodes: list[Node], outcome: Node) -> Node:
    """Any axis of any structure: each number goes to the place of the result with its positions."""
    several = [positions(n) for n in nodes]
    inside, outside = several[0], positions(outcome)
    if outside.flat is None or inside.flat is None:
        return outcome
    axis = reduction.axis
    if axis is not None and axis < 0:
        axis += len(inside.of)
    segments = Segments(*places(inside, outside, axis, reduction.keepdims))
    dead, exists = inside.dead(), inside.nonexistent()
    live = None if dead is None else alive(dead)

    def rank(place: Any) -> Any:
        numbers: Any
        if axis is None or len(inside.of) == 1:
            numbers = inside.numbers
            if exists is not None:
                numbers = take(running_count(alive(exists)) - 1, numbers)
        else:
            numbers = places_along(nodes[0], inside, axis)
        return take(jnp.asarray(numbers), jnp.maximum(place, 0))

    groups = Groups(_buffers(several), segments, live, rank)
    values = compute(reduction, groups, canonical(outside.flat.data.dtype))
    if (axis is None or len(inside.of) == 1) and reduction.name in (*BOUNDS, "ptp"):
        values = _as_numpy(values, inside.data(), live)
    if not has_run_time_structure(nodes[0]):
        return fill(outcome, outside, values)
    return _fill_run_time(reduction, nodes[0], outcome, outside, values, segments, dead, axis)


def places(inside: Positions, outside: Positions, axis: int | None, keepdims: bool) -> Any:
    """For each number its place in the result, the number of places, and whether the numbers are in order."""
    if axis is None:
        return np.zeros(len(inside.rows), np.int32), len(outside.rows), True
    where = list(inside.of)
    if keepdims:
        where[axis] = np.zeros(len(inside.rows), dtype=np.int64)
    else:
        del where[axis]
    found = match(where, outside.of)
    return found, len(outside.rows), bool((found[1:] >= found[:-1]).all())


def fill(outcome: Node, outside: Positions, values: Any) -> Node:
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
    reduction: Reduction,
    node: Node,
    outcome: Node,
    outside: Positions,
    values: Any,
    segments: Segments,
    dead: Any,
    axis: int | None,
) -> Node:
    _, found = strip(node)
    kept = RunTime(depth=found.depth)
    inner = len(outside.of) - 1
    count = None if dead is None else segment.segment_count(segments, alive(dead), np.int32)
    if axis is None:
        found, axis = RunTime(depth=inner), inner
    kept.dead = {depth: mask for depth, mask in found.dead.items() if depth < axis}
    kept.null = {depth: mask for depth, mask in found.null.items() if depth < axis}
    for depth in range(axis + 1, found.depth + 1):
        # a regular dimension has all its columns, also of no rows
        gone = any(axis <= d <= depth for d in found.dead) or any(axis <= d < depth for d in found.null)
        if gone and (depth in found.dead or not _is_regular(node, depth)):
            at = depth if reduction.keepdims else depth - 1
            kept.dead[at] = _empty_columns(cut_off(node, depth), cut_off(outcome, at), axis, reduction.keepdims)
    if not reduction.mask_identity or count is None:
        return attach(fill(outcome, outside, values), kept)
    null = jnp.where(count > 0, jnp.float32(0), jnp.float32(1))
    return attach(_run_time_option(outcome, values, null, kept, inner), kept)


def _is_regular(node: Node, depth: int) -> bool:
    """Whether the lists of the elements of a depth have one length that is part of the type."""
    node = as_regular(node)
    if isinstance(node, List | Regular):
        return isinstance(node, Regular) if depth == 1 else _is_regular(node.content, depth - 1)
    return isinstance(node, Live | Masked | Option | Indexed) and _is_regular(node.content, depth)


def _empty_columns(node: Node, outcome: Node, axis: int, keepdims: bool) -> Any:
    """The mask of the places of a result that no element goes to which exists: no list is that long at run time."""
    inside = positions(node)
    columns = Segments(*places(inside, positions(outcome), axis, keepdims))
    there = inside.dead()
    return dead_of(jnp.asarray(segment.segment_count(columns, None if there is None else alive(there), np.int32)) > 0)


def places_along(node: Node, inside: Positions, axis: int) -> Any:
    """For each number its place along an axis, as the answers of argmin, argmax and argsort have it.

    Over an outer axis Awkward counts the innermost lists at the same place otherwise that exist and are not missing:
    `ak.argmax([[[1.0]], [], [[3.0]]], axis=0)` is 1, the second list that is there.

    Args:
        node: the array.
        inside: the positions of its numbers.
        axis: the axis, not negative.
    """
    if axis == len(inside.of) - 1:
        return inside.of[axis]
    lists = positions(map_nodes(_counters, unfolded(node)))
    order, place, first = in_groups(grouped(lists.of, axis))
    dead = lists.dead()
    ranks = place - first
    if dead is not None:
        before = jnp.concatenate([jnp.zeros(1, jnp.int32), running_count(alive(take(dead, order)))])
        ranks = take(before, place) - take(before, first)
    return take(ranks, match(inside.of[:-1], lists.of))


def _counters(node: Node) -> Node | None:
    """Innermost lists as numbers."""
    return Flat(np.zeros(node.length, np.int8)) if isinstance(node, List | Regular) and depth_of(node) == 1 else None


def grouped(of: list[np.ndarray[Any, Any]], axis: int) -> np.ndarray[Any, Any]:
    """A number for each element, equal for those whose positions but that along an axis are the same."""
    number = np.zeros(len(of[0]), dtype=np.int64)
    for depth, position in enumerate(of):
        if depth != axis:
            number = number * (int(position.max(initial=0)) + 1) + position
    return np.unique(number, return_inverse=True)[1].astype(np.int32)


def in_groups(groups: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    """Elements in order of their groups; and for each its place in that order, and that of the first of its group."""
    order = np.argsort(groups, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return order, place, np.searchsorted(groups[order], groups)


def cut_off(node: Node, depth: int) -> Node:
    """The array with bare zeros for the elements of a depth, run-time structure kept."""
    if isinstance(node, Live) or (isinstance(node, Masked | Option | Indexed) and depth > 0):
        return replace(node, content=cut_off(node.content, depth))  # type: ignore[no-any-return]
    if depth == 0:
        return Flat(np.zeros(node.length, np.int8))
    lists: Any = as_regular(node)
    return replace(lists, content=cut_off(lists.content, depth - 1))  # type: ignore[no-any-return]


def _run_time_option(outcome: Node, values: Any, null: Any, kept: RunTime, inner: int) -> Node:
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
    node = as_regular(node)
    match node:
        case List() | Regular() if axis > 1:
            return replace(node, content=skeleton(node.content, axis - 1))  # type: ignore[no-any-return]
        case List() | Regular():
            content = node.content
            zeros = Flat(np.zeros(content.length, np.int8))
            below: Node = Live(content.dead, zeros) if isinstance(content, Live) else zeros
            return replace(node, content=below, parameters=None)  # type: ignore[no-any-return]
        case Live():
            return Live(node.dead, skeleton(node.content, axis))
        case _ if hasattr(node, "content"):
            return replace(node, content=skeleton(node.content, axis))  # type: ignore[no-any-return]
        case _:
            message = "ak.num of this array after a selection by traced values is not supported yet"
            raise StructureError(message)
