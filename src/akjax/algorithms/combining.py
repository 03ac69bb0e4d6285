"""Tuples of elements of lists, of which some exist only at run time.

Awkward combines the numbers of the slots. A tuple exists when all its elements do; nothing moves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import awkward as ak
import numpy as np

from ..errors import StructureError
from ..kernels._reduce import iota
from ..kernels.evenly import empty_with_room
from ..kernels.gather import take, take_mask
from ..kernels.lists import known_combinations, known_product
from ..nodes.boundaries import Boundaries
from ..nodes.kinds import Flat, Jagged, List, Live, Masked, Node, Record, Regular, replace
from ..nodes.moving import project
from ..nodes.static import Static, arange, static
from ..structure.from_layout import from_layout
from . import pairing
from .elementwise import fill_dead
from .evening import taken
from .gathering import take_rows
from .numbering import note
from .origins import held, placed_together
from .promises import promise
from .ranks import ranked, split_live
from .runtime import as_list, as_regular, dead_below, either, hide, masked
from .slots import put
from .standing import OTHER_LISTS, has_traced_lists
from .ufuncs import canonical


def at_lists(nodes: list[Node], axis: int, make: Callable[[list[List], Any], Node], above: Any = None) -> Node:
    """Put something in the place of the lists at a level of several arrays, whose rows are lined up.

    Args:
        nodes: the arrays.
        axis: the level of the lists' elements; 0 takes the rows for the elements of one list.
        make: gets the lists of each array, and the mask of those that do not exist or are missing.
        above: that mask for the rows.
    """
    if axis == 0:
        rows = [List(static(np.array([0, node.length])), node) for node in nodes]
        return make(rows, None).content  # type: ignore[union-attr]
    nodes = [masked(project(node)) for node in nodes]
    if isinstance(nodes[0], Live):
        inside = [split_live(node)[1] for node in nodes]
        return Live(nodes[0].dead, at_lists(inside, axis, make, dead_below(nodes[0], above)))
    null = None
    for node in nodes:
        null = either(null, node.null if isinstance(node, Masked) else None)
    if null is not None:
        inside = [node.content if isinstance(node, Masked) else node for node in nodes]
        return hide(at_lists(inside, axis, make, either(above, null)), null)
    if len(nodes) == 1 and isinstance(nodes[0], Record):
        contents = tuple(at_lists([content], axis, make, above) for content in nodes[0].contents)
        return replace(nodes[0], contents=contents)  # type: ignore[no-any-return]
    several: list[Any] = [as_regular(node) for node in nodes]
    if axis > 1 and all(isinstance(lists, Regular) and lists.size == several[0].size for lists in several):
        content = at_lists([lists.content for lists in several], axis - 1, make, dead_below(several[0], above))
        return replace(several[0], content=content)  # type: ignore[no-any-return]
    several = [as_list(node) for node in nodes]
    if not all(isinstance(lists, List) for lists in several):
        message = (
            "after a selection by traced values this function reaches through lists only, not through the records "
            "or unions that are here: give it their fields"
        )
        raise StructureError(message)
    if axis == 1:
        return make(several, above)
    if any(lists.offsets is not several[0].offsets for lists in several):
        message = "cannot broadcast nested list"
        raise ValueError(message)
    content = at_lists([lists.content for lists in several], axis - 1, make, dead_below(several[0], above))
    return replace(several[0], content=content)  # type: ignore[no-any-return]


def harmless(several: list[List], above: Any) -> list[List]:
    """Lists with finite numbers where no element exists: what is computed of elements is computed for all of them.

    Args:
        several: the lists.
        above: the mask of the lists that do not exist or are missing, or None.
    """
    found = []
    for lists in several:
        dead, content = split_live(lists.content)
        gone = either(dead, dead_below(lists, above))
        safe = content if gone is None else fill_dead(content, 0.5, gone)
        found.append(replace(lists, content=safe if dead is None else Live(dead, safe)))
    return found


def combined(lists: List, n: int, options: dict[str, Any], positions: bool) -> Node:
    """Tuples of elements of the same list.

    Args:
        lists: the lists.
        n: how many elements are combined.
        options: further arguments of `ak.combinations`.
        positions: whether the positions of the elements are wanted, not the elements.
    """

    def combine(slots: Any) -> Any:
        return ak.combinations(slots, n, axis=1, **options)

    if isinstance(lists, Jagged):
        found, places = pairing.combinations(_boundaries(lists), n, options.get("replacement", False))
        placed_together(places)
        shape: Any = from_layout(combine(slots_of(_ONE)).layout)
        return _level(found, shape, _elements([lists] * n, places, positions), _together([lists] * n, places))
    replacement = options.get("replacement", False)
    known = known_combinations(lists.offsets.array, n, replacement)
    result: Any = from_layout(combine(slots_of(lists if known is None else _ONE)).layout)
    tuples = result.content
    if known is None:
        offsets, columns = result.offsets, [held(np.array(numbers.data)) for numbers in tuples.contents]
    else:
        offsets, columns = static(known[0], own=True), [held(column) for column in known[1]]
    counts = np.diff(lists.offsets.array)
    placed_together(columns, np.repeat(counts >= (min(n, 1) if replacement else n), counts))
    dead = _together([lists] * len(columns), columns)
    contents = _elements([lists] * len(columns), columns, positions)
    record = replace(tuples, contents=contents, length=len(columns[0]))
    inside = record if dead is None else Live(dead, record)
    return replace(result, offsets=offsets, content=inside)  # type: ignore[no-any-return]


def products(several: list[List], ends: list[int], combine: Callable[[list[Any]], Any], positions: bool) -> Node:
    """Tuples of elements of several lists.

    Args:
        several: the lists, as many of each.
        ends: the arrays (by number) after which a level of lists ends.
        combine: Awkward's answer for lists of numbers, not nested.
        positions: whether the positions of the elements are wanted, not the elements.
    """
    shape: Any = from_layout(combine([slots_of(_ONE)] * len(several)).layout)
    if any(isinstance(lists, Jagged) for lists in several):
        return _traced_products(several, ends, shape, positions)
    levels: list[tuple[Static, Any]] = []
    columns: list[np.ndarray[Any, Any]] = []
    at: Any = arange(several[0].length)  # the row of each tuple so far
    bounds = [0, *(end + 1 for end in ends), len(several)]
    for first, last in itertools.pairwise(bounds):
        offsets, rows, moved, mine = known_product([lists.offsets.array for lists in several[first:last]], at)
        columns = [column.take(moved, out=empty_with_room(len(moved), column.dtype)) for column in columns]
        levels.append((static(offsets, own=True), _together(several[first:last], mine, once=True)))
        columns += mine
        at = rows
    columns = [held(column) for column in columns]
    contents = _elements(several, columns, positions)
    node: Node = replace(shape.content, contents=contents, length=len(at))
    for offsets, dead in reversed(levels):
        node = List(offsets, node if dead is None else Live(dead, node))
    return replace(node, parameters=shape.parameters)  # type: ignore[no-any-return]


_ONE = List(static(np.array([0, 1])), Flat(np.zeros(1)))


def _boundaries(lists: List) -> Boundaries:
    if not isinstance(lists.offsets, Boundaries):
        raise StructureError(OTHER_LISTS)
    return lists.offsets


def _level(found: Boundaries, shape: Any, contents: tuple[Node, ...], dead: Any) -> Node:
    """Lists of tuples of run-time length."""
    record = replace(shape.content, contents=contents, length=found.bounds.slots)
    return Jagged(found, record if dead is None else Live(dead, record), shape.parameters)


def _traced_products(several: list[List], ends: list[int], shape: Any, positions: bool) -> Node:
    """The same of lists of run-time length."""
    levels: list[tuple[Boundaries, Any]] = []
    columns: list[Any] = []  # which elements, None for all in order
    rows: Any = None  # the elements of the innermost level by the rows they are in
    for first, last in itertools.pairwise([0, *(end + 1 for end in ends), len(several)]):
        group = several[first:last]
        found, mine = pairing.product([_boundaries(lists) for lists in group])
        if levels:
            found, rows, inner = pairing.repeated(found, rows)
            mine = [_at(column, inner) for column in mine]
            columns = [_at(column, found.parents, rising=True) for column in columns]
        else:
            rows = found
        # the lists of one array, as they are, keep the mask they have
        alone = len(group) == 1 and not levels
        levels.append((found, split_live(group[0].content)[0] if alone else _together(group, mine)))
        columns += mine
    columns = [iota(lists.content.length) if at is None else at for lists, at in zip(several, columns, strict=True)]
    node: Any = replace(
        shape.content, contents=_elements(several, columns, positions), length=levels[-1][0].bounds.slots
    )
    for found, dead in reversed(levels):
        node = Jagged(found, node if dead is None else Live(dead, node))
    return replace(node, parameters=shape.parameters)  # type: ignore[no-any-return]


def _at(column: Any, index: Any, rising: bool = False) -> Any:
    return index if column is None else take(column, index, rising=rising)


def slots_of(lists: List) -> Any:
    """The numbers of the elements in their lists, as an Awkward Array."""
    numbers = ak.contents.NumpyArray(arange(lists.content.length))
    return ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(lists.offsets.array), numbers))


def _together(several: list[List], columns: list[Any], once: bool = False) -> Any:
    """The mask of the tuples of which an element does not exist, or None.

    Args:
        several: the lists.
        columns: which elements of each.
        once: whether it is taken where it is used, instead of being put in memory: a product has one mask of each
            array, combinations have several of the same one, and more is computed of them.
    """
    dead = None
    for lists, numbers in zip(several, columns, strict=True):
        here, _ = split_live(lists.content)
        if here is not None:
            at = static(numbers) if isinstance(numbers, np.ndarray) else numbers
            gone = taken(partial(take_mask, here, once=once), at.array if isinstance(at, Static) else at)
            dead = either(dead, note("at", (here, at), gone))
    return dead


def _elements(several: list[List], columns: list[Any], positions: bool) -> tuple[Node, ...]:
    contents: list[Node] = []
    for lists, numbers in zip(several, columns, strict=True):
        dead, content = split_live(lists.content)
        if not positions:
            known = isinstance(numbers, np.ndarray) and not has_traced_lists(content)
            contents.append(put(Flat(numbers), content) if known else take_rows(content, numbers, None))
            continue
        ranks = take(ranked(lists, dead).ranks, numbers)
        kind = np.int64 if isinstance(ranks, np.ndarray) else canonical(np.int64)
        contents.append(Flat(promise(ranks.astype(kind), lists, dead)))
    return tuple(contents)
