"""NumPy's ufuncs on raw buffers by `jax.numpy`, with NumPy's result types."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels import elementary
from ..kernels.remainder import remainder
from .numbering import note_conjunction, note_negation

_SCALARS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _floor_divide(x: Any, y: Any) -> Any:
    quotient = jnp.floor_divide(x, y)
    # NumPy says 0 where an integer is divided by 0
    return quotient if quotient.dtype.kind == "f" else jnp.where(y == 0, jnp.zeros_like(quotient), quotient)


def _remainder(x: Any, y: Any) -> Any:
    return remainder(x, y) if np.ndim(y) == 0 and np.ndim(x) else jnp.remainder(x, y)


def _divmod(x: Any, y: Any) -> Any:
    return _floor_divide(x, y), jnp.remainder(x, y)


# where `jax.numpy` answers otherwise than NumPy, or takes long
_OURS = {
    **elementary.FUNCTIONS,
    np.divmod: _divmod,
    np.floor_divide: _floor_divide,
    np.remainder: _remainder,
}


_LOGICAL = (np.logical_and, np.logical_not, np.logical_or, np.logical_xor)


def _refuse_negative(base: Any, exponent: Any) -> None:
    """NumPy's error for integers to negative powers, where the power is known while tracing."""
    integers = all(np.dtype(_type_of(value)).kind in "bi" for value in (base, exponent))
    if integers and not isinstance(exponent, jax.core.Tracer) and (np.asarray(exponent) < 0).any():
        message = "Integers to negative integer powers are not allowed."
        raise ValueError(message)


def jax_function(ufunc: Any) -> Any:
    """The function of `jax.numpy` (or `jax.scipy.special`) that computes a ufunc.

    Raises:
        TypeError: when there is none.
    """
    if ufunc in _OURS:
        return _OURS[ufunc]
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc and hasattr(jnp, name):
        return getattr(jnp, name)
    if hasattr(jax.scipy.special, name):
        return getattr(jax.scipy.special, name)
    message = (
        f"{type(ufunc).__module__}.{name} has no counterpart in jax.numpy or jax.scipy.special: "
        "write it with functions that have one"
    )
    raise TypeError(message)


def _type_of(value: Any) -> Any:
    """What NumPy's promotion should see: a dtype, or a Python type for scalars without one of their own."""
    if type(value) in (bool, int, float, complex):  # np.float64 is a float with a dtype of its own
        return type(value)
    if np.ndim(value) == 0 and isinstance(value, jax.Array) and value.weak_type:
        return _SCALARS[value.dtype.kind]
    if not hasattr(value, "dtype"):
        message = f"a {type(value).__name__} is no operand for arrays of numbers"
        raise TypeError(message)
    return np.dtype(value.dtype)


def _loop_dtypes(ufunc: Any, values: list[Any], dtype: Any) -> Any:
    """The dtypes NumPy computes with and returns, or None where it has no say."""
    types = [_type_of(value) for value in values]
    # NumPy resolves Python's bool like its own
    types = [np.dtype(bool) if kind is bool else kind for kind in types]
    if any(isinstance(kind, np.dtype) and kind.kind == "V" for kind in types):
        return None  # bfloat16 and the like, which NumPy's ufuncs do not know
    asked = {} if dtype is None else {"signature": (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)}
    return ufunc.resolve_dtypes((*types, *[None] * ufunc.nout), **asked)


def apply(ufunc: Any, values: list[Any], dtype: Any = None) -> Any:
    """`ufunc(*values)` on buffers and scalars.

    Args:
        ufunc: a NumPy or SciPy ufunc.
        values: NumPy arrays, JAX arrays, tracers or scalars.
        dtype: NumPy's `dtype` argument, or None.

    Returns:
        The result, or a tuple of results; NumPy's dtype rules, in 32 bits when 64 are switched off.
    """
    if not any(isinstance(value, jax.Array) for value in values):
        with np.errstate(all="ignore"):
            return ufunc(*values) if dtype is None else ufunc(*values, dtype=dtype)
    given = values
    function = jax_function(ufunc)
    np.broadcast_shapes(*map(np.shape, values))  # NumPy's error for shapes that do not fit
    if ufunc in _LOGICAL:
        values = [value if _is_boolean(value) else jnp.asarray(value) != 0 for value in values]  # of complex too
    if ufunc is np.power:
        _refuse_negative(*values)
    dtypes = _loop_dtypes(ufunc, values, dtype) if getattr(np, ufunc.__name__, None) is ufunc else None
    if dtypes is not None:
        inputs = [canonical(d) for d in dtypes[: ufunc.nin]]
        values = [jnp.asarray(value, dtype=d) for value, d in zip(values, inputs, strict=True)]
    result = function(*values)
    if ufunc is np.multiply:
        result = _with_nan(given, values, result)
    if ufunc in _CONDITIONS:
        result = _noted(ufunc, values, result)
    if dtypes is None:
        return result
    outputs = [canonical(d) for d in dtypes[ufunc.nin :]]
    if ufunc.nout == 1:
        return jnp.asarray(result, dtype=outputs[0])
    return tuple(jnp.asarray(part, dtype=d) for part, d in zip(result, outputs, strict=True))


def _with_nan(given: list[Any], values: list[Any], result: Any) -> Any:
    """A product of booleans and numbers: XLA takes zero for false times NaN or infinity, which are NaN to NumPy."""
    kinds = [_is_boolean(value) for value in given]
    if kinds.count(True) != 1 or not jnp.issubdtype(result.dtype, jnp.inexact):
        return result
    condition, number = (given[0], values[1]) if kinds[0] else (given[1], values[0])
    return jnp.where(condition, number, number * jnp.zeros((), result.dtype))


_AND = (np.bitwise_and, np.logical_and)
_NOT = (np.invert, np.logical_not)
_CONDITIONS = (*_AND, *_NOT)


def _noted(ufunc: Any, values: list[Any], result: Any) -> Any:
    """Conditions are recognised by what they mean, not by how they were written."""
    if not all(_is_boolean(value) and value.shape == result.shape for value in values):
        return result
    if ufunc in _AND:
        return note_conjunction(values, result)
    return note_negation(values[0], result) if ufunc in _NOT else result


def _is_boolean(value: Any) -> bool:
    return isinstance(value, jax.Array) and value.dtype == bool


def canonical(dtype: Any) -> Any:
    """The dtype JAX has for a dtype in its present configuration."""
    return jax.dtypes.canonicalize_dtype(dtype)


def fill_for(ufunc: Any) -> float:
    """A value at which a ufunc and its derivative are finite, for slots whose element does not exist."""
    return 2.0 if ufunc is np.arccosh else 0.5
