"""How calls arrive: `ak.*` through `__awkward_function__`, NumPy through its two protocols."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import awkward as ak
import jax
import numpy as np

from .. import registry
from .._compat import is_tracer
from ..algorithms.numbering import note
from ..errors import StructureError
from ..nodes.boundaries import UnknownLengths
from .state import KEY, is_traced

PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), np.ndarray, slice, type(...)})


_ARRAYS = (ak.Array, ak.Record)


def is_ordinary(values: Iterable[Any]) -> bool:
    """Whether all values are plain or arrays JAX has never seen: the short way for eager code."""
    for value in values:
        if type(value) in PLAIN:
            continue
        if not isinstance(value, _ARRAYS) or KEY in value.__dict__:
            return False
    return True


def any_traced(values: Iterable[Any]) -> bool:
    """Whether a traced array or a tracer is among the values, or in lists and dicts of them."""
    for value in values:
        kind = type(value)
        if kind in PLAIN:
            continue
        if isinstance(value, ak.Array | ak.Record):
            if is_traced(value):
                return True
        elif kind in (list, tuple):
            if any_traced(value):
                return True
        elif kind is dict:
            if any_traced(value.values()):
                return True
        elif is_tracer(value):
            return True
    return False


def to_host(value: Any) -> Any:
    """Concrete JAX arrays and literals as NumPy's and Python's, so that eager Awkward takes them."""
    if type(value) in PLAIN or isinstance(value, ak.Array | ak.Record):
        return value
    if isinstance(value, jax.Array) and not is_tracer(value):
        return np.asarray(value) if value.ndim else np.asarray(value)[()]
    if type(value) in (list, tuple):
        return type(value)(to_host(item) for item in value)
    if type(value) is dict:
        return {key: to_host(item) for key, item in value.items()}
    return _literal(value)


def _literal(value: Any) -> Any:
    """What JAX made of a constant of Python or NumPy, as a derivative rule gets it: that constant."""
    if type(value).__module__.partition(".")[0] != "jax" or is_tracer(value):
        return value
    plain = next((kind for kind in (int, float, complex) if isinstance(value, kind)), None)
    if plain is not None:
        return plain(value)
    return np.asarray(value) if hasattr(value, "__array__") and isinstance(value.dtype, np.dtype) else value


def awkward_function(self: Any, function: Any, array_likes: Any, args: Any, kwargs: Any) -> Any:
    """`ak.*` on at least one `ak.Array`: ours when something is traced, Awkward's own otherwise."""
    entry = registry.find(function)
    if is_ordinary(args) and is_ordinary(kwargs.values()) and (entry is None or not entry.always):
        return _resume(function, args, kwargs)
    if not any_traced(args) and not any_traced(kwargs.values()):
        other = next(filter(None, map(_foreign, array_likes)), None)
        if other is not None:
            return other(function, array_likes, args, kwargs)
        if entry is not None and entry.always:
            return entry.call(*args, **kwargs)
        return eager(function, args, kwargs)
    module = function.__module__.rsplit(".", 1)[0].replace("awkward.operations", "ak")
    name = f"{module}.{function.__qualname__}"
    if entry is None:
        message = (
            f"{name} is not available on traced arrays yet: call it outside the transformed function, "
            "or on arrays that do not depend on its arguments"
        )
        raise NotImplementedError(message)
    args = tuple(map(_as_array, args))
    return noted(function, args, kwargs, naming(name, entry.call, *args, **kwargs))


def naming(name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
    """What a call returns; an error about lengths that are not known says what was called.

    Raises:
        StructureError: the call is not supported on the lists of akjax.traced.
    """
    try:
        return call(*args, **kwargs)
    except UnknownLengths:
        raise StructureError(str(UnknownLengths(name))) from None


def _as_array(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()]
    return ak.Array(value) if is_tracer(value) and value.ndim else value


def noted(function: Any, args: Any, kwargs: dict[str, Any], result: Any) -> Any:
    """The result of a function, of which it is noted what it was computed from (see `numbering`)."""
    operands, structure = jax.tree.flatten((args, kwargs), is_leaf=_is_behavior)
    note((function, structure), operands, jax.tree.leaves(result))
    return result


def _is_behavior(value: Any) -> bool:
    """Whether a dict has keys that JAX may be unable to sort."""
    return type(value) is dict and not all(isinstance(key, str) for key in value)


def _foreign(value: Any) -> Any:
    """How another library's array, as dask-awkward's, implements `ak.*` functions."""
    if isinstance(value, ak.Array | ak.Record):
        return None
    return getattr(value, "__awkward_function__", None)


def eager(function: Any, args: Any, kwargs: Any) -> Any:
    """Awkward's own implementation, with concrete JAX arrays taken as NumPy's."""
    if not hasattr(function, "__wrapped__"):
        return function(*args, **kwargs)
    return _resume(function, map(to_host, args), {key: to_host(value) for key, value in kwargs.items()})


def _resume(function: Any, args: Any, kwargs: Any) -> Any:
    """What Awkward's dispatcher does when no array has its own implementation."""
    generator = function.__wrapped__(*args, **kwargs)
    next(generator)
    try:
        next(generator)
    except StopIteration as stop:
        return stop.value
    message = "an Awkward function yields its arguments once"
    raise AssertionError(message)


def array_function(original: Any, self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A NumPy function on an `ak.Array`."""
    if not any_traced(args) and not any_traced(kwargs.values()):
        named = {key: to_host(value) for key, value in kwargs.items()}
        return original(self, function, types, tuple(map(to_host, args)), named)
    entry = registry.find(function)
    name = getattr(function, "__name__", str(function))
    if entry is not None:
        return noted(function, args, kwargs, naming(f"np.{name}", entry.call, *args, **kwargs))
    awkward = getattr(ak, name, None)
    if awkward is not None and registry.find(awkward) is not None:
        # Awkward's own translation of NumPy's arguments, which ends in ak.* functions, and so here again
        return original(self, function, types, args, kwargs)
    message = (
        f"np.{name} has no counterpart on traced arrays: use ak.{name} if Awkward has it, or leave Awkward "
        "with ak.to_jax and use jax.numpy"
    )
    raise TypeError(message)


__all__ = [
    "PLAIN",
    "any_traced",
    "array_function",
    "awkward_function",
    "eager",
    "is_ordinary",
    "naming",
    "noted",
    "to_host",
]
