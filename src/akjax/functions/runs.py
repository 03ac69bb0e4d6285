"""Lengths of runs of equal numbers: where a run begins is known at run time."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..algorithms.combining import at_lists
from ..algorithms.elementwise import values_of
from ..algorithms.ranks import packed, split_live
from ..algorithms.reducing import number_depth, unfolded
from ..algorithms.runtime import alive, as_list, dead_of, either, is_text
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.state import node_of, wrap
from ..nodes.boundaries import starts
from ..nodes.kinds import ONE_NUMBER, Constant, Flat, List, Live, Masked, Node, Option, Record, Regular, Union, replace
from ..nodes.moving import project
from ..nodes.walk import has_run_time_structure, iterate, map_nodes
from ..registry import INTEGERS, implements
from ..structure.from_layout import from_layout
from ..structure.to_layout import stand_in
from .reducers import like


@implements(ak.run_lengths, route="kernel", live=True, no_gradient=INTEGERS)
def _run_lengths(array: Any, **kwargs: Any) -> Any:
    node = unfolded(node_of(array))
    if isinstance(node, Flat) and not node.shape:
        raise TypeError(ONE_NUMBER)
    if _has_columns(node):
        message = "ak.run_lengths of several columns at once would give columns of different lengths: take one field"
        raise StructureError(message)
    if _may_be_missing(node) and number_depth(node) in (0, 1):  # numbers, and lists of them, that Awkward leaves out
        array = ak.drop_none(array, axis=0)
        node = unfolded(node_of(array))
    if any(map(_may_be_missing, iterate(node))):
        message = (
            "ak.run_lengths leaves out what is missing of flat arrays, and missing lists of numbers; here there are "
            "missing values inside: drop them first, as in ak.drop_none(array)"
        )
        raise StructureError(message)
    outcome = ak.run_lengths(like(array, node), **kwargs)  # Awkward's complaints
    if has_run_time_structure(node):
        depth = number_depth(node)
        if depth is None:
            message = "ak.run_lengths after a selection by traced values takes lists of numbers: take a field"
            raise StructureError(message)
        found = at_lists([node], depth, lambda lists, _: _of_selected(packed(lists[0])))
        return wrap(found, outcome.behavior, outcome.attrs)
    return wrap(_runs(node), outcome.behavior, outcome.attrs)


def _may_be_missing(node: Node) -> bool:
    """Whether elements may be missing; of an `UnmaskedArray` none is, and Awkward has a complaint about it."""
    node = node.content if isinstance(node, Live) else node
    return isinstance(node, Masked) or (isinstance(node, Option) and not node.unmasked)


def _has_columns(node: Node) -> bool:
    """Whether rows hold numbers side by side."""
    node = project(node)
    if not isinstance(node, Record | Union):
        return False
    return any(isinstance(project(content), Flat) or _has_columns(content) for content in node.contents)


def _runs(node: Node) -> Node:
    node = project(node)
    if isinstance(node, Flat):
        return _of_lists(values_of(node), np.zeros(1, dtype=np.int64))
    return map_nodes(_below, node)


def _below(node: Node) -> Node | None:
    if not isinstance(node, List | Regular):
        return None
    content = project(node.content)
    if isinstance(content, Flat):
        lists: Any = as_list(node)
        return replace(lists, content=_of_lists(values_of(content), lists.offsets.array), parameters=None)  # type: ignore[no-any-return]
    if isinstance(content, Constant) or is_text(content):  # text is structure
        return from_layout(ak.run_lengths(ak.Array(stand_in(node)), highlevel=False))
    return replace(node, content=_runs(content))  # type: ignore[no-any-return]


def _of_selected(lists: List) -> Node:
    """The same in lists whose elements that exist stand in front."""
    dead, content = split_live(lists.content)
    flat: Any = project(content)
    found = _of_lists(jnp.asarray(values_of(flat)), starts(lists.offsets), dead)
    return replace(lists, content=found, parameters=None)  # type: ignore[no-any-return]


def _of_lists(data: Any, first: Any, dead: Any = None) -> Node:
    """The lengths of runs, each at the place where its run begins; the others do not exist.

    Args:
        data: numbers, shape `(n,)`.
        first: where lists begin, in which runs end.
        dead: the mask of elements that do not exist, behind the others of their list.
    """
    size = data.shape[0]
    if isinstance(first, np.ndarray):
        begins: Any = np.zeros(size, dtype=bool)
        begins[first[first < size]] = True
    else:
        begins = jnp.zeros(size, bool).at[first].set(True, mode="drop")  # empty lists may begin behind the end
    changed = jnp.concatenate([jnp.ones(min(size, 1), bool), data[1:] != data[:-1]]) | begins
    changed = changed if dead is None else changed | ~alive(dead)  # what exists ends the last run
    place = np.arange(size, dtype=np.int32)
    after = lax.cummin(jnp.where(changed, place, np.int32(size)), reverse=True)  # the next beginning, or this one
    end = jnp.concatenate([after[1:], np.full(min(size, 1), size, np.int32)])
    return Live(either(dead_of(changed), dead), Flat((end - place).astype(canonical(np.int64))))
