"""Functions of several arrays that are broadcast to each other: `where`, `broadcast_arrays`, `transform`."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import numpy as np

from ..algorithms.choosing import side_of, where
from ..algorithms.runtime import masked
from ..errors import StructureError
from ..highlevel.moving import Fixed, as_data, move, on_envelopes
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import is_traced, node_of, wrap
from ..highlevel.transforming import transform
from ..nodes.kinds import Flat, Masked, Node, Record
from ..nodes.walk import iterate, map_nodes
from ..registry import implements


@implements(ak.broadcast_arrays, np.broadcast_arrays, route="moves", live=True)
def _broadcast_arrays(*arrays: Any, **kwargs: Any) -> Any:
    return on_envelopes(lambda *pieces: move(ak.broadcast_arrays, *pieces, **kwargs), *map(as_data, arrays))


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
        if isinstance(n, Record) or not isinstance(n.content, Flat):
            message = (
                "ak.where of lists or records that are missing at run time is not supported yet: "
                "choose between their fields or numbers"
            )
            raise StructureError(message)
        return n.content

    return wrap(map_nodes(bare, node_of(value)), value.behavior, value.attrs)


@implements(ak.where, np.where, route="kernel", live=True)
def _where(condition: Any, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 2:
        message = "ak.where(condition) gives the positions where a condition holds: how many is known only at run time"
        raise StructureError(message)
    x, y = args
    if any(map(_may_be_missing, args)):
        return _where_missing(condition, x, y, kwargs)
    if not is_traced(condition) and not isinstance(condition, jax.core.Tracer):
        return on_envelopes(lambda c, a, b: move(ak.where, Fixed(c), as_data(a), as_data(b), **kwargs), condition, x, y)
    one, two = side_of(_operand(x)), side_of(_operand(y))
    chosen = where(_operand(condition), one, two, kwargs.get("mergebool", True))
    arrays = [value for value in (condition, x, y) if isinstance(value, ak.Array)]
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
