"""Reducers: the structure of the result is Awkward's, the numbers come from segment kernels."""

from __future__ import annotations

import inspect
from typing import Any

import awkward as ak
import jax
import numpy as np

from .. import _compat
from ..algorithms.positions import positions
from ..algorithms.reducing import Reduction, places, reduce, unfolded
from ..errors import StructureError
from ..highlevel.state import node_of, wrap
from ..nodes.kinds import ONE_NUMBER, Flat, List, Node, Option, Record, Row, Union
from ..nodes.moving import carry, offsets_of
from ..nodes.static import arange
from ..nodes.walk import has_run_time_structure, iterate, map_flat, map_nodes
from ..registry import BOOLEANS, INTEGERS, implements
from ..structure.from_layout import from_layout
from ..structure.to_layout import stand_in

_NO_GRADIENT = {
    "all": BOOLEANS,
    "any": BOOLEANS,
    "argmax": INTEGERS,
    "argmin": INTEGERS,
    "count": INTEGERS,
    "count_nonzero": INTEGERS,
}
_OF_RESULTS = ("highlevel", "behavior", "attrs")


def positional(array: Any, axis: Any) -> Any:
    """An axis as a number; a name that is not known is left for Awkward to complain about."""
    return array.named_axis.get(axis, axis) if isinstance(axis, str) else axis


def reduce_array(function: Any, array: Any, axis: Any, kwargs: dict[str, Any]) -> Any:
    """Apply one of Awkward's reducers to a traced array."""
    name = function.__name__
    node = node_of(array)
    if isinstance(node, Flat) and not node.shape:
        raise TypeError(ONE_NUMBER)
    if isinstance(node, Row):
        message = f"cannot call ak.{name} on a single record: take its fields"
        raise TypeError(message)

    known = {
        key: np.zeros((), value.dtype)[()] if isinstance(value, jax.Array) else value for key, value in kwargs.items()
    }

    def ask(nodes: list[Node] | None) -> Any:
        (asked,) = [node] if nodes is None else nodes
        return function(like(array, asked), axis=axis, **known)

    if name == "count" and not has_run_time_structure(node):
        return ask(None)
    mask_identity = kwargs.get("mask_identity")
    if mask_identity is None:
        mask_identity = name in ("min", "max", "argmin", "argmax")
    keepdims, initial = kwargs.get("keepdims", False), kwargs.get("initial")
    reduction = Reduction(name, positional(array, axis), keepdims, mask_identity, initial=initial)
    if any(isinstance(n, Record | Union) for n in iterate(node)):
        ask(None)
        if axis is None and any(isinstance(n, Union) for n in iterate(node)):
            return reduce_array(function, ak.flatten(array, axis=None), None, kwargs)
        return _by_overload(function, array, node, reduction)
    return wrapped(*reduce(reduction, [node], ask))


def like(array: Any, node: Node) -> Any:
    """A high-level array of these nodes, without their values, that is like another in everything else."""
    return ak.Array(stand_in(node), behavior=array.behavior, attrs=array.attrs)


def wrapped(result: Any, outcome: Any) -> Any:
    """What a reduction gave, at high level as Awkward's own answer is."""
    if isinstance(outcome, ak.Array):
        return wrap(result, outcome.behavior, outcome.attrs)
    return result


def _by_overload(function: Any, array: Any, node: Node, reduction: Reduction) -> Any:
    """Records with a reducer of their own: grouped along the axis and handed to it."""
    if has_run_time_structure(node):
        message = (
            f"ak.{function.__name__} of records after a selection by traced values is not supported yet: "
            "reduce their fields"
        )
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
    axis, keepdims, mask = reduction.axis, reduction.keepdims, reduction.mask_identity
    total = ak.sum(like(array, numbers), axis=axis, keepdims=keepdims)
    inside = positions(numbers)
    if not isinstance(total, ak.Array):  # all records become one
        one = List(offsets_of(np.array([len(inside.rows)])), carry(record, inside.rows))
        return overload(wrap(one, array.behavior), mask)[0]
    shape = from_layout(total.layout)
    outside = positions(shape)
    if axis is None:
        parents = np.zeros(len(inside.rows), np.int64)
    else:
        parents, _, _ = places(inside, outside, axis if axis >= 0 else axis + len(inside.of), keepdims)
    order = np.argsort(parents, kind="stable")
    groups = List(offsets_of(np.bincount(parents, minlength=len(outside.rows))), carry(record, inside.rows[order]))
    reduced = overload(wrap(groups, array.behavior), mask)
    filled = map_flat(lambda flat: node_of(reduced), unfolded(shape))
    return wrap(filled, array.behavior, array.attrs)


def _register(name: str) -> None:
    function = getattr(ak, name)

    def call(array: Any, axis: Any = None, **kwargs: Any) -> Any:
        return reduce_array(function, array, axis, kwargs)

    implements(function, route="kernel", live=True, no_gradient=_NO_GRADIENT.get(name, ""))(call)


def _all_missing(node: Node) -> bool:
    """Whether it is known while tracing that there is nothing but missing numbers."""
    nodes = list(iterate(node))
    return any(isinstance(n, Option) for n in nodes) and not any(n.length for n in nodes if isinstance(n, Flat))


def register_nan(name: str) -> None:
    """`ak.nan<name>` is `ak.<name>` with NaN as missing values, and its own defaults."""
    plain, function = getattr(ak, name), getattr(ak, f"nan{name}")
    signature = inspect.signature(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        (_, array), *rest = bound.arguments.items()
        arguments = {key: value for key, value in rest if key not in _OF_RESULTS}
        if arguments.get("weight") is not None:
            arguments["weight"] = ak.nan_to_none(arguments["weight"])
        return plain(array if _all_missing(node_of(array)) else ak.nan_to_none(array), **arguments)

    implements(function, route="composed", live=True, no_gradient=_NO_GRADIENT.get(name, ""))(call)


# NumPy's names (np.sum, ...) arrive here too: Awkward's own implementations of them call ak.sum, ...
for _name in ("count", "sum", "prod", "any", "all", "min", "max", "argmin", "argmax", "count_nonzero"):
    _register(_name)
for _name in ("sum", "prod", "min", "max", "argmin", "argmax"):
    register_nan(_name)
for _other, _function in ((np.amax, np.max), (np.amin, np.min)):
    implements(_other, route="composed", live=True)(_function)
