"""Missing values: made, asked for, filled, dropped."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms import selecting
from ..algorithms.elementwise import guarded, values_of
from ..algorithms.runtime import alive, depth_of, strip
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.moving import Fixed, as_data, move, on_envelopes
from ..highlevel.state import is_traced, node_of, wrap
from ..nodes.kinds import Flat, List, Live, Masked, Node, Option, Record, Regular, replace
from ..nodes.moving import project
from ..nodes.walk import iterate, map_nodes
from ..registry import implements
from .broadcasting import _scalar_type


def _run_time_missing(array: Any) -> bool:
    return is_traced(array) and any(isinstance(n, Masked | Live) for n in iterate(node_of(array)))


@implements(ak.mask, route="kernel", live=True)
def _mask(array: Any, mask: Any, *, valid_when: bool = True, **kwargs: Any) -> Any:
    if not is_traced(mask) and not isinstance(mask, jax.core.Tracer):
        return on_envelopes(lambda a: move(ak.mask, a, Fixed(mask), valid_when=valid_when, **kwargs), array)
    condition = ak.Array(mask) if isinstance(mask, jax.Array) else mask
    if not valid_when:
        condition = ~condition
    wanted = node_of(condition)
    node = node_of(array) if isinstance(array, ak.Array) else Flat(jnp.asarray(array))
    hidden = selecting.mask(node, wanted, selecting.mask_of(wanted))
    return wrap(hidden, getattr(array, "behavior", None), getattr(array, "attrs", None))


@implements(ak.is_none, route="kernel", live=True, differentiable=False)
def _is_none(array: Any, axis: int = 0, **kwargs: Any) -> Any:
    if not _run_time_missing(array):
        return move(ak.is_none, array, axis=axis, **kwargs)
    node = node_of(array)
    axis = axis if axis >= 0 else axis + depth_of(strip(node)[0]) + 1
    return wrap(_missing(node, axis), array.behavior, array.attrs)


def _missing(node: Node, axis: int) -> Node:
    match node:
        case Live():
            return Live(node.dead, _missing(node.content, axis))
        case Masked() if axis == 0:
            below = _missing(node.content, 0)
            missing = ~alive(node.null)
            return Flat(missing if not isinstance(below, Flat) else missing | below.data)
        case Option() if axis == 0:
            return Flat(np.asarray(node.index.array < 0))
        case List() if axis > 0:
            return List(node.offsets, _missing(node.content, axis - 1))
        case Regular() if axis > 0:
            return Regular(_missing(node.content, axis - 1), node.size, node.length)
        case Masked():
            return replace(node, content=_missing(node.content, axis))  # type: ignore[no-any-return]
        case _ if axis == 0:
            return Flat(np.zeros(node.length, dtype=bool))
        case Flat() if axis < np.ndim(node.data):
            return Flat(np.zeros(node.data.shape[: axis + 1], dtype=bool))
    message = "ak.is_none of this array after a selection by traced values is not supported yet"
    raise StructureError(message)


@implements(ak.fill_none, route="kernel", live=True)
def _fill_none(array: Any, value: Any, axis: Any = -1, **kwargs: Any) -> Any:
    if not _run_time_missing(array):
        return move(ak.fill_none, array, as_data(value), axis=axis, **kwargs)
    if np.ndim(value) or isinstance(value, str | bytes | list):
        message = "values that are missing at run time can be filled with one number only: use ak.where for arrays"
        raise StructureError(message)
    node = node_of(array)
    filled = _fill(node, value, axis, depth_of(strip(node)[0]), 0)
    return wrap(filled, array.behavior, array.attrs)


def _fill(node: Node, value: Any, axis: Any, deepest: int, depth: int) -> Node:
    here = axis is None or (axis if axis >= 0 else axis + deepest + 1) == depth
    match node:
        case Masked() if here:
            return _filled(node.content, node.null, value)
        case Option() if here:
            content = _fill(node.content, value, axis, deepest, depth)
            spread = move(ak.fill_none, wrap(replace(node, content=content)), as_data(value), axis=0)
            return node_of(spread)
        case List() | Regular():
            return replace(node, content=_fill(node.content, value, axis, deepest, depth + 1))  # type: ignore[no-any-return]
        case Live() | Masked() | Option():
            return replace(node, content=_fill(node.content, value, axis, deepest, depth))  # type: ignore[no-any-return]
        case Record():
            contents = tuple(_fill(content, value, axis, deepest, depth) for content in node.contents)
            return replace(node, contents=contents)  # type: ignore[no-any-return]
        case _:
            inner = project(node)
            return node if inner is node else _fill(inner, value, axis, deepest, depth)


def _filled(content: Node, null: Any, value: Any) -> Node:
    content = project(content)
    if not isinstance(content, Flat) or np.ndim(content.data) != 1:
        message = "records and lists that are missing at run time cannot be filled yet: fill their fields, or reduce first"
        raise StructureError(message)
    data = values_of(content)
    dtype = canonical(np.result_type(np.dtype(data.dtype), _scalar_type(value)))
    data = guarded(jnp.asarray(data), null, 0.5).astype(dtype)
    return Flat(jnp.where(alive(null), data, jnp.asarray(value, dtype)), content.parameters)


@implements(ak.drop_none, route="kernel", live=True)
def _drop_none(array: Any, axis: Any = None, **kwargs: Any) -> Any:
    if not _run_time_missing(array):
        return move(ak.drop_none, array, axis=axis, **kwargs)
    if axis is not None:
        message = "ak.drop_none over one axis of values that are missing at run time is not supported yet: leave out axis"
        raise StructureError(message)

    def drop(n: Node) -> Node | None:
        if isinstance(n, Live) and isinstance(n.content, Masked):
            return Live(jnp.maximum(n.dead, n.content.null), map_nodes(drop, n.content.content))
        if isinstance(n, Masked):
            return Live(n.null, map_nodes(drop, n.content))
        return None

    return wrap(map_nodes(drop, node_of(array)), array.behavior, array.attrs)


@implements(ak.nan_to_none, route="kernel", live=True)
def _nan_to_none(array: Any, **kwargs: Any) -> Any:
    def hide(n: Node) -> Node | None:
        if isinstance(n, Flat) and np.ndim(n.data) == 1 and np.dtype(n.data.dtype).kind in "fc":
            return Masked(jnp.where(jnp.isnan(n.data), jnp.float32(1), jnp.float32(0)), n)
        return None

    return wrap(map_nodes(hide, node_of(array)), array.behavior, array.attrs)
