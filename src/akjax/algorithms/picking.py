"""Lists of integers as an index, where elements of the array or of the index exist only at run time.

An integer is a position among the elements that exist. What is taken is found through the order in which
these stand in front; nothing but the elements that the index asks for is moved.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.boundaries import parents, starts
from ..nodes.kinds import Empty, Flat, Jagged, List, Live, Masked, Node, Record, replace
from ..nodes.moving import indexed, project
from .gathering import take_rows
from .promises import is_promised, slots_of_each
from .ranks import Ranks, reach_of, split_live
from .runtime import NOT_ALIGNED, alive, as_list, dead_below, dead_of, depth_of, either, hide, masked
from .runtime_errors import check, is_collecting


def pick(node: Node, index: Node, above: Any = None) -> Node:
    """`array[lists of integers]`, the rows of both already lined up.

    Args:
        node: the array.
        index: lists of integers, as many as there are lists in the array.
        above: the mask of the lists that do not exist or are missing, or None.
    """
    node, index = masked(project(node)), masked(project(index))
    if isinstance(node, Live) or isinstance(index, Live):
        if not (isinstance(node, Live) and isinstance(index, Live)):
            raise StructureError(NOT_ALIGNED)
        return Live(node.dead, pick(node.content, index.content, dead_below(node, above)))
    null = None
    for side in (node, index):
        if isinstance(side, Masked):
            null = either(null, side.null)
    if null is not None:
        array, asked = (side.content if isinstance(side, Masked) else side for side in (node, index))
        return hide(pick(array, asked, either(above, null)), null)
    if isinstance(node, Record):
        contents = tuple(pick(content, index, above) for content in node.contents)
        return replace(node, contents=contents)  # type: ignore[no-any-return]
    lists, array = as_list(index), as_list(node)
    if isinstance(lists, List) and depth_of(node) == 0:
        message = "too many jagged slice dimensions for array"
        raise IndexError(message)
    if not isinstance(lists, List) or not isinstance(array, List):
        message = "an index made of traced values reaches through lists only, not through unions"
        raise StructureError(message)
    if lists.length != array.length:
        message = f"cannot fit jagged slice with length {lists.length} into an array of length {array.length}"
        raise IndexError(message)
    if depth_of(lists.content) == 0:
        return _innermost(array, lists, above)
    if lists.offsets is not array.offsets:
        message = "the lists of the index do not fit the lists of the array"
        raise IndexError(message)
    return replace(array, content=pick(array.content, lists.content, dead_below(array, above)))  # type: ignore[no-any-return]


def _innermost(array: List, lists: List, above: Any) -> Node:
    dead, content = split_live(array.content)
    absent, integers = split_live(masked(lists.content))
    integers = masked(integers)
    null = integers.null if isinstance(integers, Masked) else None
    values = integers.content if isinstance(integers, Masked) else integers
    values = project(values)
    if isinstance(values, Empty):
        values = Flat(np.zeros(0, np.int64))
    if not isinstance(values, Flat) or np.ndim(values.data) != 1:
        message = "only flat integers, or lists of them, can be an index of traced values"
        raise StructureError(message)
    found = _known(array, lists, values.data, content) if dead is None and null is None else None
    if found is None:
        found = _asked(array, lists, values.data, null, either(absent, dead_below(lists, above)))
    inside = found if absent is None else Live(absent, found)
    return replace(lists, content=inside, parameters=array.parameters)  # type: ignore[no-any-return]


def _known(array: List, lists: List, values: Any, content: Node) -> Node | None:
    """Positions that are known while tracing move nothing; None when they are not, or one is out of range."""
    if isinstance(values, jax.Array) or isinstance(array, Jagged) or isinstance(lists, Jagged):
        return None
    inside = parents(lists.offsets)
    offsets = array.offsets.array
    counts = np.diff(offsets)[inside]
    at = np.where(values < 0, values + counts, values)
    if not ((at >= 0) & (at < counts)).all():
        return None
    return indexed(offsets[:-1][inside] + at, content)


def _asked(array: List, lists: List, values: Any, null: Any, unasked: Any) -> Node:
    """Elements at traced positions; `unasked` are places of the index that do not exist themselves."""
    dead, content = split_live(array.content)
    promised = is_promised(values, array, dead)
    slots = slots_of_each(values, array, dead) if _is_one_each(lists) else None
    if slots is not None:
        return _found(array, lists, slots, null)
    inside = parents(lists.offsets)
    ranks = Ranks(array, dead)
    counts = take(ranks.counts, inside)
    at = jnp.asarray(values).astype(np.int32)
    wrapped = at if promised else jnp.where(at < 0, at + counts, at)
    there = (wrapped >= 0) & (wrapped < counts)
    asked = there if null is None else there & alive(null)
    if unasked is not None:
        asked = asked & alive(unasked)
    slot = jnp.where(asked, take(starts(array.offsets).astype(np.int32), inside) + wrapped, 0)
    if dead is not None and content.length:
        slot = take(ranks.order(), slot)
    if is_collecting():
        meant = there if null is None else there | ~alive(null)
        check(meant if unasked is None else meant | ~alive(unasked), IndexError, OUT_OF_RANGE, index=at)
    reach = reach_of(array.offsets, lists.offsets)
    if null is not None:
        gone = null if promised else dead_of(there & alive(null))
        return hide(take_rows(content, slot, None, reach), gone)
    if promised:
        return take_rows(content, slot, None, reach)
    return take_rows(content, slot, there if unasked is None else there | ~alive(unasked), reach)


def _is_one_each(lists: List) -> bool:
    """Whether every list has one element."""
    known = not isinstance(lists, Jagged) and lists.content.length == lists.length
    return known and bool((np.diff(lists.offsets.array) == 1).all())


def _found(array: List, lists: List, slots: Any, null: Any) -> Node:
    """The elements in slots that are known, one of each list."""
    _, content = split_live(array.content)
    reach = reach_of(array.offsets, lists.offsets)
    found = take_rows(content, slots, None, reach)
    return found if null is None else hide(found, null)


OUT_OF_RANGE = "index out of range while attempting to get index {index}"
