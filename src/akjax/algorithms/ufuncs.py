"""NumPy's ufuncs on raw buffers by `jax.numpy`, with NumPy's result types."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_SCALARS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def jax_function(ufunc: Any) -> Any:
    """The function of `jax.numpy` (or `jax.scipy.special`) that computes a ufunc.

    Raises:
        TypeError: when there is none.
    """
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc and hasattr(jnp, name):
        return getattr(jnp, name)
    if hasattr(jax.scipy.special, name):
        return getattr(jax.scipy.special, name)
    message = f"{type(ufunc).__module__}.{name} has no counterpart in jax.numpy or jax.scipy.special: write it with functions that have one"
    raise TypeError(message)


def _type_of(value: Any) -> Any:
    """What NumPy's promotion should see: a dtype, or a Python type for scalars without one of their own."""
    if type(value) in (bool, int, float, complex):  # np.float64 is a float with a dtype of its own
        return type(value)
    if np.ndim(value) == 0 and isinstance(value, jax.Array) and value.weak_type:
        return _SCALARS[value.dtype.kind]
    return np.dtype(value.dtype)


def _loop_dtypes(ufunc: Any, values: list[Any]) -> Any:
    types = [_type_of(value) for value in values]
    # NumPy resolves Python's bool like its own
    types = [np.dtype(bool) if kind is bool else kind for kind in types]
    if any(isinstance(kind, np.dtype) and kind.kind == "V" for kind in types):
        return None  # bfloat16 and the like, which NumPy's ufuncs do not know
    return ufunc.resolve_dtypes((*types, *[None] * ufunc.nout))


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
    function = jax_function(ufunc)
    dtypes = _loop_dtypes(ufunc, values) if getattr(np, ufunc.__name__, None) is ufunc else None
    if dtypes is not None:
        inputs = [canonical(d) for d in dtypes[: ufunc.nin]]
        values = [jnp.asarray(value, dtype=d) for value, d in zip(values, inputs, strict=True)]
    result = function(*values)
    if dtypes is None:
        return result
    outputs = [canonical(d if dtype is None else dtype) for d in dtypes[ufunc.nin :]]
    if ufunc.nout == 1:
        return jnp.asarray(result, dtype=outputs[0])
    return tuple(jnp.asarray(part, dtype=d) for part, d in zip(result, outputs, strict=True))


def canonical(dtype: Any) -> Any:
    """The dtype JAX has for a dtype in its present configuration."""
    return jax.dtypes.canonicalize_dtype(dtype)


def fill_for(ufunc: Any) -> float:
    """A value at which a ufunc and its derivative are finite, for slots whose element does not exist."""
    return 2.0 if ufunc is np.arccosh else 0.5
