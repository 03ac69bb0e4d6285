"""Sorting within lists; gradients follow the moved values."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from ..algorithms.elementwise import values_of
from ..algorithms.positions import positions
from ..errors import StructureError
from ..highlevel.state import flat_state, node_of, wrap
from ..kernels.gather import take
from ..nodes.kinds import Flat, List, Node, replace
from ..nodes.walk import has_run_time_structure, iterate, map_flat
from ..registry import implements
from ..structure.from_layout import from_layout
from ..structure.to_layout import stand_in
from .reducers import positional


def _order(array: Any, axis: Any, ascending: bool, stable: bool, function: Any) -> tuple[Any, Any, Any, Any]:
    """Where each sorted element comes from, in the order of Awkward's result."""
    node = node_of(array)
    if has_run_time_structure(node):
        message = f"ak.{function.__name__} after a selection by traced values is not supported yet: sort before selecting"
        raise StructureError(message)
    stand = ak.Array(stand_in(node), behavior=array.behavior, attrs=array.attrs)
    outcome = function(stand, axis=axis, ascending=ascending, stable=stable)
    inside, outside = positions(node), positions(from_layout(outcome.layout))
    if inside.flat is None or len(inside.rows) == 0:
        return None, None, None, outcome
    axis = positional(array, axis)
    axis = axis if axis >= 0 else axis + len(inside.of)
    groups = _groups(inside.of, axis)
    data = jnp.asarray(values_of(inside.flat)).reshape(-1)
    data = data if len(inside.rows) == data.size and np.array_equal(inside.rows, np.arange(data.size)) else take(data, inside.rows)
    key = data.astype(jnp.int8) if data.dtype == bool else data
    if not ascending:
        key = ~key if jnp.issubdtype(key.dtype, jnp.integer) else -key
    order = jnp.lexsort((key, jnp.asarray(groups)))
    # the k-th element of a group in the result's own order
    slots = np.lexsort((outside.of[axis], _groups(outside.of, axis)))
    where = np.empty(len(slots), dtype=np.int64)
    where[slots] = np.arange(len(slots))
    return take(order, where), inside, data, outcome


def _groups(of: list[Any], axis: int) -> Any:
    """A number for each element, equal for those that are sorted together."""
    rest = [position for depth, position in enumerate(of) if depth != axis]
    number = np.zeros(len(of[0]), dtype=np.int64)
    for position in rest:
        number = number * (int(position.max(initial=0)) + 1) + position
    return np.unique(number, return_inverse=True)[1].astype(np.int32)


def _structured(outcome: Any, values: Any) -> Node:
    shape = from_layout(outcome.layout)

    def leaf(flat: Flat) -> Flat:
        return replace(flat, data=values.reshape(flat.data.shape))  # type: ignore[no-any-return]

    return map_flat(leaf, shape)


@implements(ak.sort, np.sort, route="kernel")
def _sort(array: Any, axis: Any = -1, *, ascending: bool = True, stable: bool = True, **kwargs: Any) -> Any:
    order, _, data, outcome = _order(array, axis, ascending, stable, ak.sort)
    if order is None:
        return outcome
    return wrap(_structured(outcome, jnp.take(data, order)), outcome.behavior, outcome.attrs)


@implements(ak.argsort, np.argsort, route="kernel", differentiable=False)
def _argsort(array: Any, axis: Any = -1, *, ascending: bool = True, stable: bool = True, **kwargs: Any) -> Any:
    order, inside, _, outcome = _order(array, axis, ascending, stable, ak.argsort)
    if order is None:
        return outcome
    axis = positional(array, axis)
    at = jnp.asarray(inside.of[axis if axis >= 0 else axis + len(inside.of)])[order]
    result = wrap(_structured(outcome, at), outcome.behavior, outcome.attrs)
    lists = [n.offsets for n in iterate(node_of(array)) if isinstance(n, List)]
    if lists:
        flat_state(result).memo["positions of"] = lists[-1]
    return result
