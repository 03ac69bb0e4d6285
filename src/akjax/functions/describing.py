"""Facts of type: Awkward answers them on a stand-in of the right type and no data."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax

from ..highlevel.facade import Facade, described
from ..highlevel.operations import copy
from ..highlevel.state import flat_state, is_traced
from ..registry import TYPE, implements


def _stand_in(value: Any) -> Any:
    if not is_traced(value):
        return value
    layout = flat_state(value).stand_in()
    cls = ak.Record if isinstance(layout, ak.record.Record) else ak.Array
    return cls(layout, behavior=value.behavior, attrs=value.attrs)


def _describes(function: Any) -> None:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_stand_in, args), **{key: _stand_in(value) for key, value in kwargs.items()})

    implements(function, route="type", live=True, no_gradient=TYPE)(call)


for _function in (ak.fields, ak.is_categorical, ak.is_tuple, ak.is_valid, ak.parameters, ak.validity_error):
    _describes(_function)


@implements(ak.type, route="type", live=True, no_gradient=TYPE)
def _type(array: Any, **kwargs: Any) -> Any:
    layout = described(array)
    return ak.type(ak.Record(layout) if isinstance(layout, ak.record.Record) else ak.Array(layout), **kwargs)


@implements(ak.backend, route="type", live=True, no_gradient=TYPE)
def _backend(*arrays: Any) -> str:
    return "jax"


@implements(ak.to_layout, route="type", live=True, no_gradient=TYPE)
def _to_layout(array: Any, **kwargs: Any) -> Any:
    if isinstance(array, jax.Array):
        # vector asks for the layout of a number; one row broadcasts like it
        array = ak.Array(array.reshape(1))
    return Facade(array) if is_traced(array) else ak.to_layout(array, **kwargs)


for _decorator in (ak.mixin_class, ak.mixin_class_method):
    implements(_decorator, route="type", live=True, no_gradient=TYPE)(_decorator)


@implements(ak.copy, route="moves", live=True)
def _copy(array: Any) -> Any:
    return copy(array)
