"""Reducers: the structure of the result is Awkward's, the numbers come from segment kernels."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np

from .. import _compat
from ..algorithms.positions import positions
from ..algorithms.reducing import reduce
from ..errors import StructureError
from ..highlevel.state import node_of, wrap
from ..nodes.kinds import Flat, List, Node, Record, Row, Union
from ..nodes.moving import carry, offsets_of
from ..nodes.static import arange
from ..nodes.walk import has_run_time_structure, iterate, map_flat, map_nodes
from ..registry import implements
from ..structure.from_layout import from_layout
from ..structure.to_layout import stand_in

_FOR_NUMPY = ("sum", "prod", "any", "all", "min", "max", "argmin", "argmax", "count_nonzero")
_DIFFERENTIABLE = ("sum", "prod", "min", "max")
_NAN = ("nansum", "nanprod", "nanmin", "nanmax", "nanargmin", "nanargmax")


def positional(array: Any, axis: Any) -> Any:
    """An axis as a number; a named one is looked up."""
    if isinstance(axis, str):
        return array.named_axis[axis]
    return axis


def reduce_array(function: Any, array: Any, axis: Any, kwargs: dict[str, Any]) -> Any:
    """Apply one of Awkward's reducers to a traced array."""
    name = function.__name__
    node = node_of(array)
    if isinstance(node, Row):
        message = f"cannot call ak.{name} on a single record: take its fields"
        raise TypeError(message)
    stand = ak.Array(stand_in(node), behavior=array.behavior, attrs=array.attrs)
    outcome = function(stand, axis=axis, **kwargs)
    if name == "count" and not has_run_time_structure(node):
        return outcome
    keepdims = kwargs.get("keepdims", False)
    mask_identity = kwargs.get("mask_identity")
    if mask_identity is None:
        mask_identity = name in ("min", "max", "argmin", "argmax")
    axis = positional(array, axis)
    if any(isinstance(n, Record | Union) for n in iterate(node)):
        if axis is None:
            return reduce_array(function, ak.flatten(array, axis=None), None, kwargs)
        return _by_overload(function, array, node, axis, keepdims, mask_identity)
    if _initial(kwargs) is not None:
        return _with_initial(function, array, axis, kwargs)
    result = reduce(name, [node], axis, keepdims, mask_identity, _low_level(outcome))
    return _wrapped(result, outcome)


def _low_level(outcome: Any) -> Any:
    return outcome.layout if isinstance(outcome, ak.Array) else outcome


def _wrapped(result: Any, outcome: Any) -> Any:
    if isinstance(outcome, ak.Array):
        return wrap(result, outcome.behavior, outcome.attrs)
    return result


def _initial(kwargs: dict[str, Any]) -> Any:
    return kwargs.get("initial")


def _with_initial(function: Any, array: Any, axis: Any, kwargs: dict[str, Any]) -> Any:
    """`initial` of min and max: a bound the result does not pass."""
    initial = kwargs["initial"]
    bound = np.maximum if function is ak.max else np.minimum
    rest = {key: value for key, value in kwargs.items() if key not in ("initial", "mask_identity")}
    masked = kwargs.get("mask_identity")
    plain = reduce_array(function, array, axis, {**rest, "mask_identity": True if masked is None else masked})
    return plain if plain is None else bound(plain, initial)


def _by_overload(function: Any, array: Any, node: Node, axis: int, keepdims: bool, mask_identity: bool) -> Any:
    """Records with a reducer of their own: grouped along the axis and handed to it."""
    if has_run_time_structure(node):
        message = f"ak.{function.__name__} of records after a selection by traced values is not supported yet: reduce their fields"
        raise StructureError(message)
    records: list[Node] = []

    def cut(n: Node) -> Node | None:
        if isinstance(n, Record):
            records.append(n)
            return Flat(arange(n.length))
        return None

    numbers = map_nodes(cut, node)
    if len(records) != 1:
        message = f"ak.{function.__name__} cannot reduce unions inside a transformation"
        raise StructureError(message)
    (record,) = records
    name = (record.parameters or {}).get("__record__")
    overload = _compat.record_reducer(function, name, array.behavior)
    if overload is None:
        message = f"no ak.{function.__name__} overloads for custom types: {name or 'record'}"
        raise TypeError(message)
    shape = from_layout(ak.to_layout(ak.sum(ak.Array(stand_in(numbers)), axis=axis, keepdims=keepdims)))
    inside, outside = positions(numbers), positions(shape)
    where = list(inside.of)
    axis = axis if axis >= 0 else axis + len(where)
    if keepdims:
        where[axis] = np.zeros(len(inside.rows), dtype=np.int64)
    else:
        del where[axis]
    from ..algorithms.positions import match

    parents = match(where, outside.of)
    order = np.argsort(parents, kind="stable")
    groups = List(
        offsets_of(np.bincount(parents, minlength=len(outside.rows))), carry(record, inside.rows[order])
    )
    reduced = overload(wrap(groups, array.behavior), mask_identity)
    filled = map_flat(lambda flat: node_of(reduced), shape)  # type: ignore[arg-type, return-value]
    return wrap(filled, array.behavior, array.attrs)


def _register(name: str) -> None:
    function = getattr(ak, name)

    def call(array: Any, axis: Any = None, **kwargs: Any) -> Any:
        return reduce_array(function, array, axis, kwargs)

    also = [getattr(np, name)] if name in _FOR_NUMPY else []
    implements(function, *also, route="kernel", live=True, differentiable=name in _DIFFERENTIABLE)(call)


for _name in ("count", *_FOR_NUMPY):
    _register(_name)


def _register_nan(name: str) -> None:
    plain = getattr(ak, name.removeprefix("nan"))
    function = getattr(ak, name)

    def call(array: Any, axis: Any = None, **kwargs: Any) -> Any:
        return plain(ak.nan_to_none(array), axis=axis, **kwargs)

    implements(function, getattr(np, name), route="composed", live=True, differentiable="arg" not in name)(call)


for _name in _NAN:
    _register_nan(_name)
