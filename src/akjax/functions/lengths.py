"""Lengths, and lists taken apart: `num`, `flatten`, `ravel`, `concatenate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from ..algorithms.combining import at_lists
from ..algorithms.conforming import conformed
from ..algorithms.elementwise import values_of
from ..algorithms.pairing import flattened
from ..algorithms.promises import promise
from ..algorithms.ranks import ranked, split_live
from ..algorithms.reducing import Reduction, reduce, skeleton
from ..algorithms.runtime import as_list, counted_from_the_top, dead_below, depth_of, either, hide, is_text, masked
from ..algorithms.ufuncs import canonical
from ..errors import StructureError
from ..highlevel.moving import move
from ..highlevel.state import is_traced, node_of, wrap
from ..nodes.boundaries import Boundaries
from ..nodes.kinds import Empty, Flat, Jagged, List, Live, Masked, Node, Record, replace
from ..nodes.moving import project
from ..nodes.static import static
from ..nodes.walk import has_run_time_structure, iterate
from ..registry import INTEGERS, implements
from ..structure.to_layout import stand_in


def live(value: Any) -> bool:
    """Whether a traced array has run-time structure."""
    return is_traced(value) and has_run_time_structure(node_of(value))


@implements(ak.num, route="kernel", live=True, no_gradient=INTEGERS)
def _num(array: Any, axis: int = 1, *, highlevel: bool = True, behavior: Any = None, attrs: Any = None) -> Any:
    if not live(array):
        return move(ak.num, array, axis=axis, behavior=behavior, attrs=attrs)
    node = node_of(array)
    depth = depth_of(node)
    if not -depth - 1 <= axis <= depth:
        ak.num(ak.Array(stand_in(node)), axis=axis)  # Awkward's error
    asked, axis = axis, axis if axis >= 0 else axis + depth + 1
    if axis == 0:
        if not isinstance(node, Live):
            return node.length
        zeros = Live(node.dead, Flat(np.zeros(node.length, np.int8)))
        return reduce(Reduction("count", None, False, False), [zeros], lambda _: np.int64(0))[0]
    if isinstance(project(node.content if isinstance(node, Live) else node), Record):
        columns = [_num(field, asked) for field in ak.unzip(array)]
        return ak.zip(dict(zip(ak.fields(array), columns, strict=True)), depth_limit=1)
    bare = skeleton(node, axis)

    def ask(nodes: list[Node] | None) -> Any:
        return ak.count(ak.Array(stand_in(bare if nodes is None else nodes[0])), axis=axis)

    counted, _ = reduce(Reduction("count", axis, False, False), [bare], ask)
    return wrap(counted, array.behavior if behavior is None else behavior)


@implements(ak.local_index, route="kernel", live=True, no_gradient=INTEGERS)
def _local_index(array: Any, axis: int = -1, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.local_index, array, axis=axis, **kwargs)
    node = node_of(array)
    asked = ak.local_index(ak.Array(stand_in(node)), axis=axis)  # Awkward's errors, and its type
    axis = counted_from_the_top(node, axis)

    def counted(several: list[List], above: Any) -> Node:
        (lists,) = several
        dead, _ = split_live(lists.content)
        ranks = ranked(lists, dead).ranks
        kind = np.int64 if isinstance(ranks, np.ndarray) else canonical(np.int64)
        found: Node = Flat(promise(ranks.astype(kind), lists, dead))
        found = found if dead is None else Live(dead, found)
        return replace(lists, content=found, parameters=None)  # type: ignore[no-any-return]

    return wrap(conformed(at_lists([node], axis, counted), asked.layout), array.behavior, array.attrs)


@implements(ak.flatten, route="moves", live=True)
def _flatten(array: Any, axis: Any = 1, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.flatten, array, axis=axis, **kwargs)
    node = node_of(array)
    if axis is None:
        return wrap(_flat(node, keep_missing=False), array.behavior, array.attrs)
    depth = depth_of(node)
    if not -depth - 1 <= axis <= depth or any(is_text(n) or isinstance(n, Record) for n in iterate(node)):
        ak.flatten(ak.Array(stand_in(node)), axis=axis)  # Awkward's errors
    axis = axis if axis >= 0 else axis + depth + 1
    flat = _present(node) if axis == 0 else _flatten_lists(node, axis)
    return wrap(flat, array.behavior, array.attrs)


@implements(ak.ravel, route="moves", live=True)
def _ravel(array: Any, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.ravel, array, **kwargs)
    return wrap(_flat(node_of(array), keep_missing=True), array.behavior, array.attrs)


def _present(node: Node) -> Node:
    """An array without the missing ones of its rows."""
    dead = node.dead if isinstance(node, Live) else None
    content = masked(node.content if isinstance(node, Live) else node)
    if isinstance(content, Masked):
        dead, content = either(dead, content.null), content.content
    return content if dead is None else Live(dead, content)


def _flatten_lists(node: Node, axis: int) -> Node:
    """The lists at one level and those directly below them made one."""
    if axis == 1:
        return _joined(node)[0]
    if isinstance(node, Live | Masked):
        return replace(node, content=_flatten_lists(node.content, axis))  # type: ignore[no-any-return]
    lists = _lists(node)
    if isinstance(lists, Masked):
        return _flatten_lists(lists, axis)
    if axis > 2:
        return replace(lists, content=_flatten_lists(lists.content, axis - 1))  # type: ignore[no-any-return]
    content, offsets = _joined(lists.content)
    if isinstance(lists, Jagged) or isinstance(offsets, Boundaries):
        return Jagged(flattened(lists.offsets, offsets), content, lists.parameters)
    return replace(lists, offsets=static(offsets.array[lists.offsets.array]), content=content)  # type: ignore[no-any-return]


def _joined(node: Node) -> tuple[Node, Any]:
    """The elements of all lists one after another, those that exist, and where each list begins."""
    dead = None
    while isinstance(node := masked(node), Live | Masked):
        dead = dead_below(node, dead)
        node = node.content
    lists = _lists(node)
    below = dead_below(lists, dead)
    content = lists.content
    if isinstance(content, Live):
        below, content = either(below, content.dead), content.content
    return (content if below is None else Live(below, content)), lists.offsets


def _lists(node: Node) -> Any:
    lists = as_list(masked(node))
    if not isinstance(lists, List | Masked):
        message = (
            "ak.flatten after a selection by traced values reaches through lists only, not through records "
            "or unions: "
            "flatten the fields"
        )
        raise StructureError(message)
    return lists


def _flat(node: Node, keep_missing: bool) -> Node:
    """All numbers of an array in one flat one."""
    parts = list(_numbers(node, None, keep_missing))
    flat, dead, null = parts[0] if len(parts) == 1 else _one_after_another(parts)
    shown = flat if null is None else hide(flat, null)
    return shown if dead is None else Live(dead, shown)


def _one_after_another(parts: list[tuple[Flat, Any, Any]]) -> tuple[Flat, Any, Any]:
    kind = canonical(np.result_type(*(np.dtype(flat.data.dtype) for flat, _, _ in parts)))
    flat = Flat(jnp.concatenate([jnp.asarray(values_of(flat)).astype(kind) for flat, _, _ in parts]))
    dead = _one_mask([(flat.length, dead) for flat, dead, _ in parts])
    return flat, dead, _one_mask([(flat.length, null) for flat, _, null in parts])


def _one_mask(pieces: list[tuple[int, Any]]) -> Any:
    if all(mask is None for _, mask in pieces):
        return None
    return jnp.concatenate([np.zeros(size, np.float32) if mask is None else mask for size, mask in pieces])


def _numbers(node: Node, dead: Any, keep_missing: bool) -> Iterator[tuple[Flat, Any, Any]]:
    """The buffers of an array, with what does not exist and what is missing of each."""
    node = masked(node)
    match node:
        case Record():
            for content in node.contents:
                yield from _numbers(content, dead, keep_missing)
            return
        case Masked(content=Flat() as flat) if keep_missing and np.ndim(flat.data) == 1:
            yield flat, dead, node.null
            return
        case Flat() if len(node.shape) == 1:
            yield node, dead, None
            return
        case Empty():
            yield Flat(np.zeros(0)), None, None
            return
        case Live() | Masked():
            yield from _numbers(node.content, dead_below(node, dead), keep_missing)
            return
    lists: Any = as_list(node)
    if not isinstance(lists, List) or is_text(lists):
        message = (
            "ak.flatten(array, axis=None) after a selection by traced values takes numbers, not text or "
            "unions: take the fields"
        )
        raise StructureError(message)
    yield from _numbers(lists.content, dead_below(lists, dead), keep_missing)
