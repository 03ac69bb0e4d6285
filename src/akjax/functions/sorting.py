"""Sorting within lists; gradients follow the moved values."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from ..algorithms.combining import at_lists
from ..algorithms.conforming import conformed
from ..algorithms.elementwise import values_of
from ..algorithms.ordering import in_order
from ..algorithms.positions import Positions, match, positions
from ..algorithms.ranks import positions_in
from ..algorithms.reducing import (
    cut_off,
    fill,
    grouped,
    in_groups,
    innermost_lists,
    number_depth,
    one_row,
    places_along,
    unfolded,
)
from ..algorithms.runtime import as_list
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.state import flat_state, node_of, wrap
from ..kernels.gather import take
from ..kernels.segment import Segments
from ..kernels.sort import segment_argsort
from ..nodes.boundaries import parents
from ..nodes.kinds import Flat, List, Node, Option, Regular, replace
from ..nodes.moving import option
from ..nodes.static import arange
from ..nodes.walk import has_run_time_structure, iterate, map_nodes
from ..registry import INTEGERS, implements
from ..structure.from_layout import from_layout
from .reducers import like, positional


@implements(ak.sort, route="kernel", live=True)
def _sort(array: Any, axis: Any = -1, *, ascending: bool = True, stable: bool = True, **kwargs: Any) -> Any:
    return _sorted(ak.sort, array, axis, ascending, stable, _sorted_values)


@implements(ak.argsort, route="kernel", live=True, no_gradient=INTEGERS)
def _argsort(array: Any, axis: Any = -1, *, ascending: bool = True, stable: bool = True, **kwargs: Any) -> Any:
    result = _sorted(ak.argsort, array, axis, ascending, stable, _sorted_positions)
    lists = [n.offsets for n in iterate(node_of(array)) if isinstance(n, List)]
    if lists:
        flat_state(result).memo["positions of"] = lists[-1]
    return result


def _sorted(function: Any, array: Any, axis: Any, ascending: bool, stable: bool, content: Any) -> Any:
    """An array with its lists along an axis sorted, or the positions that sort them."""
    node = node_of(array)
    if has_run_time_structure(node):
        return _sorted_selected(function, array, axis, ascending, stable)
    node = map_nodes(_without_option, node)
    node = map_nodes(_as_lists, unfolded(node))  # a sorted regular dimension has type var
    depth, at = number_depth(node), positional(array, axis)

    def ask(asked: Node) -> Any:
        return function(like(array, asked), axis=axis, ascending=ascending, stable=stable)

    if depth is not None and at in (-1, depth):
        outcome = ask(one_row(node))
        # the rows of a flat array are a list too
        lists = Regular(node, node.length, 1) if depth == 0 else node
        done: Any = innermost_lists(
            [lists], lambda several, _: replace(several[0], content=content(several[0], not ascending))
        )
        return wrap(done.content if depth == 0 else done, outcome.behavior, outcome.attrs)
    outcome = ask(node)
    inside, outside = positions(node), positions(from_layout(outcome.layout))
    if inside.flat is None or len(inside.rows) == 0:
        return outcome
    at = at if at >= 0 else at + len(inside.of)
    values_of(inside.flat)
    data = jnp.asarray(inside.data())
    if function is ak.sort:
        values = take(data, _in_order(data, grouped(inside.of, at), None, outside, at, not ascending))
    else:
        elements = positions(cut_off(node, len(inside.of) - 1))
        groups, missing = grouped(elements.of, at), _unmatched(inside, elements)
        _, place, first = in_groups(groups)
        places = np.where(missing, place - first, places_along(node, elements, at))
        order = _in_order(_spread(data, missing), groups, missing, outside, at, not ascending)
        values = take(jnp.asarray(places, canonical(np.int64)), order)
    return wrap(fill(from_layout(outcome.layout), outside, values), outcome.behavior, outcome.attrs)


def _without_option(node: Node) -> Node | None:
    """Awkward drops an option type in which nothing can be missing."""
    return map_nodes(_without_option, node.content) if isinstance(node, Option) and node.unmasked else None


def _sorted_selected(function: Any, array: Any, axis: Any, ascending: bool, stable: bool) -> Any:
    """The same where elements exist only at run time."""
    node = node_of(array)
    outcome = function(like(array, node), axis=axis, ascending=ascending, stable=stable)  # Awkward's errors
    depth, at = number_depth(unfolded(node)), positional(array, axis)
    if depth is None or at not in (-1, depth):
        message = (
            f"ak.{function.__name__} over an outer axis after a selection by traced values is not supported: "
            "sort before selecting"
        )
        raise StructureError(message)
    found = at_lists([node], depth, lambda lists, _: in_order(lists[0], not ascending, function is ak.argsort))
    return wrap(conformed(found, outcome.layout), outcome.behavior, outcome.attrs)


def _as_lists(node: Node) -> Node | None:
    return map_nodes(_as_lists, as_list(node)) if isinstance(node, Regular) else None


# ------------------------------------------------------------------------------- the innermost lists


def _places(lists: Any) -> Any:
    """For each element of lists its list, and its position there."""
    if isinstance(lists, Regular):
        return np.repeat(arange(lists.length), lists.size), np.tile(arange(lists.size), lists.length)
    counts = np.diff(lists.offsets.array)
    parents = np.repeat(arange(len(counts)), counts)
    return parents, arange(len(parents)) - np.repeat(lists.offsets.array[:-1], counts)


def _order(lists: Any, descending: bool) -> Any:
    """The elements that come one after another, for lists of numbers none of which is missing; None for others."""
    numbers = lists.content
    if not isinstance(lists, List) or not isinstance(numbers, Flat) or np.ndim(numbers.data) != 1:
        return None
    values_of(numbers)
    segments = Segments(parents(lists.offsets), lists.length)
    return segment_argsort(jnp.asarray(numbers.data), segments, descending=descending)


def _sorted_values(lists: Any, descending: bool) -> Node:
    """The content of lists, sorted: missing values last."""
    if (order := _order(lists, descending)) is not None:
        return Flat(take(jnp.asarray(lists.content.data), order))
    inside = positions(lists.content)
    assert inside.flat is not None
    values_of(inside.flat)
    of, at = _places(lists)
    segments = Segments(of[inside.of[0]], lists.length)
    data = jnp.asarray(inside.data())
    values = Flat(take(data, segment_argsort(data, segments, descending=descending)))
    if not any(isinstance(n, Option) for n in iterate(lists.content)):
        return values
    counts = segments.counts
    assert counts is not None
    first = np.cumsum(counts) - counts
    return option(np.where(at < counts[of], first[of] + at, -1), values)


def _sorted_positions(lists: Any, descending: bool) -> Node:
    """The positions that sort the content of lists: those of missing values last, in their order."""
    if (order := _order(lists, descending)) is not None:
        return Flat(take(jnp.asarray(positions_in(lists.offsets), canonical(np.int64)), order))
    inside = positions(lists.content)
    assert inside.flat is not None
    values_of(inside.flat)
    of, at = _places(lists)
    missing = np.ones(len(of), dtype=bool)
    missing[inside.of[0]] = False
    rows = np.zeros(len(of), dtype=np.int64)
    rows[inside.of[0]] = inside.rows
    apart = np.lexsort((missing, of)) if missing.any() else arange(len(of))
    groups = Segments((2 * of + missing)[apart], 2 * lists.length)
    if len(inside.rows) == 0:
        return Flat(at[apart])
    data = take(jnp.asarray(inside.flat.data), rows[apart])
    data = jnp.where(missing[apart], jnp.zeros((), data.dtype), data) if missing.any() else data
    return Flat(take(jnp.asarray(at[apart]), segment_argsort(data, groups, descending=descending)))


# ------------------------------------------------------------------------------- any axis


def _unmatched(inside: Positions, elements: Positions) -> Any:
    """Which of the elements are no numbers."""
    missing = np.ones(len(elements.rows), dtype=bool)
    missing[match(inside.of, elements.of)] = False
    return missing


def _spread(data: Any, missing: Any) -> Any:
    """Numbers with zeros where they are missing."""
    if not missing.any():
        return data
    rows = np.cumsum(~missing) - 1
    return jnp.where(missing, jnp.zeros((), data.dtype), take(data, np.maximum(rows, 0)))


def _in_order(data: Any, groups: Any, missing: Any, outside: Positions, axis: int, descending: bool) -> Any:
    """Which of the elements comes to each place of Awkward's result: missing ones last in their group, in order."""
    if missing is not None:
        groups = 2 * groups + missing
    apart = np.argsort(groups, kind="stable")
    segments = Segments(groups[apart], int(groups.max()) + 1)
    order = take(jnp.asarray(apart), segment_argsort(take(data, apart), segments, descending=descending))
    # the k-th element of a group in the result's own order
    slots = np.lexsort((outside.of[axis], grouped(outside.of, axis)))
    where = np.empty(len(slots), dtype=np.int64)
    where[slots] = np.arange(len(slots))
    return take(order, where)
