"""Indexing where elements of the array, or of the index, exist only at run time.

Positions count what exists. Whatever the index is, it comes down to selecting by a condition, slicing by rank,
or taking elements by rank (`algorithms.selecting`, `ranks` and `picking`).
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms import ranks, selecting
from ..algorithms.aligning import line_up
from ..algorithms.picking import pick
from ..algorithms.ranks import split_live
from ..algorithms.runtime import as_list, as_regular, dead_below, depth_of, masked
from ..errors import StructureError
from ..nodes.kinds import Empty, Flat, List, Live, Masked, Node, Record, Regular, Row, replace
from ..nodes.moving import carry, project
from ..nodes.static import static
from ..nodes.walk import has_run_time_structure, iterate
from .state import flat_state, node_of, wrap


def index_selected(array: Any, where: Any) -> Any:
    """`array[where]`, where the array or an array in the index has run-time structure."""
    if not isinstance(where, tuple):
        return _one(array, where)
    names = [one for one in where if _is_name(one)]
    if names:
        # fields are the same wherever they stand among the axes
        for name in names:
            array = array[name]
        rest = tuple(one for one in where if not _is_name(one))
        return array[rest if len(rest) != 1 else rest[0]] if rest else array
    at = next((k for k, one in enumerate(where) if one is Ellipsis), None)
    if at is not None:
        between = depth_of(node_of(array)) + 1 - sum(one is not None and one is not Ellipsis for one in where)
        where = (*where[:at], *[slice(None)] * between, *where[at + 1 :])
    at = next((k for k, one in enumerate(where) if one is None), None)
    if at is not None:
        rest = (*where[:at], *where[at + 1 :])
        if at == 0 or not all(map(_is_whole, rest)):
            message = "after a selection by traced values a new axis is added by itself, as in array[:, None]"
            raise StructureError(message)
        return wrap(_new_axis(node_of(array), at), array.behavior, array.attrs)
    for axis, one in enumerate(where):
        if _is_whole(one):
            continue
        if axis == 0 and _is_integer(one) and not all(map(_is_whole, where[1:])) and _is_record(array):
            message = "an index of the fields of one record after a selection by traced values: take the field first"
            raise StructureError(message)
        found = _at(array, one, axis)
        rest = (*where[:axis], *([] if _is_integer(one) else [slice(None)]), *where[axis + 1 :])
        return found if all(map(_is_whole, rest)) else found[rest if len(rest) > 1 else rest[0]]
    return array


def _is_name(where: Any) -> bool:
    return isinstance(where, str) or (
        isinstance(where, list) and bool(where) and all(isinstance(x, str) for x in where)
    )


def _is_record(array: Any) -> bool:
    return isinstance(project(split_live(node_of(array))[1]), Record)


def _is_whole(where: Any) -> bool:
    return isinstance(where, slice) and where == slice(None)


def _at(array: Any, where: Any, axis: int) -> Any:
    """An index of one axis, the axes before it whole."""
    if axis == 0:
        return _one(array, where)
    if isinstance(where, slice):
        return wrap(ranks.part(node_of(array), where, axis), array.behavior, array.attrs)
    if _is_integer(where):
        found = ranks.element(node_of(array), _integer(where), axis, missing=False)
        return wrap(found, array.behavior, array.attrs)
    message = (
        "after a selection by traced values an index of inner axes takes integers and slices, as in array[:, k] or "
        "array[:, :2]: make others an index of lists, as ak.argmax(array, axis=1, keepdims=True) gives it"
    )
    raise StructureError(message)


def _new_axis(node: Node, axis: int) -> Node:
    """Every element at a level as the only one of a list."""
    node = masked(node)
    if isinstance(node, Live):
        return replace(node, content=_new_axis(node.content, axis))  # type: ignore[no-any-return]
    if axis == 1:
        return Regular(node, 1, node.length)
    if isinstance(node, Masked):
        return replace(node, content=_new_axis(node.content, axis))  # type: ignore[no-any-return]
    if isinstance(node, Record):
        message = "a new axis in the fields of records after a selection by traced values: index the fields one by one"
        raise StructureError(message)
    lists = as_regular(node)
    if not isinstance(lists, List | Regular):
        message = "there are no lists at the level of the new axis"
        raise IndexError(message)
    return replace(lists, content=_new_axis(lists.content, axis - 1))  # type: ignore[no-any-return]


def _one(array: Any, where: Any) -> Any:
    """One index, of the rows or of lists in them."""
    node = node_of(array)
    if where is Ellipsis:
        return array
    if isinstance(where, slice):
        found = node if where == slice(None) else ranks.part(node, where, 0)
        return wrap(found, array.behavior, array.attrs)
    if _is_integer(where):
        return _row(array, node, _integer(where))
    if isinstance(where, list | np.ndarray):
        where = ak.Array(where)
    if isinstance(where, jax.Array) and where.ndim:
        where = ak.Array(where)
    if not isinstance(where, ak.Array):
        message = f"an index after a selection by traced values cannot be {where!r}: index before selecting"
        raise StructureError(message)
    index = node_of(where)
    kind = _kind(index)
    if kind == "b":
        return _selection(array, node, where, index)
    if kind in ("i", "u", None):
        return _elements(array, node, index)
    message = "only integers and booleans can be used as an index"
    raise TypeError(message)


def _is_integer(where: Any) -> bool:
    if isinstance(where, jax.Array):
        return where.ndim == 0 and where.dtype.kind in "iu"
    return isinstance(where, int | np.integer) and not isinstance(where, bool)


def _integer(where: Any) -> Any:
    return where if isinstance(where, jax.Array) else int(where)


def _kind(node: Node) -> str | None:
    return next((np.dtype(n.data.dtype).kind for n in iterate(node) if isinstance(n, Flat)), None)


def _selection(array: Any, node: Node, where: Any, condition: Node) -> Any:
    rectangle = split_live(condition)[1]
    if isinstance(rectangle, Flat) and len(rectangle.shape) > 1:
        # a rectangle of conditions makes the axes it covers one, as in NumPy
        axes = len(rectangle.shape) - 1
        condition = _as_wide(condition, rectangle, node)
        return _selection(array, _as_one_axis(node, axes), wrap(flat := _as_one_axis(condition, axes)), flat)
    if not isinstance(node, Live) and not has_run_time_structure(condition) and depth_of(condition) == 0:
        values = ak.to_numpy(where, allow_missing=False) if not _is_traced(condition) else None
        if values is not None and len(values) == node.length:
            return wrap(carry(node, np.flatnonzero(values)), array.behavior, array.attrs)
    array_node, fitting = selecting.fitted(node, condition, selects=True)
    memo = flat_state(where).memo
    if fitting is not condition:
        read = selecting.read(fitting)
    else:
        # a condition is read once, so that what is selected by it twice is known to be the same
        read = memo.get("condition") or selecting.read(condition)
        memo["condition"] = read
    return wrap(selecting.select(array_node, read), array.behavior, array.attrs)


def _as_wide(condition: Node, rectangle: Flat, node: Node) -> Node:
    """A rectangle of conditions with as many columns as an array; what it does not reach is not selected."""
    sizes, inside = [], split_live(node)[1]
    for _ in rectangle.shape[1:]:
        lists = as_regular(project(inside))
        if not isinstance(lists, Regular):
            message = (
                "a rectangle of conditions after a selection by traced values fits an array whose first axes are "
                "regular, too: give conditions in the lists of the array, such as array > 0"
            )
            raise StructureError(message)
        sizes.append(lists.size)
        inside = lists.content
    missing = [size - width for size, width in zip(sizes, rectangle.shape[1:], strict=True)]
    if any(number < 0 for number in missing):
        message = f"a rectangle of conditions of {rectangle.shape[1:]} columns has more than the array, {tuple(sizes)}"
        raise StructureError(message)
    if not any(missing):
        return condition
    data = jnp.pad(jnp.asarray(rectangle.data), [(0, 0), *((0, number) for number in missing)])
    wide = replace(rectangle, data=data)
    return Live(condition.dead, wide) if isinstance(condition, Live) else wide


def _as_one_axis(node: Node, axes: int) -> Node:
    """An array with as many regular axes below the rows made one with these."""
    for _ in range(axes):
        dead, content = split_live(node)
        lists: Any = as_regular(project(content))
        node = lists.content if dead is None else Live(dead_below(lists, dead), lists.content)
    return node


def _is_traced(node: Node) -> bool:
    return any(isinstance(n.data, jax.Array) for n in iterate(node) if isinstance(n, Flat))


def _elements(array: Any, node: Node, index: Node) -> Any:
    levels = depth_of(index)
    if levels == 0:
        static_rows = not isinstance(node, Live) and not has_run_time_structure(index) and not _is_traced(index)
        if static_rows and isinstance(project(index), Flat | Empty):
            return _static_rows(array, node, index)
        rows, asked = (List(static(np.array([0, n.length])), n) for n in (node, index))
        found: Any = pick(rows, asked)
        return wrap(found.content, array.behavior, array.attrs)
    node, index = line_up([node, index], levels)
    return wrap(pick(node, index), array.behavior, array.attrs)


def _static_rows(array: Any, node: Node, index: Node) -> Any:
    index = project(index)
    values = np.asarray(index.data) if isinstance(index, Flat) else np.zeros(0, np.int64)
    at = np.where(values < 0, values + node.length, values)
    if ((at < 0) | (at >= node.length)).any():
        message = f"index out of range: an integer index is not in an array of length {node.length}"
        raise IndexError(message)
    return wrap(carry(node, at), array.behavior, array.attrs)


def _row(array: Any, node: Node, at: Any) -> Any:
    """One row, by its position among those that exist."""
    if isinstance(node, Row):
        message = "scalar Record can only be sliced by field name (string)"
        raise ValueError(message)
    if isinstance(node, Live) or isinstance(at, jax.Array):
        rows = ranks.element(List(static(np.array([0, node.length])), node), at, 1, missing=False)
    else:
        if not -node.length <= at < node.length:
            message = f"index {at} is out of bounds for an array of length {node.length}"
            raise IndexError(message)
        rows = carry(node, np.array([at % node.length]))
    row = as_regular(project(rows))
    if isinstance(row, Masked):
        return _missing_row(array, row)
    found: Node = Row(row) if isinstance(row, Record) else as_list(row)
    if isinstance(found, List | Regular):
        found = found.content
    elif isinstance(found, Flat):
        return found.data[0]
    return wrap(found, array.behavior, array.attrs)


def _missing_row(array: Any, row: Masked) -> Any:
    message = (
        "a single element that may be missing at run time cannot be taken out of its array: keep it in a list, as in "
        "array[0:1], or fill it with ak.fill_none first"
    )
    raise StructureError(message)
