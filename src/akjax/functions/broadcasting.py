"""Functions of several arrays that are broadcast to each other: `where`, `broadcast_arrays`, `transform`."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import numpy as np

from ..algorithms.aligning import line_up
from ..algorithms.choosing import is_node, selected_inside, side_of, where, where_whole
from ..algorithms.elementwise import as_deep
from ..algorithms.runtime import depth_of, masked
from ..errors import StructureError
from ..highlevel.moving import Fixed, as_data, move, on_envelopes
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import is_traced, node_of, wrap
from ..highlevel.transforming import transform
from ..nodes.kinds import Flat, Masked, Node, Record
from ..nodes.walk import iterate, map_nodes
from ..registry import implements
from .lengths import live


@implements(ak.broadcast_arrays, np.broadcast_arrays, route="moves", live=True)
def _broadcast_arrays(*arrays: Any, depth_limit: int | None = None, **kwargs: Any) -> Any:
    if depth_limit is not None and any(map(live, arrays)):
        return _broadcast_to_depth(arrays, depth_limit, **kwargs)
    kwargs["depth_limit"] = depth_limit
    pieces = list(map(as_data, arrays))
    if any(map(live, arrays)) and kwargs.get("right_broadcast", True):
        given = [k for k, piece in enumerate(pieces) if isinstance(piece, ak.Array)]
        deep = as_deep([node_of(pieces[k]) for k in given])
        for k, node in zip(given, deep, strict=True):
            pieces[k] = wrap(node, pieces[k].behavior, pieces[k].attrs)
    return on_envelopes(lambda *pieces: move(ak.broadcast_arrays, *pieces, **kwargs), *pieces)


def _broadcast_to_depth(arrays: Any, depth_limit: int, *, right_broadcast: bool = True, **kwargs: Any) -> Any:
    """What is below the limit keeps its own selection, as in records."""
    if not kwargs.pop("left_broadcast", True) or kwargs.pop("broadcast_parameters_rule", "one_to_one") != "one_to_one":
        message = (
            "ak.broadcast_arrays with a depth_limit after a selection by traced values takes no left_broadcast=False "
            "and no other broadcast_parameters_rule than 'one_to_one'"
        )
        raise StructureError(message)
    return list(ak.unzip(ak.zip(arrays, depth_limit, right_broadcast=right_broadcast, **kwargs)))


def _may_be_missing(value: Any) -> bool:
    return is_traced(value) and any(isinstance(n, Masked) for n in iterate(node_of(value)))


def _where_missing(condition: Any, x: Any, y: Any, kwargs: dict[str, Any]) -> Any:
    """A choice is missing where the chosen value is, whatever the other one."""
    missing = [ak.is_none(v, axis=-1) if isinstance(v, ak.Array) else False for v in (x, y)]
    values = ak.where(condition, _all_there(x), _all_there(y), **kwargs)
    return ak.mask(values, ak.where(condition, *missing), valid_when=False)


def _all_there(value: Any) -> Any:
    """The values of an array, whatever stands where one is missing."""
    if not _may_be_missing(value):
        return value

    def bare(n: Node) -> Node | None:
        n = masked(n)
        if not isinstance(n, Masked | Record):
            return None
        if isinstance(n, Record) or not isinstance(n.content, Flat) or np.ndim(n.content.data) > 1:
            message = (
                "ak.where of lists or records that are missing at run time is not supported yet: "
                "choose between their fields or numbers"
            )
            raise StructureError(message)
        return n.content

    return wrap(map_nodes(bare, node_of(value)), value.behavior, value.attrs)


def check_condition(name: str, condition: Any) -> None:
    """Raise Awkward's class of error for a single traced condition, a JAX scalar or a row of a flat array."""
    if isinstance(condition, jax.Array | Flat) and not condition.shape:
        message = (
            f"{name} takes an array of conditions, not a single traced one: choose between whole arrays with "
            "jax.lax.cond(condition, lambda: x, lambda: y), or give each element the condition, "
            "ak.broadcast_arrays(condition, x)[0]"
        )
        raise TypeError(message)


@implements(ak.where, np.where, route="kernel", live=True)
def _where(condition: Any, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 2:
        message = "ak.where(condition) gives the positions where a condition holds: how many is known only at run time"
        raise StructureError(message)
    x, y = args
    arrays = [value for value in (condition, x, y) if isinstance(value, ak.Array)]
    several = [_operand(value) for value in (condition, x, y)]
    check_condition("ak.where", several[0])
    known = not is_traced(condition) and not isinstance(condition, jax.core.Tracer)
    beside_live = is_node(several[0]) and any(map(live, (x, y)))
    if known and beside_live:
        # a known condition speaks of rows, or lists, by their position; where it does not fit, values are lost, not it
        sides = [k for k in (1, 2) if is_node(several[k])]
        nodes = [*(several[k] for k in sides), several[0]]
        for k, node in zip((*sides, 0), line_up(nodes, depth_of(several[0]) + 1, judged=len(sides)), strict=True):
            several[k] = node
    booleans_join = kwargs.get("mergebool", True)
    if is_node(several[0]) and selected_inside(*several):
        return wrap(
            where_whole(several[0], several[1], several[2], booleans_join), ak_behavior(arrays), ak_attrs(arrays)
        )
    if any(map(_may_be_missing, args)):
        return _where_missing(condition, x, y, kwargs)
    if known and not beside_live:
        return on_envelopes(lambda c, a, b: move(ak.where, Fixed(c), as_data(a), as_data(b), **kwargs), condition, x, y)
    chosen = where(several[0], side_of(several[1]), side_of(several[2]), booleans_join)
    return wrap(chosen, ak_behavior(arrays), ak_attrs(arrays))


def _operand(value: Any) -> Any:
    if isinstance(value, ak.Array):
        return node_of(value)
    if isinstance(value, jax.Array | np.ndarray) and np.ndim(value):
        return Flat(value)
    if isinstance(value, list | tuple):
        return node_of(ak.Array(value))
    return value


@implements(ak.transform, route="composed", live=True)
def _transform(transformation: Any, array: Any, *more: Any, **kwargs: Any) -> Any:
    return transform(transformation, array, *more, **kwargs)
