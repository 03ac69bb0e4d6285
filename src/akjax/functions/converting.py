"""Between Awkward and plain JAX arrays, from one type to another, and arrays made of pieces."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import numpy as np

from ..errors import ConcreteValueError, StructureError
from ..highlevel.building import from_pieces
from ..highlevel.moving import Apart, move
from ..highlevel.operations import construct, to_jax
from ..highlevel.state import node_of, tracer_in, wrap
from ..nodes.kinds import Constant, Flat, Indexed, Node
from ..nodes.moving import project
from ..nodes.walk import iterate, map_nodes
from ..registry import implements
from ..structure.from_layout import from_layout
from ..structure.to_layout import awkward_dtype, envelope_layout, stand_in


@implements(ak.to_jax, route="moves", always=True)
def _to_jax(array: Any) -> Any:
    return array if isinstance(array, jax.Array) else to_jax(array)


@implements(ak.from_jax, route="moves", always=True)
@implements(ak.from_dlpack, ak.from_numpy, route="moves")
def _from_jax(array: Any, *, behavior: Any = None, attrs: Any = None, **kwargs: Any) -> Any:
    return wrap(Flat(array), behavior, attrs) if isinstance(array, jax.Array) else array


@implements(ak.from_iter, route="moves")
def _from_iter(iterable: Any, allow_record: bool = True, **kwargs: Any) -> Any:
    if isinstance(iterable, dict) and not allow_record:
        message = "cannot produce an array from a single dict (that would be a record)"
        raise ValueError(message)
    return from_pieces(iterable, **kwargs)


implements(ak.Array, ak.Record, route="moves", live=True)(construct)


@implements(ak.to_backend, route="moves", live=True)
def _to_backend(array: Any, backend: str, **kwargs: Any) -> Any:
    if backend != "jax":
        what = f"ak.to_backend(array, {backend!r})"
        raise ConcreteValueError(tracer_in(array), what, "Inside, the backend is JAX; move the result outside")
    return array


@implements(ak.materialize, route="moves", live=True)
def _materialize(array: Any, **kwargs: Any) -> Any:
    return array


@implements(ak.enforce_type, route="moves")
def _enforce_type(array: Any, type: Any, **kwargs: Any) -> Any:
    if isinstance(type, str):
        type = ak.types.from_datashape(type, highlevel=False)
    # whether Awkward keeps an index depends on what it does to the content
    node = map_nodes(_without_index, node_of(array))
    ak.enforce_type(stand_in(node), type)  # Awkward's complaint about the true types
    if _makes_text(node, type):
        message = "ak.enforce_type cannot make text of traced numbers: text is part of the structure of an array"
        raise StructureError(message)
    array = wrap(node, array.behavior, array.attrs)
    return move(ak.enforce_type, array, Apart(_of_numbers(type), type), **kwargs)


def _makes_text(node: Node, kind: Any) -> bool:
    """Whether other numbers would give other text."""
    ones = envelope_layout(node, lambda flat: np.broadcast_to(np.ones((), awkward_dtype(flat.data.dtype)), flat.shape))
    made = [from_layout(ak.enforce_type(layout, kind, highlevel=False)) for layout in (stand_in(node), ones)]
    one, two = ([n.data for n in iterate(nodes) if isinstance(n, Constant)] for nodes in made)
    return one != two


def _without_index(node: Node) -> Node | None:
    if isinstance(node, Indexed) and not node.parameters:
        return map_nodes(_without_index, project(node))
    return None


def _of_numbers(kind: Any) -> Any:
    """The same type with all numbers those of elements; text and dates, which are not numbered, stay."""
    types, parameters = ak.types, kind.parameters
    if (parameters or {}).get("__array__") in ("string", "bytestring"):
        return kind
    match kind:
        case types.NumpyType():
            return types.NumpyType("int64", parameters=parameters) if _is_number(kind.primitive) else kind
        case types.ListType() | types.OptionType():
            return type(kind)(_of_numbers(kind.content), parameters=parameters)
        case types.RegularType():
            return types.RegularType(_of_numbers(kind.content), kind.size, parameters=parameters)
        case types.UnionType():
            return types.UnionType(map(_of_numbers, kind.contents), parameters=parameters)
        case types.RecordType():
            return types.RecordType(map(_of_numbers, kind.contents), kind.fields, parameters=parameters)
    return kind


def _is_number(primitive: str) -> bool:
    return np.dtype(primitive).kind in "biufc"
