"""Combinations and products of the elements of lists."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np

from ..algorithms.numbering import note, same
from ..algorithms.runtime import as_list, depth_of, either, masked
from ..algorithms.slots import put
from ..errors import StructureError
from ..highlevel.moving import move
from ..highlevel.state import node_of, wrap
from ..kernels.gather import take
from ..nodes.kinds import Flat, List, Live, Masked, Node, Record, replace
from ..nodes.moving import project
from ..nodes.static import arange, static
from ..registry import INTEGERS, implements
from ..structure.from_layout import from_layout
from .lengths import live


@implements(ak.combinations, route="moves", live=True)
def _combinations(array: Any, n: int, *, axis: int = 1, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.combinations, array, n, axis=axis, **kwargs)
    node = node_of(array)
    axis = axis if axis >= 0 else axis + depth_of(node) + 1
    if axis == 0:
        message = "ak.combinations of rows after a selection by traced values is not supported yet"
        raise StructureError(message)
    named = {key: value for key, value in kwargs.items() if key not in ("behavior", "attrs", "highlevel")}
    behavior = kwargs.get("behavior") or array.behavior
    return wrap(_combine(node, n, axis, named), behavior, array.attrs)


def _combine(node: Node, n: int, axis: int, kwargs: dict[str, Any]) -> Node:
    if isinstance(node, Live | Masked):
        return replace(node, content=_combine(node.content, n, axis, kwargs))  # type: ignore[no-any-return]
    lists = as_list(masked(node))
    if isinstance(lists, Masked):
        return _combine(lists, n, axis, kwargs)
    if not isinstance(lists, List):
        message = (
            "ak.combinations after a selection by traced values reaches through lists only, not through "
            "records or unions"
        )
        raise StructureError(message)
    if axis > 1:
        return replace(lists, content=_combine(lists.content, n, axis - 1, kwargs))  # type: ignore[no-any-return]
    return _of_slots(ak.combinations(_slots(lists), n, axis=1, **kwargs), [lists] * n)


def _slots(lists: List) -> Any:
    """The numbers of the elements in their lists: what is combined in place of the elements."""
    return wrap(replace(lists, content=Flat(arange(lists.content.length)), parameters=None))


def _of_slots(combined: Any, sources: list[List]) -> Node:
    """Tuples of elements from tuples of their numbers; a tuple exists when all its elements do."""
    result = from_layout(combined.layout)
    assert isinstance(result, List)
    tuples = result.content
    if not isinstance(tuples, Record):
        return result
    contents: list[Node] = []
    dead = None
    for numbers, source in zip(tuples.contents, sources, strict=True):
        content = source.content
        if isinstance(content, Live):
            at = static(np.asarray(numbers.data))  # type: ignore[union-attr]
            dead = either(dead, note(("at", at), (content.dead,), take(content.dead, at.array)))
            content = content.content
        contents.append(put(numbers, content))
    record = replace(tuples, contents=tuple(contents))
    return replace(result, content=record if dead is None else Live(dead, record))  # type: ignore[no-any-return]


@implements(ak.argcombinations, route="moves", no_gradient=INTEGERS)
def _argcombinations(array: Any, n: int, **kwargs: Any) -> Any:
    return move(ak.argcombinations, array, n, **kwargs)


@implements(ak.cartesian, route="moves", live=True)
def _cartesian(arrays: Any, axis: int = 1, *, nested: Any = None, **kwargs: Any) -> Any:
    pieces = list(arrays.values()) if isinstance(arrays, dict) else list(arrays)
    if not any(map(live, pieces)):
        return move(ak.cartesian, arrays, axis=axis, nested=nested, **kwargs)
    if axis != 1 or nested:
        message = "ak.cartesian after a selection by traced values is supported for axis=1 without nested only"
        raise StructureError(message)
    nodes = [node_of(piece) for piece in pieces]
    dead = nodes[0].dead if isinstance(nodes[0], Live) else None
    if any(not same(node.dead if isinstance(node, Live) else None, dead) for node in nodes):
        message = "these arrays were selected by different conditions on their rows: select the rows of one record"
        raise StructureError(message)
    lists = [as_list(project(node.content if isinstance(node, Live) else node)) for node in nodes]
    if not all(isinstance(item, List) for item in lists):
        message = "ak.cartesian of missing lists after a selection by traced values is not supported yet"
        raise StructureError(message)
    slots = [_slots(item) for item in lists]  # type: ignore[arg-type]
    named = {key: value for key, value in kwargs.items() if key not in ("behavior", "attrs", "highlevel")}
    product = ak.cartesian(
        dict(zip(arrays, slots, strict=True)) if isinstance(arrays, dict) else slots, axis=1, **named
    )
    result = _of_slots(product, lists)  # type: ignore[arg-type]
    return wrap(result if dead is None else Live(dead, result), pieces[0].behavior, pieces[0].attrs)


@implements(ak.argcartesian, route="moves", no_gradient=INTEGERS)
def _argcartesian(arrays: Any, **kwargs: Any) -> Any:
    return move(ak.argcartesian, arrays, **kwargs)
