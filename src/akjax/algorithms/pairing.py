"""Lists of run-time length made of others: combinations, products and concatenation of their elements.

Each gives the boundaries of the lists it makes and where the elements come from. How many there can be follows
from what is known of the lists' lengths (`Bounds`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels import lists as kernels
from ..kernels.gather import take
from ..nodes.boundaries import Boundaries, Bounds, boundaries
from ..nodes.kinds import Flat, Jagged, Live, Node, Record, replace
from ..nodes.moving import project
from .standing import OTHER_LISTS
from .ufuncs import canonical


def combinations(lists: Boundaries, n: int, replacement: bool) -> tuple[Boundaries, list[Any]]:
    """Tuples of n elements of every list: their boundaries, and n buffers of slots."""
    bounds = lists.bounds
    longest = math.comb(bounds.longest + n - 1 if replacement else bounds.longest, n)
    powers = (bounds.rows, bounds.slots, bounds.squares, bounds.cubes)
    most = powers[n] if n <= 3 else bounds.cubes * bounds.longest ** (n - 3)
    size = (most if replacement else most // math.factorial(n)) + 1
    made, parents, slots = kernels.combinations(_offsets(lists), n, replacement, bounds.longest, size)
    return boundaries(made, parents, _bounds(bounds.rows, size, longest)), slots


def product(several: Sequence[Boundaries]) -> tuple[Boundaries, list[Any]]:
    """Tuples of one element of each of several lists: their boundaries, and a buffer of slots for each."""
    if len(several) == 1:
        return several[0], [jnp.arange(several[0].bounds.slots, dtype=np.int32)]
    bounds = [lists.bounds for lists in several]
    if len({bound.rows for bound in bounds}) > 1:
        raise StructureError(OTHER_LISTS)
    size = _most_tuples(bounds) + 1
    made, parents, slots = kernels.product([_offsets(lists) for lists in several], size)
    return boundaries(made, parents, _bounds(bounds[0].rows, size, math.prod(b.longest for b in bounds))), slots


def repeated(lists: Boundaries, outer: Boundaries) -> tuple[Boundaries, Any]:
    """For every element of the outer lists, the list with the same number: the boundaries, and the slots."""
    size = _most_tuples([outer.bounds, lists.bounds]) + 1
    made, parents, slots = kernels.repeated(_offsets(lists), jnp.asarray(outer.parents), size)
    return boundaries(made, parents, _bounds(outer.bounds.slots, size, lists.bounds.longest)), slots


def _most_tuples(bounds: list[Bounds]) -> int:
    """How many tuples there can be, from the longest lists, or by Cauchy and Schwarz."""
    numbers = range(len(bounds))

    def others(*left_out: int) -> int:
        return math.prod(bounds[k].longest for k in numbers if k not in left_out)

    by_length = [bounds[k].slots * others(k) for k in numbers]
    roots = [math.isqrt(bound.squares) + 1 for bound in bounds]
    by_squares = [roots[i] * roots[j] * others(i, j) for i in numbers for j in range(i)]
    return min(by_length + by_squares)


def _bounds(rows: int, slots: int, longest: int) -> Bounds:
    return Bounds(rows, slots, longest, longest * slots, longest**2 * slots)


def _offsets(lists: Boundaries) -> Any:
    return jnp.asarray(lists.offsets)


def concatenation(several: list[Jagged]) -> Jagged:
    """The elements of several lists in one, for every row.

    Raises:
        StructureError: when they are not of one kind.
    """
    lists: list[Any] = [node.offsets for node in several]
    bounds = [one.bounds for one in lists]
    if len({bound.rows for bound in bounds}) > 1:
        raise StructureError(OTHER_LISTS)
    made, within, source = kernels.concatenation(
        [_offsets(one) for one in lists], [jnp.asarray(one.parents) for one in lists]
    )
    # Minkowski's inequality for the sums of squares and cubes
    squares = sum(bound.squares ** (1 / 2) for bound in bounds) ** 2
    cubes = sum(bound.cubes ** (1 / 3) for bound in bounds) ** 3
    total = Bounds(
        bounds[0].rows,
        sum(bound.slots for bound in bounds),
        sum(bound.longest for bound in bounds),
        math.ceil(squares) + 1,
        math.ceil(cubes) + 1,
    )
    contents: list[Any] = [node.content for node in several]
    dead = None
    if any(isinstance(content, Live) for content in contents):
        masks = [
            content.dead if isinstance(content, Live) else np.zeros(content.length, np.float32) for content in contents
        ]
        dead = take(jnp.concatenate(masks), source)
        contents = [content.content if isinstance(content, Live) else content for content in contents]
    joined = _joined(contents, source)
    return Jagged(boundaries(made, within, total), joined if dead is None else Live(dead, joined))


def _joined(contents: list[Any], source: Any) -> Node:
    """The elements of several arrays at their numbers in all of them put one after another."""
    contents = [project(content) for content in contents]
    first = contents[0]
    if all(isinstance(content, Record) for content in contents) and all(
        content.fields == first.fields and content.parameters == first.parameters for content in contents
    ):
        columns = zip(*(content.contents for content in contents), strict=True)
        joined = tuple(_joined(list(column), source) for column in columns)
        return replace(first, contents=joined, length=source.shape[0])  # type: ignore[no-any-return]
    flat = all(isinstance(content, Flat) and content.words is None for content in contents)
    if not flat or len({content.data.shape[1:] for content in contents}) > 1:
        raise StructureError(MIXED)
    dtypes = [np.dtype(content.data.dtype) for content in contents]
    if len({dtype == np.bool_ for dtype in dtypes}) > 1:
        raise StructureError(MIXED)
    dtype = canonical(functools.reduce(np.promote_types, dtypes))
    data = jnp.concatenate([jnp.asarray(content.data).astype(dtype) for content in contents])
    return Flat(take(data, source), first.parameters)


MIXED = (
    "lists of run-time length can be concatenated when their elements are numbers, or records with the same fields: "
    "give all of them the same fields and the same name first"
)
