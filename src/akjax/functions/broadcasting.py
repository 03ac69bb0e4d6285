"""Elementwise functions with broadcasting: `where`, `broadcast_arrays`, `mask`, the `*_like`s, `transform`."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.choosing import side_of, where
from ..algorithms.elementwise import combine
from ..algorithms.runtime import masked
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.moving import Fixed, as_data, move, on_envelopes
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import is_traced, node_of, wrap
from ..highlevel.transforming import transform
from ..nodes.kinds import Flat, Masked, Node, Record
from ..nodes.walk import iterate, map_flat, map_nodes
from ..registry import implements
from ..structure.to_layout import stand_in


@implements(ak.broadcast_arrays, np.broadcast_arrays, route="moves", live=True)
def _broadcast_arrays(*arrays: Any, **kwargs: Any) -> Any:
    return on_envelopes(lambda *pieces: move(ak.broadcast_arrays, *map(as_data, pieces), **kwargs), *arrays)


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


def _scalar_type(value: Any) -> Any:
    if isinstance(value, jax.Array) and value.ndim == 0 and value.weak_type:
        return {"b": np.bool_(False), "i": 0, "f": 0.0, "c": 0j}[value.dtype.kind]
    return value if type(value) in (bool, int, float, complex) else np.dtype(value.dtype)


def _filled(function: Any, array: Any, value: Any, dtype: Any) -> Any:
    """The structure of an array over one number; strings are structure, of which Awkward makes others."""

    def fill(n: Node) -> Node | None:
        if (n.parameters or {}).get("__array__") in ("string", "bytestring"):
            return node_of(function(ak.Array(stand_in(n)), dtype=dtype))
        if not isinstance(n, Flat):
            return None
        kind = n.data.dtype if dtype is None else canonical(np.dtype(dtype))
        # computed from the buffer's shape alone: nothing of its values enters the program
        return Flat(jnp.broadcast_to(jnp.asarray(value).astype(kind), np.shape(n.data)), n.parameters)

    return wrap(map_nodes(fill, node_of(array)), array.behavior, array.attrs)


@implements(ak.zeros_like, np.zeros_like, route="kernel", live=True)
def _zeros_like(array: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    return _filled(ak.zeros_like, array, 0, dtype)


@implements(ak.ones_like, np.ones_like, route="kernel", live=True)
def _ones_like(array: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    return _filled(ak.ones_like, array, 1, dtype)


@implements(ak.full_like, np.full_like, route="kernel", live=True)
def _full_like(array: Any, fill_value: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    if dtype is None:
        zeros = ak.Array(stand_in(node_of(array)))
        known = fill_value if not isinstance(fill_value, jax.Array) else np.zeros((), fill_value.dtype)[()]
        kinds = {str(ak.type(ak.full_like(zeros, known)).content)}
        if kinds != {str(ak.type(zeros).content)}:
            dtype = _scalar_type(fill_value) if isinstance(fill_value, jax.Array) else np.asarray(fill_value).dtype

    def filled(strings: Any, dtype: Any) -> Any:
        if isinstance(fill_value, jax.Array):
            message = "a traced number has no text to fill strings with"
            raise TypeError(message)
        return ak.full_like(strings, fill_value, dtype=dtype)

    return _filled(filled, array, fill_value, dtype)


@implements(ak.values_astype, route="kernel", live=True)
def _values_astype(array: Any, to: Any, **kwargs: Any) -> Any:
    def cast(flat: Flat) -> Node:
        if flat.words is not None:
            message = "64-bit integers that do not fit 32 bits need jax_enable_x64 to be converted: switch it on"
            raise TypeError(message)
        return Flat(jnp.asarray(flat.data).astype(canonical(np.dtype(to))), flat.parameters)

    return wrap(map_flat(cast, node_of(array)), array.behavior, array.attrs)


@implements(ak.nan_to_num, np.nan_to_num, route="kernel", live=True)
def _nan_to_num(
    array: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None, **kw: Any
) -> Any:
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
    def leaf(one: Any, two: Any) -> Any:
        return jnp.isclose(one, two, rtol=rtol, atol=atol, equal_nan=equal_nan)

    arrays = [value if isinstance(value, ak.Array) else ak.Array(np.reshape(value, -1)) for value in (a, b)]
    (close,) = combine(leaf, [node_of(array) for array in arrays], allow_records=True)
    return wrap(close, ak_behavior(arrays), ak_attrs(arrays))


@implements(ak.transform, route="composed", live=True)
def _transform(transformation: Any, array: Any, *more: Any, **kwargs: Any) -> Any:
    return transform(transformation, array, *more, **kwargs)
