"""Lists of run-time length made of others: combinations, products and concatenation of their elements.

Each gives the boundaries of the lists it makes and where the elements come from. How many there can be follows
from what is known of the lists' lengths (`Bounds`).
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import _compat
from ..errors import StructureError
from ..kernels import lists as kernels
from ..kernels.evenly import even
from ..kernels.gather import take
from ..nodes.boundaries import Boundaries, Bounds, boundaries, parents, starts, stops
from ..nodes.static import Static
from .numbering import note, number_of
from .standing import OTHER_LISTS


def combinations(lists: Boundaries, n: int, replacement: bool) -> tuple[Boundaries, list[Any]]:
    """Tuples of n elements of every list: their boundaries, and n buffers of slots."""
    bounds = lists.bounds
    longest = math.comb(bounds.longest + n - 1 if replacement else bounds.longest, n)
    size = _room(_most_combinations(bounds, n, replacement))
    made, parents, slots = kernels.combinations(_offsets(lists), n, replacement, bounds.longest, size)
    found = boundaries(made, parents, _bounds(bounds.rows, size, longest))
    return _same(("combinations", lists, n, replacement), found), slots


_made: weakref.WeakValueDictionary[Any, Boundaries] = weakref.WeakValueDictionary()


def _same(key: Any, found: Boundaries) -> Boundaries:
    """What the same lists gave in the same way before, if somebody has it: elements of both line up."""
    return _made.setdefault((id(_compat.current_trace()), key), found)


def _most_combinations(bounds: Bounds, n: int, replacement: bool) -> int:
    """How many combinations there can be."""
    if not replacement:
        known = (bounds.rows, bounds.slots, bounds.pairs, bounds.triples)
        return known[n] if n <= 3 else known[3] * bounds.longest ** (n - 3)
    known = (bounds.rows, bounds.slots, bounds.pairs + bounds.slots, bounds.triples + 2 * bounds.pairs + bounds.slots)
    return known[n] if n <= 3 else known[3] * (bounds.longest + n) ** (n - 3)


def product(several: Sequence[Boundaries]) -> tuple[Boundaries, list[Any]]:
    """Tuples of one element of each of several lists: their boundaries, and slots for each, None for all in order."""
    if len(several) == 1:
        return several[0], [None]
    bounds = [lists.bounds for lists in several]
    if len({bound.rows for bound in bounds}) > 1:
        raise StructureError(OTHER_LISTS)
    size, longest = _room(_most_tuples(bounds)), math.prod(bound.longest for bound in bounds)
    made, parents, slots = kernels.product([_offsets(lists) for lists in several], size, longest)
    found = boundaries(made, parents, _bounds(bounds[0].rows, size, longest))
    return _same(("product", *several), found), slots


def repeated(lists: Boundaries, outer: Boundaries) -> tuple[Boundaries, Boundaries, Any]:
    """For every element of the outer lists the list of the same row.

    Returns:
        Boundaries of the new lists, one for each outer element; of all that are of one row; and slots.
    """
    inside, longest = lists.bounds.longest, lists.bounds.longest * outer.bounds.longest
    size = _room(_most_tuples([outer.bounds, lists.bounds]))
    at = jnp.asarray(outer.parents)
    made, parents, whole, row, slots = kernels.repeated(_offsets(lists), _offsets(outer), at, size)
    found = boundaries(made, parents, _bounds(outer.bounds.slots, size, inside))
    return found, boundaries(whole, row, _bounds(outer.bounds.rows, size, longest)), slots


def taken(offsets: Static | Boundaries, at: Any, there: Any) -> tuple[Boundaries, Any]:
    """Some of several lists, each of them once at most.

    Args:
        offsets: the lists.
        at: the numbers of the lists to take, of which the last one stands for nothing.
        there: whether each of them is meant; the last one is not.

    Returns:
        Boundaries of the new lists, and for each of their slots that in the old ones.
    """
    rows = at.shape[0]
    bounds = _of_largest(offsets, rows)
    first = take(jnp.asarray(starts(offsets), jnp.int32), at)
    counts = jnp.where(there, take(jnp.asarray(stops(offsets), jnp.int32), at) - first, 0)
    made, parents, slots = kernels.taken(first, counts, bounds.slots)
    note(("taken", offsets), (at, there), slots)
    return _same(("taken", offsets, number_of(at), number_of(there)), boundaries(made, parents, bounds)), slots


def columns(offsets: Static | Boundaries, counts: Any, to: Any, rows: int, key: Any) -> Boundaries:
    """Lists of which each is as long as the longest of some others.

    Args:
        offsets: the others.
        counts: how many elements of each of them count.
        to: for each of them the number of the new list.
        rows: how many new lists there are; the last one stands for nothing.
        key: what the same lists are known by.
    """
    bounds = _of_largest(offsets, rows)
    made, inside = kernels.columns(counts, to, rows, bounds.slots)
    return _same(("columns", key), boundaries(made, inside, bounds))


def flattened(outer: Static | Boundaries, inner: Static | Boundaries) -> Boundaries:
    """The lists of a row, or of an element of it, as one: at least one of the two is known at run time only."""
    offsets, inside = (
        jnp.asarray(lists.offsets if isinstance(lists, Boundaries) else lists.array, np.int32)
        for lists in (outer, inner)
    )
    rows, slots = len(outer) - 1, len(parents(inner))
    longest = min(math.prod(map(_longest, (outer, inner))), slots)
    made = take(inside, offsets)
    within = take(jnp.asarray(parents(outer), np.int32), jnp.asarray(parents(inner)), rising=True)
    return _same(("flattened", outer, inner), boundaries(made, within, _bounds(rows, slots, longest)))


def _longest(offsets: Static | Boundaries) -> int:
    return offsets.bounds.longest if isinstance(offsets, Boundaries) else int(np.diff(offsets.array).max(initial=0))


def _of_largest(offsets: Static | Boundaries, rows: int) -> Bounds:
    """What is known of lists that are some of others, all but one of `rows`: they may be the longest ones."""
    if isinstance(offsets, Boundaries):
        of = offsets.bounds
        longest = _bounds(rows, (rows - 1) * of.longest, of.longest)
        squares, many = min(of.squares, longest.squares), min(of.pairs, longest.pairs)
        slots = min(of.slots, _room(longest.slots))  # where one must be left for nothing, one is in the old lists
        return Bounds(rows, slots, of.longest, squares, many, min(of.triples, longest.triples))
    known = _known(offsets, rows - 1)
    return known._replace(rows=rows, slots=_room(known.slots))


def lengthened(lists: Boundaries, length: int) -> Boundaries:
    """Lists of at least this length."""
    bounds = lists.bounds
    size = bounds.slots + bounds.rows * length
    made, parents = kernels.lengthened(_offsets(lists), length, size)
    return boundaries(made, parents, _bounds(bounds.rows, size, max(bounds.longest, length)))


def _most_tuples(bounds: list[Bounds]) -> int:
    """How many tuples there can be, from the longest lists, or from pairs."""
    numbers = range(len(bounds))

    def others(*left_out: int) -> int:
        return math.prod(bounds[k].longest for k in numbers if k not in left_out)

    by_length = [bounds[k].slots * others(k) for k in numbers]
    by_pairs = [_across(bounds[i], bounds[j]) * others(i, j) for i in numbers for j in range(i)]
    return min(by_length + by_pairs)


def _across(one: Bounds, two: Bounds) -> int:
    """How many pairs of an element of each there can be: counted, or by Cauchy and Schwarz."""
    counted = one.product(two)
    most = math.isqrt(one.squares * two.squares) + 1
    return most if counted is None else min(counted, most)


# of sizes that are a multiple of this, running sums have whole blocks
_WHOLE = 8


def _room(most: int) -> int:
    """The slots for so many elements and one or a few that stand for nothing."""
    if most >= np.iinfo(np.int32).max - 4:
        message = (
            f"up to {most} combinations of elements of lists of akjax.traced are more than can be numbered: "
            "say how long the lists are at most, akjax.compact(array, capacity=n, axis=1), or use smaller chunks"
        )
        raise StructureError(message)
    return even(most + 1 + -(most + 1) % _WHOLE)


def _bounds(rows: int, slots: int, longest: int) -> Bounds:
    """What follows from the longest list alone."""
    pairs = slots * max(longest - 1, 0)
    return Bounds(rows, slots, longest, longest * slots, pairs // 2, pairs * max(longest - 2, 0) // 6)


def _offsets(lists: Boundaries) -> Any:
    return jnp.asarray(lists.offsets)


def concatenation(several: Sequence[Boundaries]) -> tuple[Boundaries, Any]:
    """The elements of several lists in one: boundaries, and for each slot its number in all of them in a row."""
    bounds = [lists.bounds for lists in several]
    if len({bound.rows for bound in bounds}) > 1:
        raise StructureError(OTHER_LISTS)
    parents = [jnp.asarray(lists.parents) for lists in several]
    made, within, source = kernels.concatenation([_offsets(lists) for lists in several], parents)
    found = boundaries(made, within, functools.reduce(_joint, bounds))
    return _same(("concatenation", *several), found), source


def side_by_side(several: Sequence[Static | Boundaries]) -> Boundaries:
    """The lists of several arrays one after another, of which some are known at run time only.

    The last list of each array but the last, which stands for nothing, is among them and is no list of these bounds: it
    is not to be looked at.
    """
    offsets, inside, all_bounds = [], [], []
    rows = slots = 0
    for lists in several:
        first = lists.offsets if isinstance(lists, Boundaries) else lists.array
        offsets.append(jnp.asarray(first[:-1], np.int32) + slots)
        inside.append(jnp.asarray(parents(lists), np.int32) + rows)
        all_bounds.append(lists.bounds if isinstance(lists, Boundaries) else _known(lists))
        rows, slots = rows + all_bounds[-1].rows, slots + all_bounds[-1].slots
    longest = max(bounds.longest for bounds in all_bounds)
    squares, pairs, triples = (sum(getattr(b, name) for b in all_bounds) for name in ("squares", "pairs", "triples"))
    made = jnp.concatenate([*offsets, jnp.full(1, slots, np.int32)])
    return boundaries(made, jnp.concatenate(inside), Bounds(rows, slots, longest, squares, pairs, triples))


def _known(offsets: Static, rows: int | None = None) -> Bounds:
    """Of lists that are known, of which those up to a number of rows that are the longest are meant."""
    counts = np.sort(np.diff(offsets.array))[::-1][:rows]
    pairs = counts * (counts - 1) // 2
    squares, many, triples = (int(numbers.sum()) for numbers in (counts**2, pairs, pairs * (counts - 2) // 3))
    return Bounds(len(offsets) - 1, int(counts.sum()), int(counts.max(initial=0)), squares, many, triples)


def _joint(one: Bounds, two: Bounds) -> Bounds:
    """Of lists joined: pairs and triples are of one of them, or have a part in each."""
    across = _across(one, two)
    theirs = dict(two.products)
    products = tuple((name, most + theirs[name]) for name, most in one.products if name in theirs)
    triples = one.pairs * two.longest + two.pairs * one.longest
    return Bounds(
        one.rows,
        one.slots + two.slots,
        one.longest + two.longest,
        one.squares + two.squares + 2 * across,
        one.pairs + two.pairs + across,
        one.triples + two.triples + triples,
        products=products,
    )
