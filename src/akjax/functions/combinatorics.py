"""Combinations and products of the elements of lists."""

from __future__ import annotations

from typing import Any

import awkward as ak

from ..algorithms.aligning import line_up
from ..algorithms.combining import at_lists, combined, harmless, products
from ..algorithms.conforming import conformed
from ..algorithms.runtime import counted_from_the_top, depth_of
from ..highlevel.moving import move
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import is_traced, node_of, wrap
from ..nodes.kinds import Jagged, List, Live, Node
from ..nodes.walk import has_run_time_structure
from ..registry import INTEGERS, implements
from ..structure.to_layout import stand_in
from .lengths import live

_OF_RESULTS = ("behavior", "attrs", "highlevel")


def _options(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments that say what the result is, not how it is wrapped."""
    return {key: value for key, value in kwargs.items() if key not in _OF_RESULTS}


def _reaches(array: Any, axis: Any) -> bool:
    """Whether there is nothing but lists above the elements at this axis, all of them known while tracing."""
    if not is_traced(array) or not isinstance(axis, int) or "__named_axis__" in array.attrs:
        return False
    node = node_of(array)
    axis = axis if axis >= 0 else axis + depth_of(node) + 1
    while axis > 0 and isinstance(node, List) and not isinstance(node, Jagged) and not node.parameters:
        node, axis = node.content, axis - 1
    return axis == 0 and not has_run_time_structure(node)


def _combinations_of(function: Any, array: Any, n: int, axis: int, kwargs: dict[str, Any], positions: bool) -> Any:
    node = node_of(array)
    options = _options(kwargs)
    asked = function(ak.Array(stand_in(node))[:0], n, axis=axis, **options)  # Awkward's errors, and its type

    def made(lists: List, dead: Any) -> Node:
        return combined(harmless([lists], dead)[0], n, options, positions)

    found = at_lists([node], counted_from_the_top(node, axis), lambda several, dead: made(several[0], dead))
    found = conformed(found, asked.layout)
    return wrap(found, kwargs.get("behavior") or array.behavior, kwargs.get("attrs") or array.attrs)


@implements(ak.combinations, route="moves", live=True)
def _combinations(array: Any, n: int, *, axis: int = 1, **kwargs: Any) -> Any:
    if not live(array) and not _reaches(array, axis):
        return move(ak.combinations, array, n, axis=axis, **kwargs)
    return _combinations_of(ak.combinations, array, n, axis, kwargs, positions=False)


@implements(ak.argcombinations, route="moves", live=True, no_gradient=INTEGERS)
def _argcombinations(array: Any, n: int, *, axis: int = 1, **kwargs: Any) -> Any:
    if not live(array) and not _reaches(array, axis):
        return move(ak.argcombinations, array, n, axis=axis, **kwargs)
    return _combinations_of(ak.argcombinations, array, n, axis, kwargs, positions=True)


def _products_of(function: Any, arrays: Any, axis: int, nested: Any, kwargs: dict[str, Any], positions: bool) -> Any:
    pieces = list(arrays.values()) if isinstance(arrays, dict) else list(arrays)
    pieces = [piece if isinstance(piece, ak.Array) else ak.Array(piece) for piece in pieces]
    nodes = [node_of(piece) for piece in pieces]
    names = list(arrays) if isinstance(arrays, dict) else None

    def named(values: list[Any]) -> Any:
        return values if names is None else dict(zip(names, values, strict=True))

    rows = any(isinstance(node, Live) for node in nodes)  # how many there are is known at run time
    asked = named([ak.Array(stand_in(node))[: 0 if rows else None] for node in nodes])
    kind = function(asked, axis, nested=nested, **_options(kwargs)).layout  # Awkward's errors, and its type
    axis = counted_from_the_top(nodes[0], axis)
    nodes = line_up(nodes, axis)
    ends = _ends(nested, names, len(nodes))
    options = _options(kwargs)

    def made(several: list[List], dead: Any) -> Node:
        return products(
            harmless(several, dead), ends, lambda slots: ak.cartesian(named(slots), axis=1, **options), positions
        )

    found = at_lists(nodes, axis, made)
    behavior, attrs = kwargs.get("behavior") or ak_behavior(pieces), kwargs.get("attrs") or ak_attrs(pieces)
    return wrap(conformed(found, kind, options=True), behavior, attrs)


def _ends(nested: Any, names: list[str] | None, count: int) -> list[int]:
    """After which of the arrays a level of lists ends."""
    if nested is None or nested is False:
        return []
    if nested is True:
        return list(range(count - 1))
    return sorted(k if names is None else names.index(k) for k in nested)


@implements(ak.cartesian, route="moves", live=True)
def _cartesian(arrays: Any, axis: int = 1, *, nested: Any = None, **kwargs: Any) -> Any:
    if not any(map(live, arrays.values() if isinstance(arrays, dict) else arrays)):
        return move(ak.cartesian, arrays, axis=axis, nested=nested, **kwargs)
    return _products_of(ak.cartesian, arrays, axis, nested, kwargs, positions=False)


@implements(ak.argcartesian, route="moves", live=True, no_gradient=INTEGERS)
def _argcartesian(arrays: Any, axis: int = 1, *, nested: Any = None, **kwargs: Any) -> Any:
    if not any(map(live, arrays.values() if isinstance(arrays, dict) else arrays)):
        return move(ak.argcartesian, arrays, axis=axis, nested=nested, **kwargs)
    return _products_of(ak.argcartesian, arrays, axis, nested, kwargs, positions=True)
