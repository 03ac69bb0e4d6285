"""How calls arrive: `ak.*` through `__awkward_function__`, NumPy through its two protocols."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import awkward as ak
import jax
import numpy as np

from .. import registry
from .._compat import is_tracer
from .state import is_traced

_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), np.ndarray, slice, type(...)})


def any_traced(values: Iterable[Any]) -> bool:
    """Whether a traced array or a tracer is among the values, or in lists and dicts of them."""
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
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
    """Concrete JAX arrays as NumPy's, so that eager Awkward takes them."""
    if type(value) in _PLAIN or isinstance(value, ak.Array | ak.Record):
        return value
    if isinstance(value, jax.Array) and not is_tracer(value):
        return np.asarray(value) if value.ndim else np.asarray(value)[()]
    if type(value) in (list, tuple):
        return type(value)(to_host(item) for item in value)
    if type(value) is dict:
        return {key: to_host(item) for key, item in value.items()}
    return value


def awkward_function(self: Any, function: Any, array_likes: Any, args: Any, kwargs: Any) -> Any:
    """`ak.*` on at least one `ak.Array`: ours when something is traced, Awkward's own otherwise."""
    entry = registry.find(function)
    if not any_traced(args) and not any_traced(kwargs.values()):
        return entry.call(*args, **kwargs) if entry is not None and entry.always else eager(function, args, kwargs)
    if entry is None:
        name = f"{function.__module__.rsplit('.', 1)[0]}.{function.__qualname__}".replace("awkward.operations", "ak")
        message = (
            f"{name} is not available on traced arrays yet: call it outside the transformed function, "
            "or on arrays that do not depend on its arguments"
        )
        raise NotImplementedError(message)
    return entry.call(*args, **kwargs)


def eager(function: Any, args: Any, kwargs: Any) -> Any:
    """Awkward's own implementation, with concrete JAX arrays taken as NumPy's."""
    implementation = getattr(function, "__wrapped__", None)
    if implementation is None:
        return function(*args, **kwargs)
    generator = implementation(*map(to_host, args), **{key: to_host(value) for key, value in kwargs.items()})
    next(generator)
    try:
        next(generator)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("an Awkward function yields its arguments once")


def array_function(original: Any, self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A NumPy function on an `ak.Array`."""
    if not any_traced(args) and not any_traced(kwargs.values()):
        return original(self, function, types, tuple(map(to_host, args)), {k: to_host(v) for k, v in kwargs.items()})
    entry = registry.find(function)
    if entry is not None:
        return entry.call(*args, **kwargs)
    name = getattr(function, "__name__", str(function))
    awkward = getattr(ak, name, None)
    if awkward is not None and registry.find(awkward) is not None:
        return awkward(*args, **kwargs)
    message = (
        f"np.{name} has no counterpart on traced arrays: use ak.{name} if Awkward has it, or leave Awkward with "
        "ak.to_jax and use jax.numpy"
    )
    raise TypeError(message)


__all__ = ["any_traced", "array_function", "awkward_function", "eager", "to_host"]
