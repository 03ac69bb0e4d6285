"""Missing values: made, asked for, filled, dropped."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms import selecting
from ..algorithms.conforming import conformed
from ..algorithms.elementwise import guarded, values_of
from ..algorithms.numbering import note_negation
from ..algorithms.runtime import alive, as_list, as_regular, at_run_time, depth_of, either, hide, masked
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.moving import Fixed, as_data, move, on_envelopes
from ..highlevel.state import is_traced, node_of, wrap
from ..nodes.kinds import Flat, List, Live, Masked, Node, Record, Regular, replace
from ..nodes.moving import project
from ..nodes.walk import iterate, map_nodes
from ..registry import BOOLEANS, implements
from ..structure.to_layout import stand_in
from .broadcasting import check_condition
from .lengths import live


def _run_time_missing(array: Any) -> bool:
    return is_traced(array) and any(isinstance(n, Masked | Live) for n in iterate(node_of(array)))


def _is_at(node: Node, axis: int | None, depth: int) -> bool:
    """Whether an axis (None: every one) is that of a node's own elements; a negative one counts from "
    "below."""
    return axis is None or axis == depth or axis + depth_of(node) + 1 == 0


@implements(ak.mask, route="kernel", live=True)
def _mask(array: Any, mask: Any, *, valid_when: bool = True, **kwargs: Any) -> Any:
    if not is_traced(mask) and not isinstance(mask, jax.core.Tracer) and not live(array):
        return on_envelopes(lambda a: move(ak.mask, a, Fixed(mask), valid_when=valid_when, **kwargs), array)
    check_condition("ak.mask", node_of(mask) if isinstance(mask, ak.Array) else mask)
    condition = mask if isinstance(mask, ak.Array) else ak.Array(mask)
    if not valid_when:
        condition = ~condition
    node = node_of(array) if isinstance(array, ak.Array) else Flat(jnp.asarray(array))
    node, condition = selecting.fitted(node, node_of(condition))
    hidden = selecting.mask(node, selecting.read(condition))
    return wrap(hidden, getattr(array, "behavior", None), getattr(array, "attrs", None))


@implements(ak.is_none, route="kernel", live=True, no_gradient=BOOLEANS)
def _is_none(array: Any, axis: int = 0, **kwargs: Any) -> Any:
    if not _run_time_missing(array):
        return move(ak.is_none, array, axis=axis, **kwargs)
    node = node_of(array)
    ak.is_none(ak.Array(stand_in(node)), axis=axis)  # Awkward's error for an axis that is not there
    return wrap(_missing(node, axis, 0), array.behavior, array.attrs)


def _missing(node: Node, axis: int, depth: int) -> Node:
    node = as_regular(masked(node))
    match node:
        case Live():
            return Live(node.dead, _missing(node.content, axis, depth))
        case Record() if depth == 0 and _is_at(node, axis, depth):  # further inside Awkward asks each field
            return Flat(np.zeros(node.length, dtype=bool))
        case Record():
            contents = tuple(_missing(content, axis, depth) for content in node.contents)
            return replace(node, contents=contents, parameters=None)  # type: ignore[no-any-return]
        case Masked() if _is_at(node, axis, depth):
            there = alive(node.null)
            return Flat(note_negation(there, ~there))
        case _ if _is_at(node, axis, depth):
            return Flat(np.zeros(node.length, dtype=bool))
        case List() | Regular():
            return replace(node, content=_missing(node.content, axis, depth + 1), parameters=None)  # type: ignore[no-any-return]
        case Masked():
            return replace(node, content=_missing(node.content, axis, depth))  # type: ignore[no-any-return]
    message = "ak.is_none of unions after a selection by traced values is not supported yet: take a field first"
    raise StructureError(message)


@implements(ak.fill_none, route="kernel", live=True)
def _fill_none(array: Any, value: Any, axis: Any = -1, **kwargs: Any) -> Any:
    if not _run_time_missing(array):
        return move(ak.fill_none, array, as_data(value), axis=axis, **kwargs)
    if np.ndim(value) or isinstance(value, str | bytes | list):
        message = "values that are missing at run time can be filled with one number only: use ak.where for arrays"
        raise StructureError(message)
    node = node_of(array)
    ak.fill_none(ak.Array(stand_in(node)), 0, axis=axis)  # Awkward's error for an axis that is not there
    return wrap(_fill(node, value, axis, 0), array.behavior, array.attrs)


def _fill(node: Node, value: Any, axis: Any, depth: int) -> Node:
    node = masked(node)
    match node:
        case Masked() if _is_at(node, axis, depth):
            return _filled(_fill(node.content, value, axis, depth), node.null, value)
        case List() | Regular():
            return replace(node, content=_fill(node.content, value, axis, depth + 1))  # type: ignore[no-any-return]
        case Live() | Masked():
            return replace(node, content=_fill(node.content, value, axis, depth))  # type: ignore[no-any-return]
        case Record():
            contents = tuple(_fill(content, value, axis, depth) for content in node.contents)
            return replace(node, contents=contents)  # type: ignore[no-any-return]
    return node


def _filled(content: Node, null: Any, value: Any) -> Node:
    content = project(content)
    if not isinstance(content, Flat) or np.ndim(content.data) != 1:
        message = (
            "records and lists that are missing at run time cannot be filled: fill their fields, or drop "
            "them with ak.drop_none"
        )
        raise StructureError(message)
    data = values_of(content)
    kind = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype
    dtype = canonical(np.result_type(np.dtype(data.dtype), kind))
    data = guarded(jnp.asarray(data), null, 0.5).astype(dtype)
    return Flat(jnp.where(alive(null), data, jnp.asarray(value, dtype)), content.parameters)


@implements(ak.drop_none, route="kernel", live=True)
def _drop_none(array: Any, axis: Any = None, **kwargs: Any) -> Any:
    if not _run_time_missing(array):
        return move(ak.drop_none, array, axis=axis, **kwargs)
    node = node_of(array)
    asked = ak.drop_none(ak.Array(stand_in(node)), axis=axis)  # Awkward's errors, and its type
    return wrap(conformed(_drop(node, axis, 0), asked.layout), array.behavior, array.attrs)


def _drop(node: Node, axis: int | None, depth: int) -> Node:
    """What is missing on the axis becomes what does not exist."""
    dead = node.dead if isinstance(node, Live) else None
    content = masked(node.content if isinstance(node, Live) else node)
    if isinstance(content, Masked) and _is_at(content, axis, depth):
        dead, content = either(dead, content.null), content.content
    content = _drop_below(content, axis, depth)
    return content if dead is None else Live(dead, content)


def _drop_below(node: Node, axis: int | None, depth: int) -> Node:
    node = masked(node)
    match node:
        case Masked():
            return replace(node, content=_drop_below(node.content, axis, depth))  # type: ignore[no-any-return]
        case Record():
            if any(isinstance(masked(c), Masked) and _is_at(c, axis, depth) for c in node.contents):
                message = (
                    "ak.drop_none cannot drop from single fields of a record, whose lengths would differ: "
                    "select the records"
                )
                raise StructureError(message)
            contents = tuple(_drop_below(content, axis, depth) for content in node.contents)
            return replace(node, contents=contents)  # type: ignore[no-any-return]
    lists: Any = as_list(node)
    if not isinstance(lists, List):
        return node
    content = _drop(lists.content, axis, depth + 1)
    return node if content is lists.content else replace(lists, content=content)


@implements(ak.nan_to_none, route="kernel", live=True)
def _nan_to_none(array: Any, **kwargs: Any) -> Any:
    def hidden(n: Node) -> Node | None:
        n = as_regular(n)
        match n:
            case Masked():
                return hide(map_nodes(hidden, n.content), n.null, n.parameters)
            case Regular():
                return replace(n, content=map_nodes(hidden, n.content))  # type: ignore[no-any-return]
            case Flat() if np.dtype(n.data.dtype).kind == "f":
                return Masked(jnp.where(jnp.isnan(n.data), jnp.float32(1), jnp.float32(0)), n)
        return None

    return wrap(map_nodes(hidden, at_run_time(node_of(array))), array.behavior, array.attrs)
