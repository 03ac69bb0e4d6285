"""`akjax.register`: `ak.Array`, `ak.Record` and every behavior class become JAX pytrees."""

from __future__ import annotations

import threading
from typing import Any

import awkward as ak
import jax

from .. import _compat, functions
from ..algorithms.numbering import note_fresh
from ..algorithms.origins import given
from ..errors import RegistrationError
from ..highlevel import guards
from ..highlevel.retracing import note_trace
from ..highlevel.state import flat_state, restore
from ..highlevel.vectors import adapt
from .exporting import register_for_export

_lock = threading.RLock()
_registered: set[type] = set()
_installed = False


def register() -> None:
    """Make every `ak.Array` and `ak.Record` a JAX pytree, traced arrays included.

    Call it once, after importing; calling it again does nothing. All behavior subclasses are
    registered, those that exist and those defined later. It changes no JAX configuration.

    Raises:
        RegistrationError: when something else, such as Awkward's own deprecated JAX backend, has
            registered the classes with JAX before.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> jax.grad(lambda x: ak.sum(x**2))(ak.Array([[1.0, 2.0], [], [3.0]]))
        <Array [[2, 4], [], [6]] type='3 * var * float64'>
    """
    global _installed
    with _lock:
        if _installed:
            return
        for cls in _with_subclasses(ak.Array) + _with_subclasses(ak.Record):
            _register_class(cls)
        _compat.keep_classes_from_awkward()
        guards.install()
        _register_future(ak.Array)
        _register_future(ak.Record)
        _installed = True
    assert functions.__all__  # the registry is filled by importing it


def _with_subclasses(cls: Any) -> list[Any]:
    return [cls, *(below for sub in cls.__subclasses__() for below in _with_subclasses(sub))]


def _register_class(cls: Any) -> None:
    if cls in _registered:
        return

    def flatten(array: Any) -> Any:
        state = flat_state(array)
        return state.leaves, state.spec

    def flatten_with_keys(array: Any) -> Any:
        state = flat_state(array)
        keys = [jax.tree_util.GetAttrKey(name) for name in state.spec.names()]
        return list(zip(keys, state.leaves, strict=True)), state.spec

    def unflatten(spec: Any, leaves: Any) -> Any:
        if not leaves or not _compat.is_tracer(leaves[0]):
            return restore(cls, spec, leaves)
        note_trace(spec)
        given(leaves)
        if spec.fresh:
            for number in spec.padding():
                note_fresh(leaves[number])
        return restore(cls, spec.as_fresh(False), leaves)

    try:
        jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    except ValueError as error:
        message = (
            f"{cls.__module__}.{cls.__qualname__} is already registered with JAX by something else, probably "
            "by ak.jax.register_and_check(), Awkward's own deprecated integration: remove that call and call "
            "akjax.register() in its place (once registered, a process cannot change it)"
        )
        raise RegistrationError(message) from error
    register_for_export(cls)
    _registered.add(cls)
    adapt(cls)


def _register_future(cls: Any) -> None:
    before = cls.__init_subclass__.__func__

    def __init_subclass__(sub: Any, /, **kwargs: Any) -> None:
        before(sub, **kwargs)
        with _lock:
            _register_class(sub)

    cls.__init_subclass__ = classmethod(__init_subclass__)
