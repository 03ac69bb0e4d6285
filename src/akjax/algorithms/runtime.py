"""Run-time structure taken off an array and put back: which elements exist, which values are missing.

Elementwise work happens on the envelope, where everything is static. An element of depth 0 is a row, of
depth 1 an element of a row's list, and so on; `strip` notes by depth which may not exist (`dead`) and
which may be missing (`null`), and `attach` wraps the result again.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..nodes.kinds import Flat, Indexed, List, Live, Masked, Node, Option, Record, Regular, Row, replace
from ..nodes.moving import offsets_of, project
from ..nodes.walk import has_run_time_structure


@dataclasses.dataclass
class RunTime:
    """By depth: the float mask of dead elements and of missing values; `depth` counts the list levels."""

    dead: dict[int, Any] = dataclasses.field(default_factory=dict)
    null: dict[int, Any] = dataclasses.field(default_factory=dict)
    depth: int = 0

    def __bool__(self) -> bool:
        return bool(self.dead or self.null)


def strip(node: Node) -> tuple[Node, RunTime]:
    """The envelope of an array and its run-time structure.

    Raises:
        StructureError: when the fields of a record carry different selections at one depth.
    """
    found = RunTime()
    if not has_run_time_structure(node):
        found.depth = depth_of(node)
        return node, found
    return _strip(node, 0, found), found


def depth_of(node: Node) -> int:
    """The number of list levels below the rows, at most."""
    match node:
        case Flat():
            return max(int(np.ndim(node.data)) - 1, 0)
        case List() | Regular():
            return 1 + depth_of(node.content)
        case Record():
            return max((depth_of(content) for content in node.contents), default=0)
        case Option() | Indexed() | Masked() | Live() | Row():
            return depth_of(node.content)
        case _:
            return 0


def _strip(node: Node, depth: int, found: RunTime) -> Node:
    found.depth = max(found.depth, depth)
    match node:
        case Live():
            _note(found.dead, depth, node.dead)
            return _strip(node.content, depth, found)
        case Masked():
            _note(found.null, depth, node.null)
            return _strip(node.content, depth, found)
        case Indexed() if has_run_time_structure(node.content):
            return _strip(project(node), depth, found)
        case Flat():
            found.depth = max(found.depth, depth + int(np.ndim(node.data)) - 1)
            return node
        case List() | Regular():
            return replace(node, content=_strip(node.content, depth + 1, found))  # type: ignore[no-any-return]
        case Record():
            contents = tuple(_strip(content, depth, found) for content in node.contents)
            return replace(node, contents=contents)  # type: ignore[no-any-return]
        case Option() if has_run_time_structure(node.content):
            message = "a selection by traced values below missing lists is not supported yet: drop or fill the missing lists first"
            raise StructureError(message)
        case _:
            return node


def _note(masks: dict[int, Any], depth: int, mask: Any) -> None:
    if masks.setdefault(depth, mask) is not mask:
        message = (
            "the fields of this record were selected differently: take the field you need first, "
            "as in array.field, before this operation"
        )
        raise StructureError(message)


def attach(node: Node, run_time: RunTime, depth: int = 0) -> Node:
    """Put run-time structure back on an envelope."""
    if not run_time:
        return node
    deeper = any(d > depth for d in (*run_time.dead, *run_time.null))
    if deeper:
        node = _attach_below(node, run_time, depth)
    if depth in run_time.null:
        node = Masked(run_time.null[depth], node)
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
        case Regular() | Flat():
            ragged = as_list(node)
            if isinstance(ragged, List):
                return _attach_below(ragged, run_time, depth)
            return node
        case _:
            message = "this result mixes a selection by traced values with missing lists or unions: not supported yet"
            raise StructureError(message)


def as_list(node: Node) -> Node:
    """A regular dimension as lists of varying length, which a selection makes of it."""
    if isinstance(node, Regular):
        offsets = offsets_of(np.full(node.length, node.size))
        return List(offsets, node.content, node.parameters)
    if isinstance(node, Flat) and np.ndim(node.data) > 1:
        rows, size = node.data.shape[:2]
        flat = replace(node, data=node.data.reshape((rows * size, *node.data.shape[2:])), rank=-1)
        return List(offsets_of(np.full(rows, size)), flat)
    return node


def merge(parts: list[RunTime]) -> RunTime:
    """The run-time structure of a result of several arrays, which must be selected alike.

    Raises:
        StructureError: when one array is selected at a depth where another is not, or otherwise.
    """
    merged = RunTime(depth=max(part.depth for part in parts))
    for depth in range(merged.depth + 1):
        there = [part for part in parts if part.depth >= depth]
        masks = [part.dead.get(depth) for part in there]
        if any(mask is not masks[0] for mask in masks):
            raise StructureError(NOT_ALIGNED)
        if masks and masks[0] is not None:
            merged.dead[depth] = masks[0]
        nulls = [part.null[depth] for part in there if depth in part.null]
        distinct = list({id(null): null for null in nulls}.values())
        if distinct:
            merged.null[depth] = distinct[0] if len(distinct) == 1 else _either(distinct)
    return merged


def _either(masks: list[Any]) -> Any:
    either = masks[0]
    for mask in masks[1:]:
        either = jnp.maximum(either, mask)
    return either


NOT_ALIGNED = (
    "these arrays were selected by different traced conditions, so it is not known while tracing which of their "
    "elements belong together. Select once and take the fields from the result, as in "
    "good = jets[jets.pt > 30]; good.pt * good.eta, or combine the conditions with & before selecting"
)


def dead_of(condition: Any) -> Any:
    """The float mask of the elements for which a boolean condition does not hold."""
    return jnp.where(condition, jnp.float32(0), jnp.float32(1))


def alive(dead: Any) -> Any:
    """The boolean mask of a float mask: what exists, or is not missing."""
    return dead == 0
