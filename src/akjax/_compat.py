"""The only module that touches private names of Awkward or JAX.

| name | why | test |
| --- | --- | --- |
| `awkward._behavior.get_array_class`, `get_record_class` | the class of a result: public API gives it only for real data | tests/test_compat.py |
| `awkward._behavior.find_ufunc`, `find_ufunc_generic`, `find_custom_cast` | a user's overloads, resolved as Awkward resolves them | tests/test_compat.py |
| `awkward._backends.dispatch` (its lists of lookups), `awkward._backends.numpy.NumpyBackend` | a JAX array among the arguments of an `ak.*` function starts Awkward's JAX backend before the function is dispatched | tests/test_compat.py |
| `awkward._backends.jax.JaxBackend` (its `_instance`) | arrays that are on Awkward's JAX backend already must stay there | tests/test_compat.py |
| `awkward._errors.ErrorContext.format_argument` | it asks for the length of a JAX scalar, and that error would hide the true one | tests/test_compat.py |
| `ak.jax._known_highlevel_classes`, and `ak.jax.register_behavior_class` | Awkward's own registration, should somebody call it later, must leave our classes alone | tests/test_compat.py |
| `ak.Array._layout`, `_behavior`, `_attrs` and the other instance attributes | an array made without `__init__` must have them | tests/test_compat.py |
| `jax._src.core.trace_ctx` (through `jax.core.get_opaque_trace_state` where it suffices) | which traces are running: a field assigned in one must not outlive it | tests/test_compat.py |
| the callers `trace_to_jaxpr`, `trace_to_jaxpr_nocache` and `call_wrapped` in JAX | which function is being traced, to say that it is traced again and again | tests/test_compat.py |
| `jax.core.Tracer.__index__` | a traced number that is no integer, as an index: JAX's error for traced values, which says where the value is from | tests/test_compat.py |
| the file name `array_methods.py` in JAX | `tracer * array` must reach `array.__rmul__`, `jnp.sin(array)` must not | tests/test_compat.py |
"""  # noqa: E501

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

import awkward as ak
import jax
from awkward import _errors
from awkward._backends import dispatch as _dispatch
from awkward._backends.jax import JaxBackend
from awkward._backends.numpy import NumpyBackend
from awkward._behavior import (
    find_custom_cast,
    find_ufunc,
    find_ufunc_generic,
    get_array_class,
    get_record_class,
)
from jax._src import core as _jax_core

# what `ak.Array.__init__` and `_update_class` set besides the layout
INSTANCE_DEFAULTS: dict[str, Any] = {
    "_cpp_type": None,
    "_numbaview": None,
    "_generator": None,
    "_lookup": None,
}


_ATTRS: Any = type(ak.Array(ak.contents.EmptyArray(), attrs={}).attrs)


def keep_classes_from_awkward() -> None:
    """Make `ak.jax.register_and_check()` pass over the high-level classes: JAX takes each class once."""
    ak.jax._known_highlevel_classes.clear()
    ak.jax.register_behavior_class = lambda cls: None


def explain_numbers_as_index() -> None:
    """Let a traced number that is no integer, as a Python index, raise JAX's error for traced values.

    Of traced integers it is that already, of others a bare `TypeError` that does not say what was traced, and where;
    the error is a `TypeError`, too.
    """
    before: Any = jax.core.Tracer.__index__

    @functools.wraps(before)
    def index(self: Any) -> Any:
        try:
            return before(self)
        except jax.errors.JAXTypeError:
            raise
        except TypeError as error:
            if self.ndim:
                raise
            raise jax.errors.TracerIntegerConversionError(self) from error

    jax.core.Tracer.__index__ = index  # type: ignore[method-assign]


def take_jax_arrays_for_numpy() -> None:
    """Keep Awkward from starting its own JAX backend when an `ak.*` function is given a JAX array."""
    _dispatch._backend_lookup_factories.insert(0, _numpy_for_jax)
    for cls in [cls for cls in _dispatch._type_to_backend_lookup if _numpy_for_jax(cls)]:
        del _dispatch._type_to_backend_lookup[cls]


def awkward_jax_is_running() -> bool:
    """Whether somebody has started Awkward's own JAX backend."""
    return getattr(JaxBackend, "_instance", None) is not None


def describe_jax_arrays_in_errors() -> None:
    """Let Awkward's error messages show JAX arrays among the arguments, scalars too."""
    before = _errors.ErrorContext.format_argument

    def format_argument(self: Any, width: int, value: Any) -> Any:
        return f"{value!r:.{width}}" if _is_jax(type(value)) else before(self, width, value)

    _errors.ErrorContext.format_argument = format_argument


def _is_jax(cls: type) -> bool:
    return issubclass(cls, jax.Array | jax.core.Tracer)


def _numpy_for_jax(cls: type) -> Any:
    # Awkward goes by the module, and takes `jnp.float32` among the arguments for an array too
    if not _is_jax(cls) and cls.__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return None

    def backend(value: Any) -> Any:
        return JaxBackend.instance() if awkward_jax_is_running() and not is_tracer(value) else NumpyBackend.instance()

    return backend


def make_attrs(attrs: Mapping[str, Any] | None) -> Any:
    """Attributes in the form an `ak.Array` keeps them."""
    return None if attrs is None else _ATTRS(attrs)


def high_level_class(layout: Any, behavior: Any) -> type:
    """The class Awkward gives an array or record of this layout."""
    if isinstance(layout, ak.record.Record):
        return get_record_class(layout, behavior)  # type: ignore[no-any-return]
    return get_array_class(layout, behavior)  # type: ignore[no-any-return]


def record_reducer(function: Any, name: str | None, behavior: Any) -> Any:
    """A user's reducer for records of this name, as `behavior[ak.sum, name]`."""
    for mapping in (behavior or {}, ak.behavior):
        if (function, name) in mapping:
            return mapping[function, name]
    return None


def current_trace() -> Any:
    """The innermost running trace."""
    return _jax_core.trace_ctx.trace


def is_tracing() -> bool:
    """Whether a transformation is running."""
    return hasattr(current_trace(), "parent_trace")


def is_running(trace: Any) -> bool:
    """Whether a trace is the current one or encloses it."""
    running: Any = current_trace()
    while running is not None:
        if running is trace:
            return True
        running = getattr(running, "parent_trace", None)
    return False


def traced_function() -> Any:
    """The Python function that JAX is tracing, or None: looked for among the callers."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_name
        if name in ("trace_to_jaxpr", "trace_to_jaxpr_nocache"):
            return _local(frame, "fun")
        if name == "call_wrapped":  # JAX 0.8
            return getattr(_local(frame, "self"), "f", None)
        frame = frame.f_back
    return None


def _local(frame: Any, name: str) -> Any:
    """A variable of a running function."""
    variables = frame.f_locals
    found = variables.get(name)
    if type(variables) is dict:  # Python before 3.13: a copy that the frame would keep, and with it what is in it
        variables.clear()
    return found


def called_by_operator() -> bool:
    """Whether the attribute being looked up is `__jax_array__`, by a binary operator of a JAX array."""
    return sys._getframe(2).f_code.co_filename.endswith("array_methods.py")


def is_tracer(value: Any) -> bool:
    """Whether a value is being traced."""
    return isinstance(value, jax.core.Tracer)


__all__ = [
    "INSTANCE_DEFAULTS",
    "awkward_jax_is_running",
    "called_by_operator",
    "current_trace",
    "describe_jax_arrays_in_errors",
    "explain_numbers_as_index",
    "find_custom_cast",
    "find_ufunc",
    "find_ufunc_generic",
    "high_level_class",
    "is_running",
    "is_tracer",
    "is_tracing",
    "keep_classes_from_awkward",
    "make_attrs",
    "record_reducer",
    "take_jax_arrays_for_numpy",
    "traced_function",
]
