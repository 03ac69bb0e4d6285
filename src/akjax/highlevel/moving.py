"""Calling an Awkward function that only moves elements, on traced arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.aligning import line_up
from ..algorithms.runtime import RunTime, attach, merge, strip
from ..algorithms.standing import StandIns
from ..algorithms.tracking import Table, Whole, is_flat, nodes_of_numbers, outline
from ..nodes.kinds import Flat
from ..nodes.walk import iterate
from ..structure.to_layout import stand_in
from .state import node_of, wrap


class Value:
    """Marks a number among the arguments as data: it may end up in the result and may be traced."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Fixed:
    """Marks an argument that is part of the question, not data to be moved: counts, a static condition."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Apart:
    """An argument that is one thing for tracked elements and another for zeros of the true dtypes."""

    def __init__(self, tracked: Any, true: Any) -> None:
        self.tracked = tracked
        self.true = true


def as_data(value: Any) -> Any:
    """An argument that holds data, marked as such; what is no data as it is."""
    if isinstance(value, bool | int | float | complex | np.number | np.bool_):
        return Value(value)
    if isinstance(value, np.ndarray | list):
        return ak.Array(value)
    return value


# these put elements of several buffers into one, whose dtype and structure depend on all of theirs
_JOINING = frozenset(
    {ak.concatenate, ak.fill_none, ak.flatten, ak.merge_union_of_records, ak.operations.from_iter, ak.ravel, ak.where}
)
# these change dtypes
_CASTING = frozenset({ak.enforce_type, ak.operations.from_iter})


def move(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `function` on tracked copies of its arrays and make the result of what they point to.

    Args:
        function: an Awkward function (or any function of arrays made of such) that only moves elements.
        args: its arguments; arrays in lists, tuples and dicts are found.
        kwargs: its keyword arguments.

    Returns:
        What the function returns, with traced arrays in place of tracked ones; plain facts stay concrete.
    """

    def called(argument: _Arguments) -> Any:
        return function(*map(argument, args), **{key: argument(value) for key, value in kwargs.items()})

    # a cast of what is no number loses rows of empty lists in Awkward
    table = Whole() if function is ak.zip and _are_columns(args) else Table(function is not ak.enforce_type)
    result = called(_Arguments(table))
    truth = functools.cache(lambda: called(_Arguments(None)))
    joined = function in _CASTING or (function in _JOINING and len(table.dtypes()) > 1)
    if joined and not _alike(result, truth()):
        # it joined booleans with numbers
        table = Table(booleans_apart=False)
        result = called(_Arguments(table))
    return _untrack(result, table, truth, joined)


def _are_columns(args: tuple[Any, ...]) -> bool:
    """Whether all data among some arguments are flat arrays of one length: put side by side, nothing moves."""
    values = list(_every(args))
    return bool(values) and all(isinstance(v, ak.Array) for v in values) and is_flat([node_of(v) for v in values])


def _alike(one: Any, two: Any) -> bool:
    if isinstance(one, ak.Array) and isinstance(two, ak.Array):
        return outline(nodes_of_numbers(one.layout)) == outline(nodes_of_numbers(two.layout))
    return type(one) is type(two)


class _Arguments:
    """Turns arguments into tracked ones, or, without a table, into zeros of the true dtypes."""

    def __init__(self, table: Table | None) -> None:
        self._table = table

    def __call__(self, value: Any) -> Any:
        if isinstance(value, Value):
            return self._scalar(value.value)
        if isinstance(value, Fixed):
            return value.value
        if isinstance(value, Apart):
            return value.true if self._table is None else value.tracked
        if isinstance(value, ak.Array | ak.Record):
            node = node_of(value)
            layout = stand_in(node) if self._table is None else self._table.layout(node)
            return type_of(layout)(layout, behavior=value.behavior, attrs=value.attrs)
        if isinstance(value, jax.Array):
            return self._buffer(value) if value.ndim else self._scalar(value)
        if type(value) in (list, tuple):
            return type(value)(self(item) for item in value)
        if type(value) is dict:
            return {key: self(item) for key, item in value.items()}
        return value

    def _scalar(self, value: Any) -> Any:
        if self._table is not None:
            return self._table.ids(jnp.reshape(value, 1) if isinstance(value, jax.Array) else np.reshape(value, 1))[0]
        return np.zeros((), value.dtype)[()] if isinstance(value, jax.Array) else value

    def _buffer(self, value: Any) -> Any:
        numbers = np.zeros(value.shape, value.dtype) if self._table is None else self._table.ids(value)
        return ak.Array(ak.contents.NumpyArray(numbers))


def type_of(layout: Any) -> Any:
    """`ak.Array` or `ak.Record`, by the layout."""
    return ak.Record if isinstance(layout, ak.record.Record) else ak.Array


def _untrack(result: Any, table: Table, truth: Callable[[], Any], joined: bool) -> Any:
    if isinstance(result, ak.Array | ak.Record):
        numbers = nodes_of_numbers(result.layout)
        buffers = [n.data for n in iterate(numbers) if isinstance(n, Flat)]
        if not joined and not any(map(table.tracked, buffers)):
            # nothing that depends on data: a fact of structure, or no elements at all
            return truth() if any(data.size == 0 for data in buffers) else result
        node = table.resolve(numbers, lambda: truth().layout, joined)
        return wrap(node, result.behavior, result.attrs, type(result))
    if type(result) in (list, tuple):
        parts = enumerate(result)
        return type(result)(_untrack(part, table, lambda i=i: truth()[i], joined) for i, part in parts)  # type: ignore[misc]
    if type(result) is dict:
        return {key: _untrack(part, table, lambda k=key: truth()[k], joined) for key, part in result.items()}  # type: ignore[misc]
    if isinstance(result, np.generic) and table.tracked(np.asarray(result)):
        return table.element(np.asarray(result))
    return result


def on_envelopes(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that works element by element, with run-time structure taken off and put back.

    Args:
        function: called with the same arguments, arrays replaced by their envelopes.
        args: its arguments; arrays in lists, tuples and dicts are found.
        kwargs: its keyword arguments.

    Returns:
        What the function returns, its arrays selected as the arguments were.
    """
    found: list[RunTime] = []
    arrays = [value for value in _every([*args, *kwargs.values()]) if isinstance(value, ak.Array)]
    stripped = [strip(node) for node in line_up([node_of(array) for array in arrays])]
    stand_ins = StandIns()
    stood = iter(stand_ins.stood([node for node, _ in stripped]))
    run_times = iter([run_time for _, run_time in stripped])

    def envelope(value: Any) -> Any:
        if isinstance(value, ak.Array):
            node, run_time = next(stood), next(run_times)
            found.append(run_time)
            return wrap(node, value.behavior, value.attrs) if run_time or stand_ins else value
        if isinstance(value, np.ndarray | jax.Array) and np.ndim(value):
            found.append(RunTime(depth=np.ndim(value) - 1))
        if type(value) in (list, tuple):
            return type(value)(envelope(item) for item in value)
        if type(value) is dict:
            return {key: envelope(item) for key, item in value.items()}
        return value

    arguments = [envelope(value) for value in args]
    named = {key: envelope(value) for key, value in kwargs.items()}
    run_time = merge(found) if found else RunTime()
    result = function(*arguments, **named)
    return _attach_all(result, run_time, stand_ins) if run_time or stand_ins else result


def _every(values: Any) -> Iterator[Any]:
    """All values, those in lists, tuples and dicts too, in their order."""
    for value in values.values() if type(values) is dict else values:
        if type(value) in (list, tuple, dict):
            yield from _every(value)
        else:
            yield value


def _attach_all(result: Any, run_time: RunTime, stand_ins: StandIns) -> Any:
    if isinstance(result, ak.Array):
        return wrap(attach(stand_ins.back(node_of(result)), run_time), result.behavior, result.attrs)
    if type(result) in (list, tuple):
        return type(result)(_attach_all(part, run_time, stand_ins) for part in result)
    return result
