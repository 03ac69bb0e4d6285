"""Records made, taken apart and extended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np

from ..algorithms.aligning import line_up
from ..algorithms.slots import cut, level_of, put
from ..algorithms.standing import has_traced_lists, sunk
from ..errors import StructureError
from ..highlevel.moving import as_data, move, on_envelopes
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import node_of, wrap
from ..nodes.kinds import Flat, Masked, Node, Option, Record, replace
from ..nodes.moving import project
from ..nodes.walk import iterate, map_nodes
from ..registry import implements
from ..structure.to_layout import stand_in
from .lengths import live


@implements(ak.zip, route="moves", live=True)
def _zip(arrays: Any, depth_limit: Any = None, **kwargs: Any) -> Any:
    pieces = list(arrays.values()) if isinstance(arrays, dict) else list(arrays)
    if not any(map(live, pieces)):
        return move(ak.zip, _marked(arrays), depth_limit=depth_limit, **kwargs)
    if kwargs.get("optiontype_outside_record"):
        message = (
            "ak.zip with optiontype_outside_record after a selection by traced values is not supported yet: "
            "use ak.mask on the result"
        )
        raise StructureError(message)
    options = {key: value for key, value in kwargs.items() if key not in ("behavior", "attrs", "highlevel")}

    def zipped(numbers: list[Any]) -> Any:
        named = dict(zip(arrays, numbers, strict=True)) if isinstance(arrays, dict) else tuple(numbers)
        return ak.zip(named, depth_limit, **options)

    node = _side_by_side(pieces, depth_limit, zipped)
    holders = [piece for piece in pieces if isinstance(piece, ak.Array | ak.Record)]
    return wrap(node, kwargs.get("behavior") or ak_behavior(holders), kwargs.get("attrs") or ak_attrs(holders))


def _marked(arrays: Any) -> Any:
    if isinstance(arrays, dict):
        return {key: as_data(value) for key, value in arrays.items()}
    return type(arrays)(as_data(value) for value in arrays)


def _side_by_side(
    pieces: list[Any], depth_limit: int | None, zipped: Callable[[list[Any]], Any], outside: bool = False
) -> Node:
    """Arrays zipped by Awkward as numbers of their elements, with the elements in place of the numbers.

    `outside` says that a record is missing where one of its elements would be.
    """
    pieces = [ak.Array(piece) if _is_column(piece) else piece for piece in pieces]
    nodes = [_row(piece) if _is_scalar(piece) else node_of(piece) for piece in pieces]
    levels = [level_of(node) for node in nodes]
    deepest = max(levels) if depth_limit is None else min(depth_limit - 1, max(levels))
    nodes = line_up(nodes, deepest + 1)
    cuts = [
        cut(node, min(level, deepest), outside=outside or level < deepest)
        for node, level in zip(nodes, levels, strict=True)
    ]
    reference = next((lists for lists, _ in cuts if has_traced_lists(lists)), None)
    if reference is not None:
        cuts = [
            sunk(lists, part, reference) if isinstance(piece, ak.Array) else (lists, part)
            for piece, (lists, part) in zip(pieces, cuts, strict=True)
        ]
    # a scalar, the only element of its array, is broadcast to wherever it goes
    together = zip(pieces, cuts, strict=True)
    numbers = [wrap(lists) if isinstance(piece, ak.Array) else 0 for piece, (lists, _) in together]
    elements = [part for _, part in cuts]

    def fill(n: Node) -> Node | None:
        if not isinstance(n, Record):
            return None
        contents = tuple(_put(n, part) for n, part in zip(n.contents, elements, strict=True))
        return replace(n, contents=contents)  # type: ignore[no-any-return]

    return map_nodes(fill, node_of(on_envelopes(zipped, numbers)))


def _is_scalar(value: Any) -> bool:
    return np.isscalar(value) or (isinstance(value, jax.Array) and value.ndim == 0)


def _is_column(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, np.ndarray | jax.Array) and value.ndim > 0)


def _row(scalar: Any) -> Node:
    """A scalar as the only element of an array."""
    return Flat(scalar.reshape(1)) if isinstance(scalar, jax.Array) else node_of(ak.Array([scalar]))


def _put(numbers: Node, elements: Node) -> Node:
    """Elements in place of their numbers, which broadcasting may have put below missing values."""
    if isinstance(numbers, Flat):
        return put(numbers, elements)
    return replace(numbers, content=_put(numbers.content, elements))  # type: ignore[no-any-return, union-attr]


@implements(ak.zip_no_broadcast, route="moves", live=True)
def _zip_no_broadcast(arrays: Any, **kwargs: Any) -> Any:
    pieces = list(arrays.values()) if isinstance(arrays, dict) else list(arrays)
    if any(map(live, pieces)):  # Awkward's errors for missing values, which are taken off
        ak.zip_no_broadcast([ak.Array(stand_in(node_of(x))) if isinstance(x, ak.Array) else x for x in pieces])
    return on_envelopes(lambda pieces: move(ak.zip_no_broadcast, pieces, **kwargs), arrays)


@implements(ak.broadcast_fields, route="moves", live=True)
def _broadcast_fields(*arrays: Any, **kwargs: Any) -> Any:
    return on_envelopes(lambda *pieces: move(ak.broadcast_fields, *pieces, **kwargs), *arrays)


@implements(ak.unzip, route="moves", live=True)
def _unzip(array: Any, *, how: Any = tuple, **kwargs: Any) -> Any:
    if how not in (tuple, dict):
        message = f"`how` must be `tuple` or `dict`, not {how!r}"
        raise ValueError(message)
    names = ak.fields(array)
    pieces = [array[name] for name in names] if names else [array]
    return dict(zip(names or ["0"], pieces, strict=True)) if how is dict else how(pieces)


@implements(ak.with_field, route="moves", live=True)
def _with_field(array: Any, what: Any, where: Any = None, **kwargs: Any) -> Any:
    if not live(array) and not live(what):
        return move(ak.with_field, array, as_data(what), where, **kwargs)
    path = tuple(where) if isinstance(where, list | tuple) else (where,)
    if len(path) > 1:
        inner = _with_field(array[path[0]], what, path[1:], **kwargs)
        return _with_field(array, inner, path[0], **kwargs)
    if _is_scalar(what):

        def every(n: Node) -> Node | None:
            if not isinstance(n, Record):
                return None
            return _extended(n, put(Flat(np.zeros(n.length, np.int64)), _row(what)), path[0])

        if not any(isinstance(n, Record) for n in iterate(node_of(array))):
            raise ValueError(_NO_RECORDS)
        return wrap(map_nodes(every, node_of(array)), array.behavior, array.attrs)
    level = level_of(node_of(array))
    _, records = cut(node_of(array), level)
    both = _side_by_side(
        [array, what],
        level + 1,
        lambda numbers: ak.zip(tuple(numbers), level + 1),
        isinstance(records, Masked | Option),
    )

    def added(n: Node) -> Node | None:
        return _extended(n.contents[0], n.contents[1], path[0]) if isinstance(n, Record) else None

    return wrap(map_nodes(added, both), array.behavior, array.attrs)


_NO_RECORDS = "no tuples or records in array; cannot add a new field"


def _extended(base: Node, column: Node, name: Any) -> Node:
    """A record with one more column, or another one in its place."""
    base = project(base)
    if not isinstance(base, Record):
        raise ValueError(_NO_RECORDS)
    labels = list(base.fields) if base.fields is not None else [str(i) for i in range(len(base.contents))]
    zeros = [np.zeros(1)] * len(labels)
    # where the column goes is Awkward's to say
    alike = ak.zip(tuple(zeros) if base.fields is None else dict(zip(labels, zeros, strict=True)))
    order = ak.with_field(alike, 0, name)
    columns = dict(zip(labels, base.contents, strict=True))
    contents = tuple(columns.get(label, column) if label != name else column for label in ak.fields(order))
    return replace(base, contents=contents, fields=None if ak.is_tuple(order) else tuple(ak.fields(order)))  # type: ignore[no-any-return]
