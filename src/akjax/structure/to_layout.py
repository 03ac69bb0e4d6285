"""Nodes → Awkward layout, with real data (leaving a transformation) or with a stand-in for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np

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
)
from ..nodes.moving import carry, option
from ..nodes.static import static
from ..nodes.walk import children, map_nodes, rebuild
from .words import joined

_C = ak.contents
_Index = ak.index.Index64
_FROM_OUTSIDE_NUMPY = 2  # `np.dtype.isbuiltin` of dtypes that other libraries define


def envelope_layout(node: Node, leaf: Callable[[Flat], Any]) -> Any:
    """The layout of the envelope: elements that may not exist are there, missing values are option-type.

    Args:
        node: the nodes.
        leaf: gives the NumPy buffer of each node of numbers.

    Returns:
        An `ak.contents.Content` (or an `ak.record.Record` for a single row).
    """
    parameters = node.parameters
    match node:
        case Empty():
            return _C.EmptyArray()
        case Flat():
            return _C.NumpyArray(leaf(node), parameters=parameters)
        case Constant():
            return _C.NumpyArray(node.data.array, parameters=parameters)
        case Regular():
            content = envelope_layout(node.content, leaf)
            return _C.RegularArray(content, node.size, node.length, parameters=parameters)
        case List():
            content = envelope_layout(node.content, leaf)
            return _C.ListOffsetArray(_Index(node.offsets.array), content, parameters=parameters)
        case Indexed():
            content = envelope_layout(node.content, leaf)
            return _C.IndexedArray.simplified(_Index(node.index.array), content, parameters=parameters)
        case Option(unmasked=True):
            return _C.UnmaskedArray.simplified(envelope_layout(node.content, leaf), parameters=parameters)
        case Option():
            content = envelope_layout(node.content, leaf)
            return _C.IndexedOptionArray.simplified(_Index(node.index.array), content, parameters=parameters)
        case Masked():
            return _C.UnmaskedArray.simplified(envelope_layout(node.content, leaf), parameters=parameters)
        case Live():
            return envelope_layout(node.content, leaf)
        case Record():
            contents = [envelope_layout(content, leaf) for content in node.contents]
            fields = None if node.fields is None else list(node.fields)
            return _C.RecordArray(contents, fields, node.length, parameters=parameters)
        case Union():
            unioned = [envelope_layout(content, leaf) for content in node.contents]
            tags = ak.index.Index8(node.tags.array)
            # missing values in some of the contents belong to the union as a whole
            mixed = len({content.is_option for content in unioned}) > 1
            make = _C.UnionArray.simplified if mixed else _C.UnionArray
            return make(tags, _Index(node.index.array), unioned, parameters=parameters)
        case Row():
            return ak.record.Record(envelope_layout(node.content, leaf), 0)


def awkward_dtype(dtype: Any) -> Any:
    """The dtype itself, or a wider one where JAX has a dtype that Awkward has not (bfloat16, int4)."""
    if np.dtype(dtype).isbuiltin != _FROM_OUTSIDE_NUMPY:
        return dtype
    return np.dtype(np.float32 if jax.numpy.issubdtype(dtype, np.floating) else np.int32)


def stand_in(node: Node) -> Any:
    """The envelope with the true dtypes and all data zero: no memory, no values, every fact of type."""

    def zeros(flat: Flat) -> Any:
        # a buffer that `vmap` has taken the rows of has none left: one row stands for it
        shape = flat.shape or (1,)
        if flat.words is not None:
            return np.broadcast_to(np.zeros((), flat.words), shape)
        return np.broadcast_to(np.zeros((), awkward_dtype(flat.data.dtype)), shape)

    return envelope_layout(map_nodes(stood, node), zeros)


def stood(node: Node) -> Node | None:
    """Some lists in the place of lists of run-time length, for what does not depend on their lengths."""
    if not isinstance(node, Jagged):
        return None
    lists: Any = node.offsets
    return List(lists.stand_in, map_nodes(stood, node.content), node.parameters)


def concrete_layout(node: Node) -> Any:
    """The array itself, on the host: dead elements gone, missing values missing."""
    return envelope_layout(settle(map_nodes(_still, node)), host)


def _still(node: Node) -> Node | None:
    """Lists of run-time length whose boundaries are values by now."""
    if not isinstance(node, Jagged):
        return None
    lists: Any = node.offsets
    offsets = static(np.asarray(lists.offsets).astype(np.int64))
    return List(offsets, map_nodes(_still, node.content), node.parameters)


def host(flat: Flat) -> Any:
    """The buffer of a node of numbers as NumPy."""
    data = np.asarray(flat.data)
    return data.astype(awkward_dtype(data.dtype), copy=False) if flat.words is None else joined(data, flat.words)


def settle(node: Node) -> Node:
    """Run-time structure with known values made static: the one place where elements leave."""
    match node:
        case Live():
            alive = np.flatnonzero(np.asarray(node.dead) == 0)
            return settle(carry(node.content, alive))
        case List(content=Live() as live):
            alive = np.asarray(live.dead) == 0
            before = np.concatenate([[0], np.cumsum(alive)])
            offsets = before[node.offsets.array]
            content = settle(carry(live.content, np.flatnonzero(alive)))
            return List(static(offsets.astype(np.int64)), content, node.parameters)
        case Masked():
            missing = np.asarray(node.null) != 0
            index = np.where(missing, -1, np.arange(len(missing)))
            content = settle(carry(node.content, np.flatnonzero(~missing)))
            index[~missing] = np.arange(int((~missing).sum()))
            return option(index, content, node.parameters)
        case _:
            return rebuild(node, tuple(settle(child) for child in children(node)))  # type: ignore[no-any-return]
