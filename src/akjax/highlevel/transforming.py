"""`ak.transform` with traced arrays: the user's function sees layouts whose `.data` is a JAX array."""

from __future__ import annotations

import functools
import threading
from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from ..algorithms.aligning import line_up
from ..algorithms.elementwise import fill_dead, in_lists, shared_lists, values_of
from ..algorithms.origins import evaluate
from ..algorithms.runtime import attach, merge, strip
from ..algorithms.standing import StandIns
from ..algorithms.tracking import Table, Whole, Zeros, is_flat
from ..nodes.boundaries import UnknownLengths
from .facade import BACKEND
from .state import node_of, wrap

_running = threading.local()


class TracedNumpyArray:
    """What a callback of `ak.transform` sees in place of a `NumpyArray`: the same facts, a JAX array as data."""

    is_numpy = True
    is_list = is_option = is_record = is_union = is_indexed = is_regular = is_unknown = is_tuple = False
    is_leaf = True
    backend = BACKEND

    def __init__(self, tracked: Any, data: Any) -> None:
        self.tracked = tracked
        self.data = data

    @property
    def dtype(self) -> Any:
        """The dtype of the data, not of what stands for it."""
        return np.dtype(self.data.dtype)

    @property
    def form(self) -> Any:
        """The form of such data."""
        return ak.contents.NumpyArray(Zeros().ids(self.data), parameters=self.tracked.parameters).form

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tracked, name)


class TracedList:
    """Lists of run-time length as a callback sees them: everything but where they begin and end."""

    def __init__(self, tracked: Any) -> None:
        self.tracked = tracked

    def __getattr__(self, name: str) -> Any:
        if name in ("offsets", "starts", "stops", "to_ListOffsetArray64", "to_RegularArray", "to_packed"):
            raise UnknownLengths
        return getattr(self.tracked, name)


def new_numpy_array(data: Any, parameters: Any) -> Any:
    """A `NumpyArray` for a tracer a callback hands back, or None outside a callback."""
    table: Table | Zeros | None = getattr(_running, "table", None)
    if table is None:
        return None
    return ak.contents.NumpyArray(table.ids(data), parameters=parameters)


def transform(transformation: Any, array: Any, *more: Any, **kwargs: Any) -> Any:
    """`ak.transform` of arrays of which some are traced."""
    arrays = [value if isinstance(value, ak.Array) else ak.Array(value) for value in (array, *more)]
    selected = line_up([node_of(value) for value in arrays])
    stripped = [strip(node) for node in selected]
    run_time = merge([found for _, found in stripped])
    if run_time:
        stripped = [strip(fill_dead(node, 0.5)) for node in selected]
    stand_ins = StandIns()
    nodes = stand_ins.stood([node for node, _ in stripped])
    # vector's formulas move nothing, and look at numbers only; somebody else's function may
    trusted = getattr(transformation, "__module__", None) == "vector.backends.awkward"
    above, nodes = shared_lists(nodes) if trusted else ([], nodes)

    def run(table: Table | Zeros, truth: Any) -> _Run:
        layouts = map(table.layout, nodes)
        tracked = [
            ak.Array(layout, behavior=value.behavior, attrs=value.attrs)
            for value, layout in zip(arrays, layouts, strict=True)
        ]
        one = _Run(transformation, table, truth, bool(stand_ins))
        one.result = ak.transform(one, *tracked, **kwargs)
        return one

    table = Whole() if trusted and is_flat(nodes) else Table()
    truth = functools.cache(lambda: run(Zeros(), None))
    out = run(table, truth).result
    if out is None:
        return None

    def made(part: Any, k: int | None) -> Any:
        def true() -> Any:
            result = truth().result
            return _layout(result if k is None else result[k])

        node = attach(stand_ins.back(in_lists(above, table.node(_layout(part), true))), run_time)
        return wrap(node, getattr(part, "behavior", None), getattr(part, "attrs", None))

    if isinstance(out, tuple):
        return tuple(made(part, k) for k, part in enumerate(out))
    return made(out, None)


class _Run:
    """The user's function as `ak.transform` calls it.

    `truth` gives the same run on zeros of the true dtypes; `stand_ins` says that the lists are others.
    """

    def __init__(self, transformation: Any, table: Table | Zeros, truth: Any, stand_ins: bool) -> None:
        self._transformation = transformation
        self._table = table
        self._truth = truth
        self._stand_ins = stand_ins
        self.levels: list[Any] = []
        self.result: Any = None

    def __call__(self, layouts: Any, **context: Any) -> Any:
        number = len(self.levels)
        self.levels.append(layouts)
        shown: Any
        if isinstance(layouts, tuple):
            shown = tuple(
                self._shown(layout, lambda k=k: self._truth().levels[number][k]) for k, layout in enumerate(layouts)
            )
        else:
            shown = self._shown(layouts, lambda: self._truth().levels[number])
        parts = shown if isinstance(shown, tuple) else (shown,)
        leaves = [part.data for part in parts if isinstance(part, TracedNumpyArray)]
        if isinstance(self._table, Table) and len(leaves) and all(layout.is_numpy for layout in _several(layouts)):
            return self._evaluated(self._table, shown, leaves, context)
        return self._called(shown, self._table, context)

    def _called(self, shown: Any, table: Any, context: Any) -> Any:
        before = getattr(_running, "table", None)
        _running.table = table
        try:
            return _hidden(self._transformation(shown, **context))
        finally:
            _running.table = before

    def _evaluated(self, table: Table, shown: Any, leaves: list[Any], context: Any) -> Any:
        """The numbers of a leaf: what is done to copied elements is done before the copying."""
        made: list[Any] = []
        result: Any = None

        def function(*buffers: Any) -> list[Any]:
            nonlocal result
            given = iter(buffers)
            parts = [
                TracedNumpyArray(part.tracked, next(given)) if isinstance(part, TracedNumpyArray) else part
                for part in _several(shown)
            ]
            result = self._called(
                tuple(parts) if isinstance(shown, tuple) else parts[0], _Recorder(table, made), context
            )
            return made

        values = evaluate(function, leaves)
        for before, value in zip(list(made), values, strict=True):
            table.replace(before, value)
        return result

    def _shown(self, layout: Any, truth: Any) -> Any:
        if self._stand_ins and layout.is_list:
            return TracedList(layout)
        if not layout.is_numpy or not self._table.known(layout.data):
            return layout
        return TracedNumpyArray(layout, jnp.asarray(values_of(self._table.node(layout, truth))))


class _Recorder:
    """Numbers the buffers that a callback makes, and notes them."""

    def __init__(self, table: Any, made: list[Any]) -> None:
        self._table = table
        self._made = made

    def ids(self, data: Any) -> Any:
        if not any(data is other for other in self._made):
            self._made.append(data)
        return self._table.ids(data)


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _hidden(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_hidden, result))
    return result.tracked if isinstance(result, TracedNumpyArray | TracedList) else result


def _layout(value: Any) -> Any:
    return value.layout if isinstance(value, ak.Array) else value
