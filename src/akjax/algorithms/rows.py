"""Arrays cut into rows of one shape, which `jax.vmap` can map, and rows made an array again.

The lists of every row become lists of one length, the longest there is; a live mask says which of their elements
exist.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels._reduce import materialise
from ..kernels.gather import take
from ..nodes.boundaries import starts, stops
from ..nodes.kinds import (
    Constant,
    Empty,
    Flat,
    Indexed,
    Jagged,
    List,
    Live,
    Masked,
    Node,
    Option,
    Record,
    Regular,
    Row,
    Union,
    replace,
)
from ..nodes.moving import offsets_of, project
from ..nodes.static import arange, static
from .runtime import is_text, masked

Make = Callable[[Iterator[Any]], Node]


@dataclasses.dataclass(frozen=True)
class Rows:
    """The rows of an array.

    Attributes:
        leaves: buffers of shape `(rows, ...)`.
        make: the nodes of one row, of a row of each leaf: an array with that row only.
        dead: the mask of the rows that do not exist, or None.
    """

    leaves: list[Any]
    make: Make
    dead: Any


def rows_of(node: Node) -> Rows:
    """Cut an array into its rows."""
    dead = node.dead if isinstance(node, Live) else None
    content = node.content if isinstance(node, Live) else node
    leaves: list[Any] = []
    return Rows(leaves, _cut(content, None, content.length, 1, leaves), dead)


def _cut(node: Node, at: Any, rows: int, each: int, leaves: list[Any]) -> Make:
    """Note the buffers of elements at positions `at` (None: all of them), `each` of them a row."""
    node = masked(project(node))

    def leaf(data: Any) -> None:
        data = data if at is None else _taken(data, at, take, jnp)
        leaves.append(data.reshape((rows, each, *data.shape[1:])))

    match node:
        case Flat():
            leaf(node.data)
            return lambda row: replace(node, data=next(row), rank=-1)
        case Masked():
            leaf(node.null)
            inside = _cut(node.content, at, rows, each, leaves)
            return lambda row: Masked(next(row), inside(row), node.parameters)
        case Record():
            parts = [_cut(content, at, rows, each, leaves) for content in node.contents]
            return lambda row: replace(node, contents=tuple(part(row) for part in parts), length=each)
        case Regular():
            size = node.size
            below = None if at is None else (at[:, None] * size + np.arange(size)).reshape(-1)
            inside = _cut(node.content, below, rows, each * size, leaves)
            return lambda row: replace(node, content=inside(row), length=each)
        case List() if not is_text(node):
            return _cut_lists(node, at, rows, each, leaves)
    message = "akjax.vmap maps numbers in records and lists, with missing values: leave text, unions and dates out"
    raise StructureError(message)


def _taken(data: Any, at: Any, taking: Callable[[Any, Any], Any], module: Any) -> Any:
    """What stands at positions; where nothing is at all, zeros: they are never looked at, but must be there."""
    return taking(data, at) if data.shape[0] else module.zeros((at.shape[0], *data.shape[1:]), data.dtype)


def _cut_lists(node: List, at: Any, rows: int, each: int, leaves: list[Any]) -> Make:
    first, end = starts(node.offsets), stops(node.offsets)
    if at is not None:
        first, end = (_taken(ends, at, operator.getitem, np) for ends in (first, end))
    counts = end - first
    if isinstance(node, Jagged):
        longest = node.offsets.bounds.longest  # type: ignore[union-attr]
    else:
        # room for one element even where there is none: Awkward's reducers give None for a row that cannot have any
        longest = int(np.diff(node.offsets.array).max(initial=1))
    places = np.arange(longest, dtype=np.int32)
    there = (places < counts[:, None]).reshape(-1)
    module: Any = np if isinstance(there, np.ndarray) else jnp
    slots = module.where(there, (first[:, None] + places).reshape(-1), 0)
    content = node.content
    dead = module.where(there, np.float32(0), np.float32(1))
    if isinstance(content, Live):
        dead = jnp.maximum(dead, take(content.dead, slots)) if content.length else dead
        content = content.content
    # XLA would fold what follows from a constant mask, for long, and (that of JAX 0.8) to wrong values
    leaves.append(materialise(jnp.asarray(dead).reshape(rows, each * longest)))
    inside = _cut(content, slots, rows, each * longest, leaves)
    offsets = static(arange(each + 1) * longest)
    return lambda row: List(offsets, Live(next(row), inside(row)), node.parameters)


def stacked(node: Node, rows: int, dead: Any = None) -> Node:
    """Results of all rows as one array.

    Args:
        node: the nodes of one result, whose leaves have one more axis in front.
        rows: how many results there are.
        dead: the mask of the rows that do not exist, or None.
    """
    if isinstance(node, Row):
        found = _joined(node.content, rows)
    elif isinstance(node, Live):
        each = int(node.dead.shape[1])
        found = List(static(arange(rows + 1) * each), _joined(node, rows))
    else:
        found = Regular(_joined(node, rows), _length(node), rows)
    return found if dead is None else Live(dead, found)


def _length(node: Node) -> int:
    """The number of elements of one result, where leaves have one more axis."""
    match node:
        case Flat():
            return int(node.data.shape[1])
        case Live():
            return int(node.dead.shape[1])
        case Masked():
            return int(node.null.shape[1])
    return node.length


def _joined(node: Node, rows: int) -> Node:
    """The elements of all results one after another."""

    def merged(data: Any) -> Any:
        return data.reshape((data.shape[0] * data.shape[1], *data.shape[2:]))

    def shifted(index: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
        steps = np.repeat(arange(rows) * size, len(index))
        tiled = np.tile(index, rows)
        return np.where(tiled < 0, tiled, tiled + steps)

    match node:
        case Flat():
            return replace(node, data=merged(node.data), rank=-1)  # type: ignore[no-any-return]
        case Live():
            return Live(merged(node.dead), _joined(node.content, rows))
        case Masked():
            return Masked(merged(node.null), _joined(node.content, rows), node.parameters)
        case Record():
            contents = tuple(_joined(content, rows) for content in node.contents)
            return replace(node, contents=contents, length=node.length * rows)  # type: ignore[no-any-return]
        case Regular():
            return replace(node, content=_joined(node.content, rows), length=node.length * rows)  # type: ignore[no-any-return]
        case List() if not isinstance(node, Jagged):
            counts = np.tile(np.diff(node.offsets.array), rows)
            return replace(node, offsets=offsets_of(counts), content=_joined(node.content, rows))  # type: ignore[no-any-return]
        case Indexed() | Option():
            index = shifted(node.index.array, _length(node.content))
            return replace(node, index=static(index), content=_joined(node.content, rows))  # type: ignore[no-any-return]
        case Union():
            tags, index = node.tags.array, node.index.array.copy()
            sizes = np.array([_length(content) for content in node.contents])
            index = np.tile(index, rows) + np.repeat(arange(rows), len(index)) * sizes[np.tile(tags, rows)]
            contents = tuple(_joined(content, rows) for content in node.contents)
            return replace(node, tags=static(np.tile(tags, rows)), index=static(index), contents=contents)  # type: ignore[no-any-return]
        case Constant():
            return replace(node, data=static(np.tile(node.data.array, rows)))  # type: ignore[no-any-return]
        case Empty():
            return node
    message = "a result of akjax.vmap cannot hold lists of run-time length or single records inside"
    raise StructureError(message)
