"""Elementwise functions with broadcasting: `where`, `broadcast_arrays`, `mask`, the `*_like`s, `transform`."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.elementwise import EmptyLeaf, combine
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.moving import Fixed, as_data, move, on_envelopes
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import is_traced, node_of, wrap
from ..highlevel.transforming import transform
from ..nodes.kinds import Flat, Node
from ..nodes.walk import has_records, map_flat
from ..registry import implements
from ..structure.to_layout import stand_in


@implements(ak.broadcast_arrays, np.broadcast_arrays, route="moves", live=True)
def _broadcast_arrays(*arrays: Any, **kwargs: Any) -> Any:
    return on_envelopes(lambda *pieces: move(ak.broadcast_arrays, *map(as_data, pieces), **kwargs), *arrays)


@implements(ak.where, np.where, route="kernel", live=True)
def _where(condition: Any, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 2:
        message = "ak.where(condition) gives the positions where a condition holds: how many is known only at run time"
        raise StructureError(message)
    x, y = args
    if not is_traced(condition) and not isinstance(condition, jax.core.Tracer):
        return on_envelopes(lambda c, a, b: move(ak.where, Fixed(c), as_data(a), as_data(b), **kwargs), condition, x, y)
    return on_envelopes(_select, condition, x, y)


def _select(condition: Any, x: Any, y: Any) -> Any:
    """Choose between two arrays by traced booleans."""
    inputs = [_operand(value) for value in (condition, x, y)]
    nodes = [value for value in inputs if isinstance(value, Node.__args__)]  # type: ignore[attr-defined]

    def leaf(*buffers: Any) -> Any:
        remaining = iter(buffers)
        test, one, two = (next(remaining) if isinstance(v, Node.__args__) else v for v in inputs)  # type: ignore[attr-defined]
        dtype = canonical(np.result_type(_scalar_type(one), _scalar_type(two)))
        return jnp.where(jnp.asarray(test, bool), jnp.asarray(one, dtype), jnp.asarray(two, dtype))

    arrays = [value for value in (x, y, condition) if isinstance(value, ak.Array)]
    behavior, attrs = ak_behavior(arrays), ak_attrs(arrays)
    records = any(has_records(node) for node in nodes)
    try:
        (result,) = combine(leaf, nodes, allow_records=True, fast=not records)
    except EmptyLeaf:
        values = [ak.Array(stand_in(v)) if isinstance(v, Node.__args__) else _known(v) for v in inputs]  # type: ignore[attr-defined]
        return ak.where(*values)
    return wrap(result, behavior, attrs)


def _operand(value: Any) -> Any:
    if isinstance(value, ak.Array):
        return node_of(value)
    if isinstance(value, jax.Array | np.ndarray) and np.ndim(value):
        return Flat(value)
    if isinstance(value, list | tuple):
        return node_of(ak.Array(value))
    return value


def _scalar_type(value: Any) -> Any:
    if isinstance(value, jax.Array) and value.ndim == 0 and value.weak_type:
        return {"b": np.bool_(False), "i": 0, "f": 0.0, "c": 0j}[value.dtype.kind]
    return value if type(value) in (bool, int, float, complex) else np.dtype(value.dtype)


def _known(value: Any) -> Any:
    return np.zeros((), value.dtype)[()] if isinstance(value, jax.Array) else value


def _filled(array: Any, value: Any, dtype: Any) -> Any:
    """The structure of an array over one number."""

    def fill(flat: Flat) -> Node:
        kind = flat.data.dtype if dtype is None else canonical(np.dtype(dtype))
        # computed from the buffer's shape alone: nothing of its values enters the program
        return Flat(jnp.broadcast_to(jnp.asarray(value).astype(kind), np.shape(flat.data)), flat.parameters)

    node = node_of(array)
    return wrap(map_flat(fill, node), array.behavior, array.attrs)


@implements(ak.zeros_like, np.zeros_like, route="kernel", live=True)
def _zeros_like(array: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    return _filled(array, 0, dtype)


@implements(ak.ones_like, np.ones_like, route="kernel", live=True)
def _ones_like(array: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    return _filled(array, 1, dtype)


@implements(ak.full_like, np.full_like, route="kernel", live=True)
def _full_like(array: Any, fill_value: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    if dtype is None:
        zeros = ak.Array(stand_in(node_of(array)))
        known = fill_value if not isinstance(fill_value, jax.Array) else np.zeros((), fill_value.dtype)[()]
        kinds = {str(ak.type(ak.full_like(zeros, known)).content)}
        if kinds != {str(ak.type(zeros).content)}:
            dtype = _scalar_type(fill_value) if isinstance(fill_value, jax.Array) else np.asarray(fill_value).dtype
    return _filled(array, fill_value, dtype)


@implements(ak.values_astype, route="kernel", live=True)
def _values_astype(array: Any, to: Any, **kwargs: Any) -> Any:
    def cast(flat: Flat) -> Node:
        if flat.words is not None:
            message = "64-bit integers that do not fit 32 bits need jax_enable_x64 to be converted: switch it on"
            raise TypeError(message)
        return Flat(jnp.asarray(flat.data).astype(canonical(np.dtype(to))), flat.parameters)

    return wrap(map_flat(cast, node_of(array)), array.behavior, array.attrs)


@implements(ak.nan_to_num, np.nan_to_num, route="kernel", live=True)
def _nan_to_num(array: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None, **kw: Any) -> Any:
    def replaced(flat: Flat) -> Node:
        if np.dtype(flat.data.dtype).kind not in "fc":
            return flat
        return Flat(jnp.nan_to_num(flat.data, nan=nan, posinf=posinf, neginf=neginf), flat.parameters)

    for value in (nan, posinf, neginf):
        if isinstance(value, ak.Array):
            message = "ak.nan_to_num takes numbers for nan, posinf and neginf on traced arrays: use ak.where for arrays"
            raise TypeError(message)
    return wrap(map_flat(replaced, node_of(array)), array.behavior, array.attrs)


@implements(ak.isclose, np.isclose, route="kernel", live=True, differentiable=False)
def _isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, **kwargs: Any) -> Any:
    close = abs(a - b) <= (atol + rtol * abs(b))
    same = close | (a == b)
    return same | ((a != a) & (b != b)) if equal_nan else same


@implements(ak.transform, route="composed", live=True)
def _transform(transformation: Any, array: Any, *more: Any, **kwargs: Any) -> Any:
    return transform(transformation, array, *more, **kwargs)
