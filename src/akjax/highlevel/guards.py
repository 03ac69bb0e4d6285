"""Guarded versions of the public methods of `ak.Array` and `ak.Record`.

`install` replaces, once, those methods that would touch a layout. On an ordinary array each is a
dictionary look-up and then the original; on a traced one it is ours. Nothing else of Awkward changes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import awkward as ak
import jax
import numpy as np

from .. import _compat, registry
from ..errors import ConcreteValueError
from ..nodes.kinds import Live
from . import operations
from .facade import Facade, described
from .protocols import PLAIN, any_traced, array_function, awkward_function, is_ordinary, naming, to_host
from .state import KEY, flat_state, materialise, no_data, node_of, state_of, tracer_in
from .transforming import new_numpy_array
from .tuples import is_traced_slice

_originals: dict[tuple[type, str], Any] = {}


class _Layout:
    """`_layout` of arrays that have none in their own dict: built, or a facade while traced."""

    def __get__(self, array: Any, owner: type | None = None) -> Any:
        if array is None:
            return self
        state = state_of(array)
        if state is None or state.kind == "misfit":
            return materialise(array)
        if state.kind == "placeholder":
            raise no_data(state.leaves)
        return Facade(array)


class _JaxArray:
    """`__jax_array__` of flat arrays: `jnp.sin(array)` works, and `tracer * array` stays an `ak.Array`."""

    def __get__(self, array: Any, owner: type | None = None) -> Any:
        if array is None or _compat.called_by_operator():
            message = "__jax_array__"
            raise AttributeError(message)
        return lambda: operations.to_jax(array)


def _guard(cls: type, name: str, ours: Callable[..., Any]) -> None:
    original = getattr(cls, name)
    _originals[cls, name] = original

    @functools.wraps(original)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if KEY in self.__dict__ and state_of(self) is not None:
            return ours(self, *args, **kwargs)
        return original(self, *args, **kwargs)

    setattr(cls, name, guarded)


def _needs_values(what: str) -> Callable[..., Any]:
    def raises(self: Any, *args: Any, **kwargs: Any) -> Any:
        node_of(self)  # arrays without proper data say so
        raise ConcreteValueError(tracer_in(self), what)

    return raises


def original(cls: type, name: str) -> Any:
    """The method as it was before `install`."""
    return _originals[cls, name]


def install() -> None:
    """Replace the methods; called once, under the lock of `register`."""
    for cls in (ak.Array, ak.Record):
        _install_common(cls)
    _install_array()
    _guard_numpy_array()
    _guard_undispatched()
    _guard_builder()
    # an `ak.*` function of tracers and no `ak.Array` is ours too
    jax.core.Tracer.__awkward_function__ = awkward_function  # type: ignore[attr-defined]
    _compat.take_jax_arrays_for_numpy()
    _compat.describe_jax_arrays_in_errors()
    _compat.explain_numbers_as_index()


def _install_common(cls: Any) -> None:
    cls._layout = _Layout()
    cls.__awkward_function__ = awkward_function
    _guard(cls, "_repr", _repr)
    _guard(cls, "__repr__", lambda self: _repr(self, 80))
    _guard(cls, "__str__", lambda self: _repr(self, 80))
    _guard(cls, "show", lambda self, *args, **kwargs: print(_repr(self, 80)))
    _guard(cls, "_repr_mimebundle_", lambda self, *args, **kwargs: {"text/plain": _repr(self, 80)})
    _guard(cls, "tolist", _needs_values("`tolist`"))
    _guard(cls, "to_list", _needs_values("`to_list`"))
    _guard(cls, "__reduce_ex__", _needs_values("pickling"))
    _guard(cls, "__copy__", operations.copy)
    _guard(cls, "__deepcopy__", lambda self, memo: operations.copy(self))
    _guard_getitem(cls)
    _guard_setitem(cls)
    _guard(cls, "__delitem__", operations.delete_field)
    _guard_ufunc(cls)
    _guard_init(cls)


def _guard_numpy_array() -> None:
    """`ak.contents.NumpyArray(tracer)`, as callbacks of `ak.transform` write it.

    Awkward would start its JAX backend.
    """
    cls: Any = ak.contents.NumpyArray
    before = cls.__init__
    _originals[cls, "__init__"] = before

    @functools.wraps(before)
    def guarded(self: Any, data: Any, *, parameters: Any = None, backend: Any = None) -> None:
        if isinstance(data, jax.Array):
            if _compat.is_tracer(data):
                made = new_numpy_array(data, parameters)
                if made is None:
                    message = (
                        "ak.contents.NumpyArray cannot hold a traced JAX array: make an array with "
                        "ak.from_jax(data) or ak.Array(data), or build layouts inside the function given to "
                        "ak.transform"
                    )
                    raise TypeError(message)
                self.__dict__.update(made.__dict__)
                return
            if not _compat.awkward_jax_is_running():  # what it holds already stays there
                data = to_host(data)
        before(self, data, parameters=parameters, backend=backend)

    cls.__init__ = guarded


def _guard_undispatched() -> None:
    """`ak.from_iter`, `ak.from_jax` and others never ask their arguments for `__awkward_function__`.

    Awkward itself calls them by `ak.operations`, where they stay as they are.
    """
    for function in registry.entries():
        name = getattr(function, "__name__", "")
        inner = getattr(function, "__wrapped__", None)
        if inner is None or inspect.isgeneratorfunction(inner) or getattr(ak, name, None) is not function:
            continue
        guarded = _asking_first(function)
        registry.rename(guarded, function)
        setattr(ak, name, guarded)


def _asking_first(function: Any) -> Any:
    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        entry = registry.find(guarded)
        assert entry is not None
        if entry.always or any_traced(args) or any_traced(kwargs.values()):
            return entry.call(*args, **kwargs)
        # a JAX array is NumPy's to Awkward, which would start its JAX backend
        return function(*(np.array(value) if isinstance(value, jax.Array) else value for value in args), **kwargs)

    return guarded


def _guard_builder() -> None:
    """`ak.ArrayBuilder` takes values, and a tracer has none."""
    cls: Any = ak.ArrayBuilder
    for name in ("append", "boolean", "complex", "extend", "integer", "real"):
        before = getattr(cls, name)
        _originals[cls, name] = before

        def guarded(self: Any, x: Any, before: Any = before) -> Any:
            if any_traced((x,)):
                entry = registry.find(ak.ArrayBuilder)
                assert entry is not None
                return entry.call(x)
            return before(self, to_host(x))

        setattr(cls, name, functools.wraps(before)(guarded))


def _install_array() -> None:
    array: Any = ak.Array
    array.__jax_array__ = _JaxArray()
    _guard(array, "__len__", _length)
    _guard(array, "__iter__", _rows)
    _guard(array, "__array__", _needs_values("np.asarray"))
    _guard(array, "to_numpy", _needs_values("`to_numpy`"))
    before = array.__array_function__
    _originals[array, "__array_function__"] = before

    @functools.wraps(before)
    def guarded(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return array_function(before, self, function, types, args, kwargs)

    array.__array_function__ = guarded


def _guard_getitem(cls: Any) -> None:
    before = cls.__getitem__
    _originals[cls, "__getitem__"] = before

    @functools.wraps(before)
    def guarded(self: Any, where: Any) -> Any:
        if KEY not in self.__dict__ and type(where) in PLAIN and type(where) is not slice:
            return before(self, where)
        if state_of(self) is not None or any_traced((where,)) or is_traced_slice(where):
            return naming("this index", operations.getitem, self, where)
        if not is_ordinary((where,)) and ak.backend(self) == "jax":
            self = ak.to_backend(self, "cpu")  # Awkward's own JAX backend does not see JAX arrays in an index any more
        return before(self, to_host(where))

    cls.__getitem__ = guarded


def _guard_setitem(cls: Any) -> None:
    before = cls.__setitem__
    _originals[cls, "__setitem__"] = before

    @functools.wraps(before)
    def guarded(self: Any, where: Any, what: Any) -> None:
        if state_of(self) is not None or any_traced((what,)):
            operations.set_field(self, where, what)
        else:
            before(self, where, to_host(what))

    cls.__setitem__ = guarded


def _guard_ufunc(cls: Any) -> None:
    before = cls.__array_ufunc__
    _originals[cls, "__array_ufunc__"] = before

    @functools.wraps(before)
    def guarded(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if is_ordinary(inputs):
            return before(self, ufunc, method, *inputs, **kwargs)
        if any_traced(inputs):
            return operations.ufunc(ufunc, method, inputs, kwargs)
        return before(self, ufunc, method, *map(to_host, inputs), **kwargs)

    cls.__array_ufunc__ = guarded


def _guard_init(cls: Any) -> None:
    before = cls.__init__
    _originals[cls, "__init__"] = before

    @functools.wraps(before)
    def guarded(self: Any, data: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(data, ak.contents.Content):
            before(self, data, *args, **kwargs)
        elif isinstance(data, Facade) or any_traced((data,)):
            operations.construct(self, data, *args, **kwargs)
        else:
            before(self, to_host(data), *args, **kwargs)

    cls.__init__ = guarded


def _repr(self: Any, limit_cols: int) -> str:
    state = flat_state(self)
    name = type(self).__name__
    if state.kind != "traced":
        what = "placeholders" if state.kind == "placeholder" else "leaves that do not fit"
        what = "numbers without their lists" if state.lacks_lists() else what
        return f"<{name} of {what} {state.spec!r:.{max(20, limit_cols)}}>"
    try:
        layout = described(self)
        kind = str((ak.Record if isinstance(layout, ak.record.Record) else ak.Array)(layout).type)
    except Exception as error:  # a repr must not fail, whatever the leaves are
        kind = f"unknown: {type(error).__name__}"
    text = f"<{name} (traced by JAX) type={kind!r}>"
    return text if len(text) <= max(limit_cols, 60) else text[: max(limit_cols, 60) - 5] + "...'>"


def _length(self: Any) -> int:
    node = node_of(self)
    if isinstance(node, Live):
        message = (
            "the number of rows that were selected by traced values is known only at run time; count them "
            "with ak.num(array, axis=0) or ak.count"
        )
        raise jax.errors.TracerIntegerConversionError(node.dead) from TypeError(message)
    return node.length


def _rows(self: Any) -> Iterator[Any]:
    for k in range(len(self)):
        yield self[k]
