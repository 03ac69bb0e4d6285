"""What traced arrays do when they are indexed, assigned to, or given to a ufunc."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from .. import _compat
from ..algorithms import selecting, ufuncs
from ..algorithms.elementwise import Level, combine, values_of
from ..algorithms.evening import evenly
from ..algorithms.gathering import gather_lists
from ..algorithms.numbering import note
from ..algorithms.origins import MOVED_UFUNCS, moved
from ..algorithms.runtime import columns
from ..errors import ConcreteValueError
from ..nodes.kinds import Constant, Flat, Indexed, List, Live, Masked, Node, Option, Record, Regular, Row, replace
from ..nodes.moving import carry, indexed, option, project
from ..nodes.static import static
from ..nodes.walk import has_run_time_structure, iterate
from ..structure.from_layout import regular
from ..structure.to_layout import stand_in
from . import vector_sums
from .building import from_pieces
from .facade import Facade
from .moving import move
from .protocols import any_traced, naming, noted, to_host
from .selected import index_selected
from .state import KEY, assign, flat_state, is_traced, node_of, state_of, tracer_in, wrap
from .tuples import index_by_tuple, is_rectangular, is_traced_slice

# ------------------------------------------------------------------------------- indexing


def getitem(array: Any, where: Any) -> Any:
    """`array[where]` when the array or the index is traced."""
    where = to_host(where)
    if isinstance(where, str) or _names(where):
        return _fields(array, where)
    wheres = where if isinstance(where, tuple) else (where,)
    if isinstance(array, ak.Record) and not any(isinstance(item, str) or _names(item) for item in wheres):
        return ak.Record(stand_in(node_of(array)))[0]  # Awkward's complaint that a record has fields only
    if has_run_time_structure(node_of(array)) or any(map(_is_selected, wheres)):
        return index_selected(array, where)
    if isinstance(where, ak.Array) and is_traced(where):
        return _traced_array_index(array, where)
    if isinstance(where, jax.Array):
        if where.ndim:
            return _traced_array_index(array, ak.Array(where))
        if where.dtype == np.bool_:
            message = "a single traced boolean cannot be an index: it would decide the number of dimensions"
            raise TypeError(message)
    if any_traced(wheres) or is_traced_slice(wheres):
        return index_by_tuple(array, wheres, getitem)
    return move(lambda x: x[where], array)


def _is_selected(where: Any) -> bool:
    return isinstance(where, ak.Array) and is_traced(where) and has_run_time_structure(node_of(where))


def _names(where: Any) -> bool:
    return isinstance(where, list) and bool(where) and all(isinstance(name, str) for name in where)


def _fields(array: Any, where: Any) -> Any:
    """A field, or several; structural whatever the array holds."""
    picked = stand_in(node_of(array))[where]  # Awkward's own error for a name that is not there
    node = _pick(node_of(array), where)
    if isinstance(node, Row) and not isinstance(picked, ak.record.Record):
        node = node.content
        return wrap(node, array.behavior, array.attrs)[0]
    return wrap(node, array.behavior, array.attrs)


def _pick(node: Any, where: Any) -> Any:
    if isinstance(node, Record):
        labels = list(node.fields) if node.fields is not None else [str(i) for i in range(len(node.contents))]
        if isinstance(where, str):
            return node.contents[labels.index(where)]
        contents = tuple(node.contents[labels.index(name)] for name in where)
        fields = None if node.fields is None else tuple(where)
        parameters = {k: v for k, v in (node.parameters or {}).items() if k != "__record__"} or None
        return Record(contents, fields, node.length, parameters)
    if isinstance(node, Option | Indexed):
        picked = _pick(node.content, where)
        rebuilt = option if isinstance(node, Option) else indexed
        return rebuilt(node.index.array, picked, node.parameters)
    if isinstance(node, Masked) and isinstance(node.content, Record):
        return Masked(node.null, _pick(node.content, where), node.parameters)
    if hasattr(node, "contents"):
        return replace(node, contents=tuple(_pick(content, where) for content in node.contents))
    parameters = {k: v for k, v in (node.parameters or {}).items() if k != "__list__"} or None
    if isinstance(node, Live | Row):
        return replace(node, content=_pick(node.content, where))
    return replace(node, content=_pick(node.content, where), parameters=parameters)


def _traced_array_index(array: Any, where: Any) -> Any:
    index = node_of(where)
    kind = _dtype_of(index)
    if kind == np.bool_:
        if isinstance(index, Flat) and index.data.ndim > 1:
            array, where = _joined_axes(array, index.data.shape), wrap(Flat(index.data.reshape(-1)))
            index = node_of(where)
        return _selection(array, where, index)
    if kind is not None and kind.kind in "iu":
        node = node_of(array)
        if where.ndim == 1 or is_rectangular(index):
            return index_by_tuple(array, (where,), getitem)
        promised = flat_state(where).memo.get("positions of") in _offsets(node)
        return wrap(gather_lists(node, index, promised), array.behavior, array.attrs)
    message = "only integers and booleans can be used as an index"
    raise TypeError(message)


def _joined_axes(array: Any, shape: tuple[int, ...]) -> Any:
    """The array with those axes made one that a mask of this shape covers, as NumPy reads such a mask."""
    node = node_of(array)
    for size in shape[1:]:
        node = project(node)
        if isinstance(node, Flat) and node.data.shape[1:2] == (size,):
            node = Flat(node.data.reshape((-1, *node.data.shape[2:])))
        elif isinstance(node, Regular) and node.size == size:
            node = node.content
        else:
            message = f"a traced mask with axes {shape} fits an array whose first axes have these lengths only"
            raise IndexError(message)
    return wrap(node, array.behavior, array.attrs)


def _offsets(node: Node) -> list[Any]:
    return [n.offsets for n in iterate(node) if isinstance(n, List)]


def _dtype_of(node: Node) -> Any:
    for n in iterate(node):
        if isinstance(n, Flat):
            return np.dtype(n.data.dtype)
    return None


def _selection(array: Any, where: Any, condition: Node) -> Any:
    """`array[condition]`."""
    node = node_of(array)
    if isinstance(condition, Flat) and condition.length < node.length:
        # Awkward takes what a shorter mask does not reach for not selected
        missing = node.length - condition.length
        where = wrap(Flat(note(("pad", missing), (condition.data,), jnp.pad(condition.data, (0, missing)))))
        condition = node_of(where)
    if not has_run_time_structure(node) and not has_run_time_structure(condition):
        # Awkward says what is wrong with lengths and lists that do not fit
        ak.Array(stand_in(node))[ak.Array(stand_in(condition))]
    node, fitting = selecting.fitted(node, condition, selects=True)
    read = _condition(where, condition) if fitting is condition else selecting.read(fitting)
    return wrap(selecting.select(node, read), array.behavior, array.attrs)


def _condition(where: Any, node: Node) -> selecting.Condition:
    """A condition is read once, so that what is selected by it twice is known to be the same."""
    memo = flat_state(where).memo
    if "condition" not in memo:
        memo["condition"] = selecting.read(node)
    return memo["condition"]  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------- ufuncs


def ufunc(function: Any, method: str, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """A NumPy ufunc on arrays of which one is traced, with Awkward's broadcasting and overloads."""
    if method != "__call__" or len(inputs) == 0 or "out" in kwargs:
        return NotImplemented
    if set(kwargs) - {"dtype"}:
        message = f"np.{function.__name__} takes no {', '.join(sorted(set(kwargs) - {'dtype'}))} on traced arrays"
        raise TypeError(message)
    if function is np.matmul:
        message = "matrix multiplication (`@` or `np.matmul`) is not implemented for Awkward Arrays"
        raise NotImplementedError(message)
    result = naming(f"np.{function.__name__}", Ufunc(function, list(inputs), kwargs.get("dtype")).call)
    return noted(function, inputs, kwargs, result)


class Ufunc:
    """One call of a ufunc: operands sorted into arrays and scalars, overloads, and the combining."""

    def __init__(self, function: Any, inputs: list[Any], dtype: Any) -> None:
        self._function = function
        self._dtype = dtype
        arrays = [x for x in inputs if isinstance(x, ak.Array | ak.Record)]
        self._behavior = ak_behavior(arrays)
        self._attrs = ak_attrs(arrays)
        self._inputs = [self._operand(x) for x in inputs]

    def _operand(self, value: Any) -> Any:
        """A node for an array, the value itself for a scalar."""
        if not isinstance(value, ak.Array | ak.Record):
            cast = _compat.find_custom_cast(value, self._behavior)
            if cast is not None:
                value = cast(value)
        if isinstance(value, ak.Array | ak.Record):
            node = node_of(value)
            return node.data if isinstance(node, Flat) and np.ndim(node.data) == 0 else node
        if isinstance(value, jax.Array | np.ndarray) and np.ndim(value):
            return Flat(value)
        if isinstance(value, list | tuple):
            return node_of(ak.Array(value))
        return value

    def call(self) -> Any:
        nodes = [x for x in self._inputs if _is_node(x)]
        if not nodes:
            return self._leaf()
        single = all(isinstance(node, Row) for node in nodes)
        length = max((node.length for node in nodes if not isinstance(node, Row)), default=1)
        self._inputs = [_rows(x, length) for x in self._inputs]
        nodes = [x for x in self._inputs if _is_node(x)]
        fill = ufuncs.fill_for(self._function)
        special = any(isinstance(n, Record) or _nominal(n) for node in nodes for n in iterate(node))
        results = combine(self._leaf, nodes, fill=fill, override=self._override, fast=not special)
        wrapped = tuple(wrap(node, self._behavior, self._attrs) for node in results)
        if single:
            wrapped = tuple(part[0] for part in wrapped)
        return wrapped if len(wrapped) > 1 else wrapped[0]

    def _leaf(self, *buffers: Any) -> Any:
        remaining = iter(buffers)
        values = [next(remaining) if _is_node(x) else x for x in self._inputs]
        if self._function in MOVED_UFUNCS:
            key = (self._function, str(self._dtype))
            return moved(key, lambda *given: ufuncs.apply(self._function, list(given), self._dtype), values)
        return evenly(lambda *given: ufuncs.apply(self._function, list(given), self._dtype), values)

    def _override(self, level: Level) -> Any:
        """A user's overload for these types, or Awkward's complaint that there is none."""
        layouts = level.layouts
        signature = self._signature(level)
        if signature is not None:
            custom = _compat.find_ufunc(self._behavior, signature)
            if custom is not None:
                operands = self._wrapped(level)
                if vector_sums.is_sum(self._function, custom, operands):
                    return _layouts(vector_sums.added(self._function, custom, *operands), level)
                return _layouts(custom(*operands), level)
        texts = self._texts(level)
        if texts is not None:
            return _layouts(self._function(*texts), level)
        for layout in layouts:
            generic = _compat.find_ufunc_generic(self._function, layout, self._behavior)
            if generic is not None:
                result = generic(self._function, "__call__", self._wrapped(level), {})
                if result is not NotImplemented:
                    return _layouts(result, level)
        if all(map(_is_text, layouts)):
            message = f"numpy.{self._function.__name__} is not implemented for string types: they are structure here"
            raise TypeError(message)
        if all(map(_name, layouts)):
            names = ", ".join(map(_name, layouts))
            message = f"no numpy.{self._function.__name__} overloads for custom types: {names}"
            raise TypeError(message)
        return None

    def _signature(self, level: Level) -> Any:
        if not any(map(_name, level.layouts)):
            return None
        nodes = iter(level.nodes())
        signature: list[Any] = [self._function]
        for x in self._inputs:
            node = next(nodes) if _is_node(x) else None
            name = None if node is None else _name_of(node)
            if name is not None:
                signature.append(name)
            elif node is None:
                signature.append(x.dtype.type if isinstance(x, jax.Array) else type(x))
            elif isinstance(node, Flat):
                signature.append(np.dtype(node.data.dtype).type)
            else:
                return None
        return tuple(signature)

    def _texts(self, level: Level) -> list[Any] | None:
        """The operands if all are strings: these are structure, so that Awkward itself can compare them."""
        layouts = iter(level.layouts)
        operands = [next(layouts) if _is_node(x) else x for x in self._inputs]
        if all(isinstance(x, str | bytes) or _is_text(x) for x in operands):
            return [x if isinstance(x, str | bytes) else ak.Array(x) for x in operands]
        return None

    def _wrapped(self, level: Level) -> list[Any]:
        nodes = iter(level.nodes())
        return [wrap(next(nodes), self._behavior) if _is_node(x) else x for x in self._inputs]


def _layouts(result: Any, level: Level) -> Any:
    parts = result if isinstance(result, tuple) else (result,)
    layouts = tuple(level.layout(node_of(part)) for part in parts)
    return layouts if len(layouts) > 1 else layouts[0]


def _name(layout: Any) -> Any:
    return layout.parameter("__record__") or layout.parameter("__list__")


def _name_of(node: Node) -> Any:
    parameters = node.parameters or {}
    return parameters.get("__record__") or parameters.get("__list__")


def _is_text(value: Any) -> bool:
    return isinstance(value, ak.contents.Content) and value.parameter("__array__") in ("string", "bytestring")


def _is_node(value: Any) -> bool:
    return isinstance(value, Node.__args__)


def _nominal(node: Node) -> bool:
    parameters = node.parameters or {}
    return "__record__" in parameters or "__list__" in parameters or isinstance(node, Constant)


def _rows(value: Any, length: int) -> Any:
    """A record among arrays stands for as many rows as they have."""
    if isinstance(value, Row):
        return value.content if length == 1 else carry(value.content, np.zeros(length, dtype=np.int64))
    return value


def ak_behavior(arrays: list[Any]) -> Any:
    """The behavior of a result of several arrays, as Awkward merges them."""
    merged = None
    for array in arrays:
        if array.behavior is not None:
            if merged is None:
                merged = array.behavior
            elif merged is not array.behavior:
                merged = {**merged, **array.behavior}
    return merged


def ak_attrs(arrays: list[Any]) -> Any:
    """The attributes of a result of several arrays: those of the first win."""
    merged: dict[str, Any] = {}
    for array in reversed(arrays):
        merged.update(array.attrs or {})
    return merged or None


# ------------------------------------------------------------------------------- building and changing


def construct(
    array: Any,
    data: Any,
    *,
    behavior: Any = None,
    with_name: str | None = None,
    check_valid: bool = False,
    backend: str | None = None,
    attrs: Any = None,
    named_axis: Any = None,
) -> None:
    """`ak.Array(data)` and `ak.Record(data)` where something in `data` is traced."""
    del check_valid, backend  # nothing to check or to move before values exist
    if isinstance(data, Facade):
        data = data.owner
    if isinstance(data, ak.Array | ak.Record):
        behavior = data.behavior if behavior is None else behavior
        attrs = (data.attrs or None) if attrs is None else attrs
        node = node_of(data)
    elif isinstance(data, dict):
        node = _single(data) if isinstance(array, ak.Record) else _columns(data)
    elif isinstance(data, jax.Array) and data.ndim:
        node = Flat(data)
    elif isinstance(data, list | tuple):
        node = node_of(from_pieces(list(data)))
    else:
        message = (
            f"ak.Array cannot be made of traced values in a {type(data).__name__}: "
            "use ak.zip, jnp.stack or ak.concatenate"
        )
        raise TypeError(message)
    made = wrap(node, behavior, attrs)
    if with_name is not None:
        made = ak.with_name(made, with_name, behavior=behavior)
    if named_axis is not None:
        made = ak.with_named_axis(made, named_axis)
    array.__dict__.update(made.__dict__)
    array.__class__ = type(made)


def _single(data: dict[str, Any]) -> Any:
    """One record of numbers, nested pieces and whole arrays."""
    return Row(Record(tuple(map(_alone, data.values())), tuple(data), 1))


def _alone(value: Any) -> Node:
    """An array of nothing but this value."""
    if isinstance(value, dict | ak.Record) or not (isinstance(value, ak.Array | list | tuple) or np.ndim(value)):
        return node_of(ak.Array([value]))
    row = node_of(ak.Array(value))
    if isinstance(row, Live):
        return List(static(np.array([0, row.length])), row)
    return regular(row, row.length, 1, None)


def _columns(data: dict[str, Any]) -> Any:
    arrays = [value if isinstance(value, ak.Array) else ak.Array(value) for value in data.values()]
    nodes = [node_of(array) for array in arrays]
    lengths = {node.length for node in nodes}
    if len(lengths) > 1:
        message = (
            "dict of arrays in ak.Array constructor must have arrays of equal length "
            f"({' vs '.join(map(str, sorted(lengths)))}). For automatic broadcasting use 'ak.zip' instead."
        )
        raise ValueError(message)
    return columns(nodes, tuple(data))


def copy(array: Any, memo: Any = None) -> Any:
    """A second array over the same tracers."""
    del memo
    return wrap(node_of(array), array.behavior, array.attrs, type(array))


def set_field(array: Any, where: Any, what: Any) -> None:
    """`array[where] = what`; on an array that is not traced it holds inside the running trace only."""
    names = (where,) if isinstance(where, str) else where
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        message = "only fields may be assigned in-place (by field name)"
        raise TypeError(message)
    assign(array, node_of(ak.with_field(array, what, where)))


def delete_field(array: Any, where: Any) -> None:
    """`del array[where]`."""
    names = (where,) if isinstance(where, str) else where
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        message = "only fields may be removed in-place (by field name)"
        raise TypeError(message)
    assign(array, node_of(ak.without_field(array, where)))


def to_jax(array: Any) -> Any:
    """The numbers of a rectangular array as one JAX array.

    Raises:
        ValueError: when the lists have different lengths or values may be missing, as in `ak.to_jax`.
    """
    if not is_traced(array):
        return jnp.asarray(ak.to_numpy(array, allow_missing=False))
    node = node_of(array)
    if has_run_time_structure(node):
        instead = (
            "Which elements there are, or are missing, is known only at run time: use NumPy's functions, which take an "
            "ak.Array as it is (np.sin(x), not jnp.sin(x)), or reduce it, or pad and fill it on each such axis "
            "(ak.pad_none with clip=True, ak.fill_none) first"
        )
        raise ConcreteValueError(tracer_in(array), "Conversion to a JAX array", instead)
    ak.to_numpy(ak.Array(stand_in(node)), allow_missing=False)  # Awkward's error for what is not rectangular
    return dense(node)


def dense(node: Node) -> Any:
    """The buffer of a rectangular node."""
    node = project(node)
    if isinstance(node, Flat):
        return jnp.asarray(values_of(node))
    if isinstance(node, Option):
        return dense(carry(node.content, node.index.array))
    if isinstance(node, Regular):
        below = dense(node.content)
        return below[: node.length * node.size].reshape((node.length, node.size, *below.shape[1:]))
    if isinstance(node, List):
        below = dense(node.content)
        size = int(node.offsets.array[1]) if node.length else 0  # of each list
        return below.reshape((node.length, size, *below.shape[1:]))
    if isinstance(node, Record):  # JAX's class of error for NumPy's structured arrays
        message = "records are several arrays: convert their fields"
        raise TypeError(message)
    message = f"cannot convert to RectangularArray: {type(node).__name__}"
    raise ValueError(message)


__all__ = ["KEY", "construct", "copy", "delete_field", "getitem", "set_field", "state_of", "to_jax", "ufunc"]
