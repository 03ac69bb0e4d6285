"""`ak.transform` with traced arrays: the user's function sees layouts whose `.data` is a JAX array."""

from __future__ import annotations

import threading
from typing import Any

import awkward as ak

from ..algorithms.elementwise import values_of
from ..algorithms.runtime import attach, merge, strip
from ..algorithms.tracking import Table
from .facade import BACKEND
from .state import node_of, wrap

_running = threading.local()


class TracedNumpyArray:
    """What a callback of `ak.transform` sees in place of a `NumpyArray`: the same facts, a JAX array as data."""

    is_numpy = True
    is_list = is_option = is_record = is_union = is_indexed = is_regular = is_unknown = is_tuple = False
    is_leaf = True
    backend = BACKEND

    def __init__(self, layout: Any, table: Table) -> None:
        self.tracked = layout
        self.data = values_of(table.node(layout))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tracked, name)


def new_numpy_array(data: Any, parameters: Any) -> Any:
    """A `NumpyArray` for a tracer a callback hands back, or None outside a callback."""
    table: Table | None = getattr(_running, "table", None)
    if table is None:
        return None
    return ak.contents.NumpyArray(table.ids(data), parameters=parameters)


def transform(transformation: Any, array: Any, *more: Any, **kwargs: Any) -> Any:
    """`ak.transform` of arrays of which some are traced."""
    arrays = [value if isinstance(value, ak.Array) else ak.Array(value) for value in (array, *more)]
    stripped = [strip(node_of(value)) for value in arrays]
    run_time = merge([found for _, found in stripped])
    table = Table()
    tracked = [
        ak.Array(table.layout(node), behavior=value.behavior, attrs=value.attrs)
        for value, (node, _) in zip(arrays, stripped, strict=True)
    ]

    def shown(layout: Any) -> Any:
        return TracedNumpyArray(layout, table) if layout.is_numpy and table.known(layout.data) else layout

    def hidden(result: Any) -> Any:
        if isinstance(result, tuple):
            return tuple(hidden(part) for part in result)
        return result.tracked if isinstance(result, TracedNumpyArray) else result

    def callback(layouts: Any, **context: Any) -> Any:
        several = tuple(map(shown, layouts)) if isinstance(layouts, tuple) else shown(layouts)
        before = getattr(_running, "table", None)
        _running.table = table
        try:
            return hidden(transformation(several, **context))
        finally:
            _running.table = before

    out = ak.transform(callback, *tracked, **kwargs)
    if out is None:
        return None
    parts = out if isinstance(out, tuple) else (out,)
    made = tuple(_made(part, table, run_time) for part in parts)
    return made if isinstance(out, tuple) else made[0]


def _made(part: Any, table: Table, run_time: Any) -> Any:
    layout = part.layout if isinstance(part, ak.Array) else part
    node = attach(table.node(layout), run_time)
    return wrap(node, getattr(part, "behavior", None), getattr(part, "attrs", None))


