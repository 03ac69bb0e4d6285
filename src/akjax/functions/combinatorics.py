"""Combinations and products of the elements of lists."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from ..algorithms.runtime import as_list, depth_of, strip
from ..errors import StructureError
from ..highlevel.moving import move
from ..highlevel.state import node_of, wrap
from ..kernels.gather import take
from ..nodes.kinds import List, Live, Node, Record, replace
from ..nodes.moving import indexed, project
from ..nodes.static import arange
from ..registry import implements
from ..structure.from_layout import from_layout
from .lengths import live


@implements(ak.combinations, route="moves", live=True)
def _combinations(array: Any, n: int, *, axis: int = 1, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.combinations, array, n, axis=axis, **kwargs)
    node = node_of(array)
    axis = axis if axis >= 0 else axis + depth_of(strip(node)[0]) + 1
    if axis == 0:
        message = "ak.combinations of rows after a selection by traced values is not supported yet"
        raise StructureError(message)
    named = {key: value for key, value in kwargs.items() if key not in ("behavior", "attrs", "highlevel")}
    behavior = kwargs.get("behavior") or array.behavior
    return wrap(_combine(node, n, axis, named), behavior, array.attrs)


def _combine(node: Node, n: int, axis: int, kwargs: dict[str, Any]) -> Node:
    if isinstance(node, Live):
        return Live(node.dead, _combine(node.content, n, axis, kwargs))
    lists = as_list(project(node))
    if not isinstance(lists, List):
        message = "ak.combinations of missing lists after a selection by traced values is not supported yet"
        raise StructureError(message)
    if axis > 1:
        return replace(lists, content=_combine(lists.content, n, axis - 1, kwargs))  # type: ignore[no-any-return]
    slots = ak.Array(_slots(lists))
    return _of_slots(ak.combinations(slots, n, axis=1, **kwargs), [lists] * n)


def _slots(lists: List) -> Any:
    """The numbers of the elements in their lists: what is combined in place of the elements."""
    numbers = ak.contents.NumpyArray(arange(lists.content.length))
    return ak.contents.ListOffsetArray(ak.index.Index64(lists.offsets.array), numbers)


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
        index = np.asarray(numbers.data)  # type: ignore[union-attr]
        content = source.content
        if isinstance(content, Live):
            here = take(content.dead, index)
            dead = here if dead is None else jnp.maximum(dead, here)
            content = content.content
        contents.append(indexed(index, content))
    record = replace(tuples, contents=tuple(contents))
    return replace(result, content=record if dead is None else Live(dead, record))  # type: ignore[no-any-return]


@implements(ak.argcombinations, route="moves")
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
    if any((node.dead if isinstance(node, Live) else None) is not dead for node in nodes):
        message = "these arrays were selected by different conditions on their rows: select the rows of one record"
        raise StructureError(message)
    lists = [as_list(project(node.content if isinstance(node, Live) else node)) for node in nodes]
    if not all(isinstance(item, List) for item in lists):
        message = "ak.cartesian of missing lists after a selection by traced values is not supported yet"
        raise StructureError(message)
    slots = [ak.Array(_slots(item)) for item in lists]  # type: ignore[arg-type]
    named = {key: value for key, value in kwargs.items() if key not in ("behavior", "attrs", "highlevel")}
    product = ak.cartesian(dict(zip(arrays, slots, strict=True)) if isinstance(arrays, dict) else slots, axis=1, **named)
    result = _of_slots(product, lists)  # type: ignore[arg-type]
    return wrap(result if dead is None else Live(dead, result), pieces[0].behavior, pieces[0].attrs)


@implements(ak.argcartesian, route="moves")
def _argcartesian(arrays: Any, **kwargs: Any) -> Any:
    return move(ak.argcartesian, arrays, **kwargs)
