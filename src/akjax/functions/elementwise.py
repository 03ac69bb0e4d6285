"""Every number for itself: conversions, rounding, parts of complex numbers, arrays of one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..algorithms.elementwise import combine, values_of
from ..algorithms.runtime import is_text
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import node_of, wrap
from ..nodes.kinds import Constant, Flat, Node
from ..nodes.walk import map_nodes
from ..registry import BOOLEANS, CONSTANT, implements
from ..structure.from_layout import from_layout
from ..structure.to_layout import awkward_dtype, stand_in
from .reducers import like

# ------------------------------------------------------------------------------- rounding, parts


def _each(function: Callable[[Any], Any], array: Any, leaf: Callable[[Any], Any]) -> Any:
    """All numbers through `leaf`; dates, which are structure, through Awkward's own function."""
    node = node_of(array)
    outcome = function(like(array, node))  # Awkward's complaints, behavior and attributes

    def at(n: Node) -> Node | None:
        if isinstance(n, Flat):
            data = jnp.asarray(values_of(n))
            asked = function(ak.Array(np.zeros(1, awkward_dtype(data.dtype))))
            return Flat(leaf(data).astype(canonical(asked.layout.dtype)))
        if isinstance(n, Constant):
            return from_layout(function(ak.Array(stand_in(n))).layout)
        return None

    return wrap(map_nodes(at, node), outcome.behavior, outcome.attrs)


def _options(kwargs: dict[str, Any]) -> dict[str, Any]:
    """What a result at high level is made with."""
    return {key: value for key, value in kwargs.items() if key in ("behavior", "attrs")}


@implements(ak.round, route="kernel", live=True)
def _round(array: Any, decimals: int = 0, **kwargs: Any) -> Any:
    def rounded(data: Any) -> Any:
        if data.dtype.kind == "b":
            return data
        if data.dtype.kind in "iu" and decimals < 0:  # `jnp.round` has this for floating point only
            return jnp.round(data / 10**-decimals) * 10**-decimals
        return jnp.round(data, decimals)

    return _each(lambda x: ak.round(x, decimals, **_options(kwargs)), array, rounded)


@implements(ak.real, route="kernel", live=True)
def _real(array: Any, **kwargs: Any) -> Any:
    return _each(lambda x: ak.real(x, **_options(kwargs)), array, jnp.real)


@implements(ak.imag, route="kernel", live=True)
def _imag(array: Any, **kwargs: Any) -> Any:
    return _each(lambda x: ak.imag(x, **_options(kwargs)), array, jnp.imag)


@implements(ak.angle, route="kernel", live=True)
def _angle(val: Any, deg: bool = False, **kwargs: Any) -> Any:
    def angle(data: Any) -> Any:
        # that of a real number is one of two values, also where the formula has no derivative
        data = data if data.dtype.kind == "c" else lax.stop_gradient(data)
        radians = jnp.angle(data).astype(np.angle(np.zeros(1, data.dtype)).dtype)
        return radians * (180 / np.pi) if deg else radians

    return _each(lambda x: ak.angle(x, deg, **_options(kwargs)), val, angle)


# ------------------------------------------------------------------------------- conversions


@implements(ak.values_astype, route="kernel", live=True)
def _values_astype(array: Any, to: Any, **kwargs: Any) -> Any:
    def cast(n: Node) -> Node | None:
        if isinstance(n, Constant) and not n.parameters:  # dates are structure
            return from_layout(ak.values_astype(ak.Array(stand_in(n)), to).layout)
        if not isinstance(n, Flat):
            return None
        if n.words is not None:
            message = "64-bit integers that do not fit 32 bits need jax_enable_x64 to be converted: switch it on"
            raise TypeError(message)
        if np.dtype(to).kind in "mM":
            message = "dates and time differences are part of the structure of an array: they cannot be made of numbers"
            raise StructureError(message)
        return Flat(jnp.asarray(n.data).astype(canonical(np.dtype(to))), n.parameters)

    return wrap(map_nodes(cast, node_of(array)), array.behavior, array.attrs)


@implements(ak.nan_to_num, np.nan_to_num, route="kernel", live=True)
def _nan_to_num(
    array: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None, **kw: Any
) -> Any:
    def replaced(data: Any) -> Any:
        if data.dtype.kind not in "fc":
            return data
        return jnp.nan_to_num(data, nan=nan, posinf=posinf, neginf=neginf)

    for value in (nan, posinf, neginf):
        if isinstance(value, ak.Array):
            message = "ak.nan_to_num takes numbers for nan, posinf and neginf on traced arrays: use ak.where for arrays"
            raise TypeError(message)
    return _each(lambda x: ak.nan_to_num(x, **_options(kw)), array, replaced)


@implements(ak.isclose, np.isclose, route="kernel", live=True, no_gradient=BOOLEANS)
def _isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, **kwargs: Any) -> Any:
    def leaf(one: Any, two: Any) -> Any:
        return jnp.isclose(one, two, rtol=rtol, atol=atol, equal_nan=equal_nan)

    arrays = [value if isinstance(value, ak.Array) else ak.Array(np.reshape(value, -1)) for value in (a, b)]
    (close,) = combine(leaf, [node_of(array) for array in arrays], allow_records=True)
    return wrap(close, ak_behavior(arrays), ak_attrs(arrays))


# ------------------------------------------------------------------------------- arrays of one number


def _scalar_type(value: Any) -> Any:
    if isinstance(value, jax.Array) and value.ndim == 0 and value.weak_type:
        return {"b": np.bool_(False), "i": 0, "f": 0.0, "c": 0j}[value.dtype.kind]
    return value if type(value) in (bool, int, float, complex) else np.dtype(value.dtype)


def _filled(function: Any, array: Any, value: Any, dtype: Any) -> Any:
    """The structure of an array over one number; text and dates are structure, of which Awkward makes others."""

    def fill(n: Node) -> Node | None:
        if is_text(n) or isinstance(n, Constant):
            return node_of(function(ak.Array(stand_in(n)), dtype=dtype))
        if not isinstance(n, Flat):
            return None
        kind = canonical(n.data.dtype if dtype is None else np.dtype(dtype))
        # computed from the buffer's shape alone: nothing of its values enters the program
        return Flat(jnp.broadcast_to(jnp.asarray(value).astype(kind), np.shape(n.data)), n.parameters)

    return wrap(map_nodes(fill, node_of(array)), array.behavior, array.attrs)


@implements(ak.zeros_like, np.zeros_like, route="kernel", live=True, no_gradient=CONSTANT)
def _zeros_like(array: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    return _filled(ak.zeros_like, array, 0, dtype)


@implements(ak.ones_like, np.ones_like, route="kernel", live=True, no_gradient=CONSTANT)
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
