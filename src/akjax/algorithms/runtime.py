"""Run-time structure taken off an array and put back: which elements exist, which values are missing.

Elementwise work happens on the envelope, where everything is static. An element of depth 0 is a row, of
depth 1 an element of a row's list, and so on; `strip` notes by depth which may not exist (`dead`) and
which may be missing (`null`), and `attach` wraps the result again.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take, take_mask
from ..nodes.boundaries import Boundaries, parents
from ..nodes.kinds import Flat, Indexed, List, Live, Masked, Node, Option, Record, Regular, Row, replace
from ..nodes.moving import carry, offsets_of, option, project, ranges
from ..nodes.static import static
from ..nodes.walk import children, has_run_time_structure, rebuild
from .evening import evenly, taken
from .numbering import is_fresh, note, note_either, note_fresh, note_kept, note_refused, same
from .origins import once


@dataclasses.dataclass
class RunTime:
    """By depth: the float mask of dead elements and of missing values; `depth` counts the list levels.

    `single` are the depths at which all lists have one element, which broadcasting repeats.
    """

    dead: dict[int, Any] = dataclasses.field(default_factory=dict)
    null: dict[int, Any] = dataclasses.field(default_factory=dict)
    depth: int = 0
    single: set[int] = dataclasses.field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.dead or self.null)


def strip(node: Node) -> tuple[Node, RunTime]:
    """The envelope of an array and its run-time structure.

    Raises:
        StructureError: when it is not one structure: the fields of a record carry different selections
            at one depth, or missing values of their own.
    """
    found = RunTime()
    if node.length == 1 and not isinstance(node, Live):
        found.single.add(0)
    return _strip(node, 0, found), found


def depth_of(node: Node) -> int:
    """The number of list levels below the rows, at most."""
    match node:
        case Flat():
            return max(len(node.shape) - 1, 0)
        case List() | Regular() if not is_text(node):
            return 1 + depth_of(node.content)
        case Record():
            return max((depth_of(content) for content in node.contents), default=0)
        case Option() | Indexed() | Masked() | Live() | Row():
            return depth_of(node.content)
        case _:
            return 0


def counted_from_the_top(node: Node, axis: int) -> int:
    """An axis as a depth; a negative one counts from the numbers.

    Raises:
        StructureError: fields of a record, whose numbers are at several depths, would have to be told apart.
    """
    if axis >= 0:
        return axis
    if not _is_of_one_depth(node):
        message = (
            f"axis={axis} is another level in each field of these records after a selection by traced values: "
            "take the field first"
        )
        raise StructureError(message)
    return axis + depth_of(node) + 1


def _is_of_one_depth(node: Node) -> bool:
    if isinstance(node, Record):
        return len({depth_of(content) for content in node.contents}) <= 1
    return not isinstance(node, List | Regular | Live | Masked | Option | Indexed) or _is_of_one_depth(node.content)


def is_text(node: Node) -> bool:
    """Whether a list is a string (or bytes), which counts as one value."""
    return (node.parameters or {}).get("__array__") in ("string", "bytestring")


def _strip(node: Node, depth: int, found: RunTime) -> Node:
    found.depth = max(found.depth, depth)
    match node:
        case Live():
            found.dead[depth] = node.dead
            return _strip(node.content, depth, found)
        case Masked():
            found.null[depth] = either(found.null.get(depth), node.null)
            return _strip(node.content, depth, found)
        case Indexed() if has_run_time_structure(node.content):
            return _strip(project(node), depth, found)
        case Flat():
            sizes = node.shape[1:]
            found.depth = max(found.depth, depth + len(sizes))
            found.single |= {depth + 1 + k for k, size in enumerate(sizes) if size == 1}
            return node
        case List() | Regular() if not is_text(node):
            if isinstance(node, Regular) and node.size == 1:
                found.single.add(depth + 1)
            return replace(node, content=_strip(node.content, depth + 1, found))  # type: ignore[no-any-return]
        case Record():
            parts = [RunTime() for _ in node.contents]
            contents = tuple(_strip(content, depth, part) for content, part in zip(node.contents, parts, strict=True))
            _agree(parts, depth, found)
            return replace(node, contents=contents)  # type: ignore[no-any-return]
        case Option() | Indexed():
            if not has_run_time_structure(node.content):
                return replace(node, content=_strip(node.content, depth, found))  # type: ignore[no-any-return]
            message = (
                "a selection by traced values below missing lists is not supported yet: drop or fill the "
                "missing lists first"
            )
            raise StructureError(message)
        case _:
            return node


def _agree(fields: list[RunTime], depth: int, found: RunTime) -> None:
    """What the fields of a record carry, if it can be said of the record as a whole."""
    found.depth = max((found.depth, *(field.depth for field in fields)))
    if any(depth in field.null for field in fields):
        raise StructureError(MISSING_FIELDS)
    for d in range(depth, found.depth + 1):
        there = [field for field in fields if field.depth >= d]
        for kind in ("dead", "null"):
            masks = [getattr(field, kind).get(d) for field in there]
            if not all(same(mask, masks[0]) for mask in masks):
                raise StructureError(SELECTED_DIFFERENTLY)
            if masks and masks[0] is not None:
                getattr(found, kind)[d] = masks[0]


def attach(node: Node, run_time: RunTime, depth: int = 0) -> Node:
    """Put run-time structure back on an envelope."""
    if not run_time:
        return node
    if any(d > depth for d in (*run_time.dead, *run_time.null)):
        node = _attach_below(node, run_time, depth)
    for masks in (run_time.null, run_time.dead):
        if depth in masks and masks[depth].shape[0] != node.length:
            # a single row that broadcasting has repeated
            raise StructureError(NOT_ALIGNED)
    if depth in run_time.null:
        node = hide(node, run_time.null[depth])
    if depth in run_time.dead:
        node = Live(run_time.dead[depth], node)
    return node


def _attach_below(node: Node, run_time: RunTime, depth: int) -> Node:
    node = project(node)
    match node:
        case List():
            return replace(node, content=attach(node.content, run_time, depth + 1))  # type: ignore[no-any-return]
        case Record():
            contents = tuple(_attach_below(content, run_time, depth) for content in node.contents)
            return replace(node, contents=contents)  # type: ignore[no-any-return]
        case Flat() if len(node.shape) == 1:
            return node
        case Regular() | Flat():
            # a dimension of one size keeps it as long as nothing in it can be dead
            lists: Any = as_list(node) if depth + 1 in run_time.dead else as_regular(node)
            return replace(lists, content=attach(lists.content, run_time, depth + 1))  # type: ignore[no-any-return]
        case _:
            message = (
                "this result mixes a selection by traced values with missing lists or unions, which is not "
                "supported "
                "yet: fill or drop what is missing first, and select last"
            )
            raise StructureError(message)


def as_list(node: Node) -> Node:
    """A regular dimension as lists of varying length, which a selection makes of it."""
    regular = as_regular(node)
    if isinstance(regular, Regular):
        offsets = offsets_of(np.full(regular.length, regular.size))
        return List(offsets, regular.content, regular.parameters)
    return node


def as_regular(node: Node) -> Node:
    """A further axis of a buffer as a node of its own."""
    if isinstance(node, Flat) and len(node.shape) > 1:
        rows, size = node.data.shape[:2]
        data = node.data.reshape((rows * size, *node.data.shape[2:]))
        return Regular(replace(node, data=note("rows", (node.data,), data), rank=-1), size, rows)
    return node


def at_run_time(node: Node) -> Node:
    """All missing values in the form of those that are known at run time."""
    node = masked(node)
    return rebuild(node, tuple(map(at_run_time, children(node))))  # type: ignore[no-any-return]


def masked(node: Node) -> Node:
    """The same for what is missing at the top: a missing list becomes an empty one under a mask."""
    node = project(node)
    if not isinstance(node, Option):
        return node
    null = np.where(node.index.array < 0, np.float32(1), np.float32(0))
    return hide(_everywhere(project(node.content), node.index.array), null, node.parameters)


def _everywhere(node: Node, index: Any) -> Node:
    """The elements at an index; something of the same type where it is negative."""
    there = index >= 0
    match node:
        case List():
            starts = np.where(there, node.offsets.array[np.maximum(index, 0)], 0)
            counts = np.where(there, np.diff(node.offsets.array, append=0)[np.maximum(index, 0)], 0)
            return List(offsets_of(counts), carry(node.content, ranges(starts, counts)), node.parameters)
        case Regular():
            below = np.where(there[:, np.newaxis], index[:, np.newaxis] * node.size + np.arange(node.size), -1)
            content = _everywhere(project(node.content), below.reshape(-1))
            return replace(node, content=content, length=len(index))  # type: ignore[no-any-return]
        case Record():
            contents = tuple(_everywhere(project(content), index) for content in node.contents)
            return replace(node, contents=contents, length=len(index))  # type: ignore[no-any-return]
        case Option():
            return option(np.append(node.index.array, -1)[np.where(there, index, -1)], node.content, node.parameters)
        case Flat() if node.length == 0:
            return replace(node, data=np.zeros((len(index), *node.data.shape[1:]), node.data.dtype))  # type: ignore[no-any-return]
        case _:
            return carry(node, np.where(there, index, 0))


def hide(node: Node, null: Any, parameters: Any = None) -> Node:
    """Missing values on the elements of a node, in addition to those it has."""
    node = masked(node)
    if isinstance(node, Masked):
        return Masked(either(node.null, null), node.content, node.parameters)
    return Masked(null, node, parameters)


def merge(parts: list[RunTime]) -> RunTime:
    """The run-time structure of a result of several arrays, which must be selected alike.

    Raises:
        StructureError: when one array is selected at a depth where another is not, or otherwise.
    """
    merged = RunTime(depth=max(part.depth for part in parts))
    for depth in range(merged.depth + 1):
        there = [part for part in parts if part.depth >= depth and depth not in part.single]
        masks = [part.dead.get(depth) for part in there]
        if any(not same(mask, masks[0]) for mask in masks):
            raise StructureError(NOT_ALIGNED)
        if masks and masks[0] is not None:
            merged.dead[depth] = masks[0]
        null = None
        for part in parts:
            null = either(null, part.null.get(depth))
        if null is not None:
            merged.null[depth] = null
    return merged


def columns(nodes: list[Node], fields: tuple[str, ...] | None, parameters: Any = None) -> Node:
    """A record with arrays as its columns: they share their rows, and each keeps its own selections inside.

    Raises:
        StructureError: when their rows were selected by different conditions.
    """
    dead = nodes[0].dead if nodes and isinstance(nodes[0], Live) else None
    if any(not same(node.dead if isinstance(node, Live) else None, dead) for node in nodes):
        message = (
            "these columns were selected by different conditions on their rows: select the rows of the record instead"
        )
        raise StructureError(message)
    contents = tuple(node.content if isinstance(node, Live) else node for node in nodes)
    record = Record(contents, fields, nodes[0].length if nodes else 0, parameters)
    return record if dead is None else Live(dead, record)


NOT_ALIGNED = (
    "these arrays were selected by different traced conditions, so it is not known while tracing which of "
    "their "
    "elements belong together. Select once and take the fields from the result, as in "
    "good = jets[jets.pt > 30]; good.pt * good.eta, or combine the conditions with & before selecting"
)

SELECTED_DIFFERENTLY = (
    "the fields of this record were selected differently: take the field you need first, "
    "as in array.field, before this operation"
)

MISSING_FIELDS = (
    "values of single fields of this record are missing, as decided at run time: fill them first, as in "
    "ak.fill_none(array.field, 0), or take the field you need before this operation"
)


def dead_of(condition: Any) -> Any:
    """The float mask of the elements for which a boolean condition does not hold."""
    return note_refused(condition, evenly(_refused, [condition]))


def _refused(condition: Any) -> Any:
    return jnp.where(condition, jnp.float32(0), jnp.float32(1))


def either(one: Any, two: Any) -> Any:
    """The float mask of what at least one of two masks (or None) says."""
    if one is None or two is None or one is two:
        return two if one is None else one
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return np.maximum(one, two)
    if same(one, two):
        return one
    masks = [static(mask) if isinstance(mask, np.ndarray) else mask for mask in (one, two)]
    return note_either(masks, evenly(_either, [one, two]))


def _either(one: Any, two: Any) -> Any:
    # by booleans, which compilers see through: a maximum of floats minds NaN, number by number
    return jnp.where((one != 0) | (two != 0), jnp.float32(1), jnp.float32(0))


def dead_below(node: Any, dead: Any) -> Any:
    """The mask of elements that do not exist (or are missing) one node further down, or None.

    Args:
        node: a node with one content.
        dead: the mask of the node's own elements, or None.
    """
    match node:
        case Live():
            return either(dead, node.dead)
        case Masked():
            return either(dead, node.null)
    if dead is None:
        return None
    match node:
        case List() if is_fresh(dead) and isinstance(node.offsets, Boundaries) and is_fresh(node.offsets.offsets):
            slots = node.offsets.bounds.slots
            return once(("behind", slots), partial(_behind, slots), [node.offsets.offsets])
        case List():
            below = once("dead below", _mask_at, [dead, parents(node.offsets)])
            return note(("parents", node.offsets), (dead,), below)
        case Regular():
            return note(("repeated", node.size), (dead,), jnp.repeat(dead, node.size))
        case Option() | Indexed():
            index = node.index.array
            reached = index >= 0
            # what several positions share exists if one of them does
            below = jax.ops.segment_min(take(dead, np.flatnonzero(reached)), index[reached], node.content.length)
            return note(("reached", node.index, node.content.length), (dead,), below)
    return dead


def _mask_at(mask: Any, index: Any) -> Any:
    return taken(partial(take_mask, mask), index)


def _behind(slots: int, offsets: Any) -> Any:
    """The mask of elements behind those of the lists that exist: neither parents nor a look at each is needed."""
    behind = jax.lax.iota(np.int32, slots) >= offsets[-2]
    found = jnp.where(behind, jnp.float32(1), jnp.float32(0))
    note_fresh(found)
    return found


def alive(dead: Any) -> Any:
    """The boolean mask of a float mask: what exists, or is not missing."""
    return note_kept(dead, evenly(lambda dead: dead == 0, [dead]))
