"""`array[...]` by integers, tuples and slices in which something is traced, on arrays of known structure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.axes import Integers, pick
from ..algorithms.numbering import note
from ..algorithms.runtime import hide
from ..errors import StructureError
from ..nodes.kinds import Empty, Flat, List, Masked, Node, Option, Record, Regular, Row, replace
from ..nodes.moving import project
from ..nodes.walk import iterate
from ..structure.to_layout import stand_in
from .protocols import any_traced
from .state import is_traced, node_of, wrap

GetItem = Callable[[Any, Any], Any]


def is_traced_slice(where: Any) -> bool:
    """Whether an index is a slice with a traced bound, or has one in it."""
    if type(where) is tuple:
        return any(map(is_traced_slice, where))
    return type(where) is slice and any(isinstance(x, jax.Array) for x in (where.start, where.stop, where.step))


def index_by_tuple(array: Any, where: tuple[Any, ...], getitem: GetItem) -> Any:
    """`array[where]`.

    Args:
        array: an array without run-time structure.
        where: the index.
        getitem: any other indexing.
    """
    names = [item for item in where if _is_name(item)]
    rest = tuple(item for item in where if not _is_name(item))
    if names:
        # fields are the same wherever they stand among the axes
        for name in names:
            array = getitem(array, name)
        return getitem(array, rest if len(rest) > 1 else rest[0])
    rest = tuple(map(_readable, rest))
    masks = [item for item in rest if _kind(item) == "b" and _is_array(item, traced=True)]
    if masks:
        return _by_mask(array, rest, getitem)
    if any(isinstance(item, ak.Array) and item.ndim > 1 and not is_rectangular(node_of(item)) for item in rest):
        if len(rest) == 1:
            return getitem(array, rest[0])
        message = "lists of traced integers cannot stand in a tuple: index by them first, and then by the rest"
        raise StructureError(message)
    return _only_row(array, pick(node_of(array), _items(array, rest)))


def _is_name(item: Any) -> bool:
    return isinstance(item, str) or (isinstance(item, list) and bool(item) and all(isinstance(x, str) for x in item))


def _readable(item: Any) -> Any:
    """Lists as arrays, an array without axes as a number."""
    if isinstance(item, list):
        return note("array", item, jnp.asarray(item)) if any_traced(item) else ak.Array(item)
    if isinstance(item, np.ndarray) and item.ndim == 0:
        return item[()]
    return item


def _is_array(item: Any, traced: bool = False) -> bool:
    if isinstance(item, ak.Array):
        return is_traced(item) or not traced
    return isinstance(item, jax.Array if traced else jax.Array | np.ndarray) and item.ndim > 0


def _kind(item: Any) -> str:
    """The kind of number of an index, as a letter; none of anything else."""
    if isinstance(item, ak.Array):
        kinds = {np.dtype(n.data.dtype).kind for n in iterate(node_of(item)) if isinstance(n, Flat)}
        return kinds.pop() if len(kinds) == 1 else ""
    return np.dtype(item.dtype).kind if hasattr(item, "dtype") else ""


def _by_mask(array: Any, where: tuple[Any, ...], getitem: GetItem) -> Any:
    """A traced condition in front selects, and the others index what it has selected."""
    first, *others = where
    if _kind(first) != "b" or any(map(_is_array, others)):
        message = (
            "a traced condition in a tuple may only come first, and no other array with it: select by it, and then "
            "index the result, as in array[condition][:, k]"
        )
        raise StructureError(message)
    selected = getitem(array, first)
    return getitem(selected, (slice(None), *others)) if others else selected


def is_rectangular(node: Node) -> bool:
    """Whether an index is an array with axes, not lists: its elements are counted from the first axis on."""
    node = project(node)
    return isinstance(node, Flat) or (isinstance(node, Regular) and isinstance(node.content, Flat))


# ------------------------------------------------------------------------------- integers


def _items(array: Any, where: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index as `pick` takes it, checked by Awkward itself on zeros, the most lenient of integers."""
    parts: list[Any] = []
    for item in where:
        if _kind(item) == "b" and _is_array(item):
            parts.extend(Integers(found, found.shape) for found in np.nonzero(np.asarray(item)))
        else:
            parts.append(_integers(item) if _is_integers(item) else item)
    ak.Array(stand_in(node_of(array)))[tuple(map(_zeros, where))]
    shape = np.broadcast_shapes(*(item.shape for item in parts if isinstance(item, Integers)))
    return tuple(_broadcast(item, shape) if isinstance(item, Integers) and shape else item for item in parts)


def _is_integers(item: Any) -> bool:
    return _is_array(item) or (isinstance(item, int | np.integer | jax.Array) and not isinstance(item, bool))


def _integers(item: Any) -> Integers:
    if not _is_array(item):
        return Integers(_wide(item))
    if not isinstance(item, ak.Array):
        return Integers(_wide(item), item.shape)
    values, null = _values(project(node_of(item)))
    return Integers(_wide(values), np.shape(values), null)


def _wide(values: Any) -> Any:
    """Integers in one axis, of a type in which positions can be computed."""
    kind = np.dtype(values.dtype).kind if hasattr(values, "dtype") else "i"
    if kind not in "iu":
        message = "only integers and booleans can be used as an index"
        raise TypeError(message)
    if isinstance(values, jax.Array):
        wide = values.astype(jax.dtypes.canonicalize_dtype(np.int64)).reshape(-1)
        return note("integers", (values,), wide)
    return np.asarray(values).astype(np.int64).reshape(-1)


def _values(node: Node) -> tuple[Any, Any]:
    """The numbers of an index, whatever stands where one is missing, and the float mask of those."""
    match node:
        case Flat():
            return node.data, None
        case Regular():
            values, null = _values(project(node.content))
            return values.reshape((node.length, node.size, *values.shape[1:])), null
        case Empty():
            return np.zeros(0, np.int64), None
        case Masked():
            values, null = _values(project(node.content))
            return values, node.null if null is None else jnp.maximum(node.null, null)
        case Option():
            values, null = _values(project(node.content))
            index = node.index.array
            if null is None:
                full = values[np.maximum(index, 0)] if len(values) else np.zeros(len(index), np.int64)
                return full, np.where(index < 0, np.float32(1), np.float32(0))
    message = "only arrays of integers, not selected by traced values, can be an index of traced values"
    raise StructureError(message)


def _zeros(item: Any) -> Any:
    """The same index with zeros for what is traced."""
    if isinstance(item, ak.Array):
        return ak.Array(stand_in(node_of(item))) if is_traced(item) else item
    if isinstance(item, jax.Array):
        return np.zeros(item.shape, item.dtype)[()]
    if isinstance(item, slice):
        ends = [x if not isinstance(x, jax.Array) else 0 for x in (item.start, item.stop, item.step)]
        if isinstance(item.step, jax.Array):
            message = "the step of a slice cannot be traced: how many elements there are would depend on it"
            raise StructureError(message)
        return slice(*ends)
    return item


def _broadcast(item: Integers, shape: tuple[int, ...]) -> Integers:
    def full(part: Any) -> Any:
        if part is None or item.shape == shape:
            return part
        library = jnp if isinstance(part, jax.Array) else np
        whole = library.broadcast_to(part.reshape(item.shape), shape).reshape(-1)
        return note(("broadcast", item.shape, shape), (part,), whole)

    return Integers(full(item.values), shape, full(item.null))


# ------------------------------------------------------------------------------- the result


def _only_row(array: Any, node: Node) -> Any:
    """The one row there is, as `array[0]` gives it."""
    node = project(node)
    match node:
        case List() | Regular():
            found: Any = node.content
        case Flat():
            return node.data[0] if node.data.ndim == 1 else wrap(Flat(node.data[0]), array.behavior, array.attrs)
        case Record():
            found = Row(node)
        case Option():
            return None if node.index.array[0] < 0 else _only_row(array, node.content)
        case Masked():
            return _perhaps(array, node)
        case _:
            message = f"one element of {type(node).__name__}"
            raise AssertionError(message)
    return wrap(found, array.behavior, array.attrs)


def _perhaps(array: Any, node: Masked) -> Any:
    """A single element that may be missing, which only an array can say: a number becomes NaN."""
    content = project(node.content)
    if isinstance(content, Flat) and content.data.ndim == 1:
        # as `jnp.take` fills: NaN, of integers the lowest (or, of unsigned ones, the highest) that there is
        return jnp.take(content.data, jnp.where(node.null[0] == 0, 0, 1), mode="fill")
    if isinstance(content, Record):
        hidden = replace(content, contents=tuple(hide(below, node.null) for below in content.contents))
        return wrap(Row(hidden), array.behavior, array.attrs)
    message = (
        "whether this list is missing is known only at run time: fill or drop missing lists first, or keep the axis, "
        "as in array[[i]]"
    )
    raise StructureError(message)
