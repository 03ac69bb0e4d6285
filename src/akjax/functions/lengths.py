"""Lengths, and lists taken apart: `num`, `flatten`, `ravel`, `concatenate`."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np

from ..algorithms.reducing import reduce, skeleton
from ..algorithms.runtime import depth_of, strip
from ..errors import StructureError
from ..highlevel.moving import as_data, move
from ..highlevel.state import is_traced, node_of, wrap
from ..nodes.kinds import Flat, List, Live, Masked, Node, Option, Record
from ..nodes.moving import carry, project
from ..nodes.walk import has_run_time_structure
from ..registry import implements
from ..structure.to_layout import stand_in


def live(value: Any) -> bool:
    """Whether a traced array has run-time structure."""
    return is_traced(value) and has_run_time_structure(node_of(value))


@implements(ak.num, route="kernel", live=True, differentiable=False)
def _num(array: Any, axis: int = 1, *, highlevel: bool = True, behavior: Any = None, attrs: Any = None) -> Any:
    if not live(array):
        return move(ak.num, array, axis=axis, behavior=behavior, attrs=attrs)
    node = node_of(array)
    axis = axis if axis >= 0 else axis + depth_of(strip(node)[0]) + 1
    if axis == 0:
        if not isinstance(node, Live):
            return node.length
        zeros = Live(node.dead, Flat(np.zeros(node.length, np.int8)))
        return reduce("count", [zeros], None, False, False, np.int64(0))
    if isinstance(project(node.content if isinstance(node, Live) else node), Record):
        return ak.zip(dict(zip(ak.fields(array), [_num(field, axis) for field in ak.unzip(array)], strict=True)))
    bare = skeleton(node, axis)
    outcome = ak.to_layout(ak.count(ak.Array(stand_in(bare)), axis=axis))
    counted = reduce("count", [bare], axis, False, False, outcome)
    return wrap(counted, array.behavior if behavior is None else behavior)


@implements(ak.flatten, route="moves", live=True)
def _flatten(array: Any, axis: Any = 1, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.flatten, array, axis=axis, **kwargs)
    node = node_of(array)
    if axis is None:
        while depth_of(strip(node)[0]) > 0 or isinstance(node, Masked):
            node = _join(node)
        return wrap(_drop(node), array.behavior, array.attrs)
    depth = depth_of(strip(node)[0])
    axis = axis if axis >= 0 else axis + depth + 1
    if axis == 0:
        return wrap(_drop(node), array.behavior, array.attrs)
    if axis != 1:
        message = "ak.flatten over an inner axis after a selection by traced values is not supported yet"
        raise StructureError(message)
    return wrap(_join(node), array.behavior, array.attrs)


@implements(ak.ravel, route="moves", live=True)
def _ravel(array: Any, **kwargs: Any) -> Any:
    return _flatten(array, None, **kwargs) if live(array) else move(ak.ravel, array, **kwargs)


def _drop(node: Node) -> Node:
    """Missing values of a flat array gone."""
    if isinstance(node, Live):
        inner = _drop(node.content)
        if isinstance(inner, Live):
            return Live(_either(node.dead, inner.dead), inner.content)
        if inner is not node.content:
            message = "dropping missing values after a selection by traced values is not supported yet"
            raise StructureError(message)
        return node
    if isinstance(node, Masked):
        return Live(node.null, node.content)
    if isinstance(node, Option):
        return carry(node.content, node.index.array[node.index.array >= 0])
    return node


def _either(one: Any, two: Any) -> Any:
    import jax.numpy as jnp

    return jnp.maximum(one, two)


def _join(node: Node) -> Node:
    """The lists of an array joined, with what exists of them."""
    from ..algorithms.elementwise import dead_below
    from ..algorithms.runtime import as_list

    dead = None
    while isinstance(node, Live | Masked):
        dead = dead_below(node, dead)
        node = node.content
    lists = as_list(project(node))
    if not isinstance(lists, List):
        message = "ak.flatten of lists that are missing, after a selection by traced values, is not supported yet"
        raise StructureError(message)
    below = dead_below(lists, dead)
    content = lists.content
    if isinstance(content, Live):
        below = content.dead if below is None else _either(below, content.dead)
        content = content.content
    return content if below is None else Live(below, content)


@implements(ak.concatenate, np.concatenate, route="moves")
def _concatenate(arrays: Any, axis: int = 0, **kwargs: Any) -> Any:
    pieces = [as_data(piece) for piece in arrays] if isinstance(arrays, list | tuple) else arrays
    return move(ak.concatenate, pieces, axis=axis, **kwargs)



