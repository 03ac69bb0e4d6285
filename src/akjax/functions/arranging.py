"""Lists made longer, shorter, deeper, or of other arrays' elements."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.aligning import line_up
from ..algorithms.combining import at_lists
from ..algorithms.conforming import conformed
from ..algorithms.joining import joined, padded, without_missing_lists
from ..algorithms.lengthening import by_counts, by_traced_counts
from ..algorithms.ranks import split_live
from ..algorithms.runtime import counted_from_the_top, depth_of, masked
from ..algorithms.standing import has_traced_lists
from ..errors import StructureError
from ..highlevel.moving import Fixed, as_data, move, on_envelopes
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import is_traced, node_of, wrap
from ..nodes.boundaries import UnknownLengths
from ..nodes.kinds import Flat, List, Live, Masked, Node, Record, Regular, replace
from ..nodes.moving import offsets_of
from ..registry import implements
from ..structure.to_layout import stand_in
from .lengths import live


@implements(ak.pad_none, route="moves", live=True)
def _pad_none(array: Any, target: int, axis: int = 1, *, clip: bool = False, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.pad_none, array, target, axis=axis, clip=clip, **kwargs)
    node = node_of(array)
    asked = ak.pad_none(ak.Array(stand_in(node)), target, axis=axis, clip=clip)  # Awkward's errors, and its type
    found = at_lists([node], counted_from_the_top(node, axis), lambda lists, _: padded(lists[0], target, clip))
    return wrap(conformed(found, asked.layout), array.behavior, array.attrs)


@implements(ak.singletons, route="moves", live=True)
def _singletons(array: Any, axis: int = 0, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.singletons, array, axis=axis, **kwargs)
    node = node_of(array)
    asked = ak.singletons(ak.Array(stand_in(node)), axis=axis)  # Awkward's errors, and its type

    def single(several: list[List], above: Any) -> Node:
        (lists,) = several
        dead, content = split_live(lists.content)
        ones = _each_alone(content)
        return replace(lists, content=ones if dead is None else Live(dead, ones))  # type: ignore[no-any-return]

    found = at_lists([node], counted_from_the_top(node, axis), single)
    return wrap(conformed(found, asked.layout), array.behavior, array.attrs)


def _each_alone(node: Node) -> Node:
    """Every element in a list of its own, which is empty where it is missing; of records their fields."""
    node = masked(node)
    if isinstance(node, Record):
        return replace(node, contents=tuple(map(_each_alone, node.contents)))  # type: ignore[no-any-return]
    inside = Live(node.null, node.content) if isinstance(node, Masked) else node
    return List(offsets_of(np.ones(node.length, np.int64)), inside)


@implements(ak.from_regular, route="moves", live=True)
def _from_regular(array: Any, axis: Any = 1, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.from_regular, array, axis=axis, **kwargs)
    node = node_of(array)
    asked = ak.from_regular(ak.Array(stand_in(node)), axis=axis)  # Awkward's errors, and its type
    return wrap(conformed(node, asked.layout), array.behavior, array.attrs)


@implements(ak.to_regular, route="moves", live=True)
def _to_regular(array: Any, axis: Any = 1, **kwargs: Any) -> Any:
    if live(array):
        if has_traced_lists(node_of(array)):
            raise UnknownLengths
        _refuse_selected(node_of(array), axis)
    return on_envelopes(lambda envelope: move(ak.to_regular, envelope, axis=axis, **kwargs), array)


def _refuse_selected(node: Node, axis: Any) -> None:
    """The size of a regular dimension is part of the type."""

    def check(several: list[List], above: Any) -> Node:
        if isinstance(several[0].content, Live):
            message = (
                "ak.to_regular of lists that were selected by traced values would make the number of elements that "
                "are left part of the type: use ak.pad_none(array, n, clip=True)"
            )
            raise StructureError(message)
        return several[0]

    axes = range(1, depth_of(node) + 1) if axis is None else [counted_from_the_top(node, axis)]
    for at in axes:
        if at > 0:
            at_lists([node], at, check)


# ------------------------------------------------------------------------------- of several arrays


@implements(ak.concatenate, np.concatenate, route="moves", live=True)
def _concatenate(arrays: Any, axis: int = 0, **kwargs: Any) -> Any:
    several = isinstance(arrays, list | tuple)
    if not several or not any(map(live, arrays)):
        pieces = [as_data(piece) for piece in arrays] if several else arrays
        return move(ak.concatenate, pieces, axis=axis, **kwargs)
    options = {key: value for key, value in kwargs.items() if key not in ("behavior", "attrs", "highlevel")}
    asked = [ak.Array(stand_in(node_of(x))) if isinstance(x, ak.Array) else _zero(x) for x in arrays]
    kind = _complain(
        asked, axis, options, any(isinstance(x, ak.Array) and isinstance(node_of(x), Live) for x in arrays)
    )
    nodes = [node_of(ak.Array(x)) if isinstance(x, ak.Array) or np.ndim(x) else x for x in arrays]
    first = next(node for node in nodes if isinstance(node, Node.__args__))
    at = counted_from_the_top(first, axis)
    nodes = [without_missing_lists(_as_lists(node, first, at), at) for node in nodes]

    def merge(parts: list[Node]) -> Node:
        found = ak.concatenate([wrap(part) for part in parts], axis=0, **options)
        return node_of(found)

    found = at_lists(line_up(nodes, at), at, lambda lists, _: joined(lists, merge))
    holders = [piece for piece in arrays if isinstance(piece, ak.Array)]
    behavior, attrs = kwargs.get("behavior") or ak_behavior(holders), kwargs.get("attrs") or ak_attrs(holders)
    return wrap(conformed(found, kind), behavior, attrs)


def _zero(value: Any) -> Any:
    return np.zeros((), value.dtype)[()] if isinstance(value, jax.Array) and value.ndim == 0 else value


def _complain(asked: list[Any], axis: int, options: dict[str, Any], rows: bool) -> Any:
    """Awkward's errors, except for lengths that are known only at run time, and its result."""
    asked = [x[:0] if rows and isinstance(x, ak.Array) else x for x in asked]
    return ak.concatenate(asked, axis=axis, **options).layout


def _as_lists(piece: Any, first: Node, axis: int) -> Node:
    """A number, or one for each list, as lists of one element."""
    if isinstance(piece, Node.__args__):
        if axis != 1 or depth_of(piece) > 0:
            return piece  # type: ignore[no-any-return]
        dead, content = split_live(piece)
        ones: Node = Regular(content, 1, content.length)
        return ones if dead is None else Live(dead, ones)
    if axis != 1:
        message = "a single number is joined with lists on axis 1 only after a selection by traced values"
        raise StructureError(message)
    dead, content = split_live(first)
    ones = Regular(Flat(jnp.broadcast_to(jnp.asarray(piece), (content.length,))), 1, content.length)
    return ones if dead is None else Live(dead, ones)


# ------------------------------------------------------------------------------- by counts


@implements(ak.unflatten, route="moves", live=True, capacity=False)
def _unflatten(array: Any, counts: Any, axis: int = 0, **kwargs: Any) -> Any:
    traced = is_traced(counts) or isinstance(counts, jax.core.Tracer)
    if not live(array) and not traced:
        return move(ak.unflatten, array, Fixed(counts), axis, **kwargs)
    if axis != 0:
        message = "ak.unflatten after a selection by traced values, or by traced counts, is supported for axis=0 only"
        raise StructureError(message)
    node = node_of(array if isinstance(array, ak.Array) else ak.Array(array))
    if traced:
        if not isinstance(counts, ak.Array) and np.ndim(counts) == 0:
            message = "ak.unflatten by one traced number would make it part of the structure: give counts for each list"
            raise StructureError(message)
        found = by_traced_counts(node, node_of(ak.Array(counts)))
    else:
        found = by_counts(
            node, counts if np.ndim(counts) == 0 else np.asarray(ak.to_numpy(counts, allow_missing=False))
        )
    return wrap(found, array.behavior, array.attrs)
