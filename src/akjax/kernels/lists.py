"""Index arithmetic on lists whose boundaries are values of the program: combinations, products, concatenation.

Offsets are int32 of shape `(rows + 1,)`; the last list stands for nothing and holds the slots that are not used. Every
function gives offsets of the same kind for the lists it makes.
"""

from __future__ import annotations

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from akjax.caches import droppable
from akjax.kernels._reduce import computed_first
from akjax.kernels.evenly import empty_with_room
from akjax.kernels.gather import take
from akjax.kernels.running import running_count, running_places

__all__ = [
    "columns",
    "combinations",
    "concatenation",
    "known_combinations",
    "known_parents",
    "known_product",
    "lengthened",
    "nth_of_kind",
    "parents_of",
    "product",
    "repeated",
    "taken",
    "true_counts",
]

_LARGEST_TABLE = 1 << 21
# elements a list
_LONG = 16
# lists
_PIECE = 1 << 12


def true_counts(offsets: jax.Array) -> jax.Array:
    """The length of every list, 0 for the last one.

    Example:
        >>> true_counts(jnp.array([0, 2, 2, 5, 8])).tolist()
        [2, 0, 3, 0]
    """
    counts = offsets[1:] - offsets[:-1]
    return jnp.where(lax.iota(np.int32, counts.shape[0]) == counts.shape[0] - 1, 0, counts)


def parents_of(offsets: jax.Array, size: int) -> jax.Array:
    """The number of the list each of `size` elements is in, of which the last one has some.

    Example:
        >>> parents_of(jnp.array([0, 2, 2, 3, 5]), 5).tolist()
        [0, 0, 2, 3, 3]
    """
    return _parents_from(offsets[:-1], size)


def _parents_from(starts: jax.Array, size: int) -> jax.Array:
    """The same from where the lists begin, the first of them at 0."""
    return computed_first(running_places(starts, size, -1))


def known_parents(offsets: np.ndarray, into: np.ndarray) -> np.ndarray:
    """The same of lists that are known while tracing.

    Args:
        offsets: the lists, from 0; the last one is one like the others.
        into: integers to write to, one for each element.

    Example:
        >>> known_parents(np.array([0, 2, 2, 3]), np.empty(3, np.int32)).tolist()
        [0, 0, 2]
    """
    lists = len(offsets) - 1
    if len(into) > _LONG * lists:
        into[:] = np.repeat(np.arange(lists, dtype=into.dtype), np.diff(offsets))
        return into
    # of short lists a repeat takes twice as long as counting how many have ended
    ended = np.bincount(offsets[1:-1], minlength=len(into))[: len(into)]
    return np.cumsum(ended, dtype=into.dtype, out=into)


def _offsets(counts: jax.Array, size: int) -> jax.Array:
    """Offsets of lists of these lengths, the rest of `size` slots in the last one."""
    ends = running_count(counts)
    return computed_first(jnp.concatenate([jnp.zeros(1, np.int32), ends[:-1], jnp.full(1, size, np.int32)]))


def combinations(
    offsets: jax.Array, n: int, replacement: bool, longest: int, size: int
) -> tuple[jax.Array, jax.Array, list[jax.Array]]:
    """All ways to take n elements of each list, in Awkward's order.

    Seen from the end of a list, the combinations of the last elements come first whatever the length of the list: one
    table, of places counted from the end, serves lists of every length.

    Args:
        offsets: the lists.
        n: how many elements are combined.
        replacement: whether an element may be combined with itself.
        longest: no list is longer.
        size: no more combinations are there than `size - 1`.

    Returns:
        Offsets and parents of the lists of combinations, and n buffers of slots, one for each place of a combination.

    Example:
        >>> offsets, parents, (one, two) = combinations(jnp.array([0, 3, 5, 6]), 2, False, 3, 5)
        >>> offsets.tolist(), parents.tolist()
        ([0, 3, 4, 5], [0, 0, 0, 1, 2])
        >>> one[:4].tolist(), two[:4].tolist()
        ([0, 0, 1, 3], [1, 2, 2, 4])
    """
    counts = true_counts(offsets)
    ways = _how_many(counts, n, replacement)
    made = _offsets(ways, size)
    parents = parents_of(made, size)
    last = take(made[1:], parents, rising=True) - 1
    place = jnp.where(parents == counts.shape[0] - 1, 0, last - lax.iota(np.int32, size))
    ends = take(computed_first(offsets[:-1] + counts - 1), parents, rising=True)
    return made, parents, [jnp.maximum(ends - back, 0) for back in _backs(place, longest, n, replacement)]


def _backs(place: jax.Array, longest: int, n: int, replacement: bool) -> list[jax.Array]:
    """How far from the end of a list the elements of a combination are."""
    table = _table(longest, n, replacement)
    bits = longest.bit_length()
    if n * bits >= 32:
        return [take(column, place) for column in table]
    # one number for all of them, as small as it can be, is one look at the table
    packed = functools.reduce(np.bitwise_or, (column << (k * bits) for k, column in enumerate(table)))
    found = computed_first(take(packed.astype(np.int16) if n * bits < 16 else packed, place)).astype(np.int32)
    return [(found >> (k * bits)) & ((1 << bits) - 1) for k in range(n)]


def _how_many(counts: jax.Array, n: int, replacement: bool) -> jax.Array:
    ways = jnp.ones_like(counts)
    for k in range(n):  # each step divides evenly
        ways = ways * (counts + k if replacement else jnp.maximum(counts - k, 0)) // (k + 1)
    return ways


def known_combinations(offsets: np.ndarray, n: int, replacement: bool) -> tuple[np.ndarray, list[np.ndarray]] | None:
    """The same of lists that are known while tracing, computed on the host.

    Args:
        offsets: the lists, from 0; the last one is one like the others.
        n: how many elements are combined.
        replacement: whether an element may be combined with itself.

    Returns:
        Offsets of the lists of combinations, and n buffers of int32 slots; None where lists are so long that the table
        would be, or positions do not fit.

    Example:
        >>> offsets, (one, two) = known_combinations(np.array([0, 3, 5, 6]), 2, False)
        >>> offsets.tolist(), one.tolist(), two.tolist()
        ([0, 3, 4, 4], [0, 0, 1, 3], [1, 2, 2, 4])
    """
    counts = np.diff(offsets)
    longest = int(counts.max(initial=0))
    if math.comb(longest + n - 1 if replacement else longest, n) > _LARGEST_TABLE:
        return None
    ways = np.ones_like(counts)
    for k in range(n):
        ways = ways * (counts + k if replacement else np.maximum(counts - k, 0)) // (k + 1)
    made = np.concatenate([np.zeros(1, np.int64), np.cumsum(ways)])
    size = int(made[-1])
    if max(size, int(offsets[-1])) > np.iinfo(np.int32).max:
        return None
    table = _table(longest, n, replacement)
    slots = [empty_with_room(size, np.int32) for _ in table]
    # some lists at a time: what is computed in between stays in the caches
    for first in range(0, len(counts), _PIECE):
        here = slice(first, first + _PIECE)
        start, stop = made[first], made[min(first + _PIECE, len(counts))]
        place = np.repeat(made[1:][here] - 1, ways[here])
        place -= np.arange(start, stop)
        last = np.repeat((offsets[1:][here] - 1).astype(np.int32), ways[here])
        for column, slot in zip(table, slots, strict=True):
            back = column.take(place, mode="clip")  # all are inside; "clip" is the mode that does not look
            np.subtract(last, back, out=slot[start:stop])
    return made, slots


def known_product(
    several: list[np.ndarray], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """For each of some rows all tuples of an element of each of several lists, of lists that are known while tracing.

    Args:
        several: the offsets of the lists, from 0.
        rows: numbers of lists.

    Returns:
        Offsets of the lists of tuples; for each tuple its row, and which of `rows` that is; and for each of the several
        a buffer of slots.

    Example:
        >>> lists = [np.array([0, 2, 3]), np.array([0, 1, 3])]
        >>> offsets, rows, which, (one, two) = known_product(lists, np.array([1, 0]))
        >>> offsets.tolist(), rows.tolist(), which.tolist()
        ([0, 2, 4], [1, 1, 0, 0], [0, 0, 1, 1])
        >>> one.tolist(), two.tolist()
        ([2, 2, 0, 1], [1, 2, 0, 0])
    """
    made = np.arange(len(rows) + 1)
    if max(len(several[0]), len(rows)) <= np.iinfo(np.int32).max:
        rows = rows.astype(np.int32)
    which = np.arange(len(rows), dtype=rows.dtype)
    columns: list[np.ndarray] = []
    for offsets in several:
        ends = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.diff(offsets)[rows], out=ends[1:])
        size = int(ends[-1])
        kind = np.int32 if max(size, offsets[-1]) <= np.iinfo(np.int32).max else np.int64
        first = (offsets[:-1][rows] - ends[:-1]).astype(kind)
        before = [rows, which, *columns, first]
        after = [empty_with_room(size, one.dtype) for one in before]
        # some rows at a time: what is computed in between stays in the caches
        for at in range(0, len(rows), _PIECE):
            here = slice(at, at + _PIECE)
            bounds = ends[at : at + _PIECE + 1]
            start, stop = bounds[0], bounds[-1]
            outer = known_parents(bounds - start, np.empty(stop - start, np.int64))
            for one, made_of in zip(before, after, strict=True):
                one[here].take(outer, out=made_of[start:stop], mode="clip")  # all are inside
            after[-1][start:stop] += np.arange(start, stop, dtype=kind)
        made, (rows, which, *columns) = ends[made], after
    return made, rows, which, columns


@droppable
@functools.lru_cache(maxsize=64)
def _table(longest: int, n: int, replacement: bool) -> tuple[np.ndarray, ...]:
    """Combinations of places counted from the end of a list, the last combination of a list first."""
    size = math.comb(longest + n - 1 if replacement else longest, n)
    if size > _LARGEST_TABLE:
        message = f"{size} combinations of {n} elements in lists of up to {longest} are too many at run time"
        raise ValueError(message)
    choose = itertools.combinations_with_replacement if replacement else itertools.combinations
    # for places a >= b >= ... from the end, the last combination of any list is that of the smallest ones
    rows = np.array(list(choose(range(longest), n)), dtype=np.int32).reshape(-1, n)[:, ::-1]
    order = np.lexsort(rows.T[::-1])
    return tuple(np.ascontiguousarray(column) for column in rows[order].T) if size else (np.zeros(1, np.int32),) * n


def product(several: list[jax.Array], size: int, most: int) -> tuple[jax.Array, jax.Array, list[jax.Array]]:
    """All combinations of one element of each of several lists, in Awkward's order.

    Args:
        several: offsets of equally many lists.
        size: no more combinations are there than `size - 1`.
        most: no more combinations are of one list.

    Returns:
        Offsets and parents of the lists of combinations, and a buffer of slots for each of `several`.

    Example:
        >>> offsets, parents, (one, two) = product([jnp.array([0, 2, 3]), jnp.array([0, 2, 4])], 5, 4)
        >>> one[:4].tolist(), two[:4].tolist()
        ([0, 0, 1, 1], [0, 1, 0, 1])
    """
    counts = [computed_first(true_counts(offsets)) for offsets in several]
    made = _offsets(functools.reduce(jnp.multiply, counts), size)
    parents = parents_of(made, size)
    used = parents != counts[0].shape[0] - 1
    rest = lax.iota(np.int32, size) - take(made, parents, rising=True)
    slots = []
    for offsets, count in zip(reversed(several[1:]), reversed(counts[1:]), strict=True):
        rest, nth = _divided(rest, jnp.maximum(take(count, parents, rising=True), 1), most)
        slots.append(jnp.where(used, take(offsets, parents, rising=True) + nth, 0))
    slots.append(jnp.where(used, take(several[0], parents, rising=True) + rest, 0))
    return made, parents, [computed_first(slot) for slot in slots[::-1]]


def _divided(number: jax.Array, by: jax.Array, most: int) -> tuple[jax.Array, jax.Array]:
    """Quotients and remainders of numbers from 0 to `most`; of larger ones something."""
    if most < _EXACT:
        # integers are divided one by one; half of one more keeps the quotient further from whole numbers than rounding
        quotient = ((number.astype(np.float32) + 0.5) / by.astype(np.float32)).astype(np.int32)
    else:
        quotient = lax.div(number, by)
    return quotient, number - quotient * by


_EXACT = 1 << 18


def taken(first: jax.Array, counts: jax.Array, size: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Some of the lists of a buffer, wherever they are in it.

    Args:
        first: where each of them begins in the buffer; the last one stands for nothing.
        counts: how long they are; the last one is not.
        size: no more than `size - 1` elements are in them.

    Returns:
        Offsets and parents of the lists, and for each of their slots that in the buffer.

    Example:
        >>> offsets, parents, slots = taken(jnp.array([7, 2, 0]), jnp.array([1, 2, 0]), 5)
        >>> offsets.tolist(), parents.tolist(), slots[:3].tolist()
        ([0, 1, 3, 5], [0, 1, 1, 2, 2], [7, 2, 3])
    """
    made = _offsets(counts, size)
    parents = parents_of(made, size)
    place = take(computed_first(first - made[:-1]), parents, rising=True) + lax.iota(np.int32, size)
    return made, parents, computed_first(jnp.where(parents == counts.shape[0] - 1, 0, place))


def repeated(
    offsets: jax.Array, outer: jax.Array, at: jax.Array, size: int
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
    """For every element of the outer lists the whole list of the same number.

    Args:
        offsets: the lists.
        outer: offsets of the outer lists, as many.
        at: their parents.
        size: no more than `size - 1` elements are in the new lists.

    Returns:
        Offsets and parents of the new lists, one for each outer element; the same of all that belong to one outer list;
        and the slot of each of the new elements.

    Example:
        >>> offsets, outer, at = jnp.array([0, 1, 3, 4]), jnp.array([0, 1, 3, 4]), jnp.array([0, 1, 1, 2])
        >>> made, parents, whole, row, slots = repeated(offsets, outer, at, 6)
        >>> made.tolist(), slots[:5].tolist()
        ([0, 1, 3, 5, 6], [0, 1, 2, 1, 2])
        >>> whole.tolist(), parents[:5].tolist()
        ([0, 1, 5, 6], [0, 1, 1, 2, 2])
    """
    counts = computed_first(true_counts(offsets))
    whole = _offsets(counts * true_counts(outer), size)
    # the lists of the first element of a row begin where the row does, those of each of the others a list later
    first = take(computed_first(whole[:-1] - outer[:-1] * counts), at, rising=True)
    starts = computed_first(first + lax.iota(np.int32, at.shape[0]) * take(counts, at, rising=True))
    parents = _parents_from(starts, size)
    made = jnp.concatenate([starts, jnp.full(1, size, np.int32)])
    shift = take(computed_first(take(offsets[:-1], at, rising=True) - starts), parents, rising=True)
    slots = jnp.where(parents == at.shape[0] - 1, 0, shift + lax.iota(np.int32, size))
    return made, parents, whole, take(at, parents, rising=True), computed_first(slots)


def lengthened(offsets: jax.Array, length: int, size: int) -> tuple[jax.Array, jax.Array]:
    """Offsets and parents of lists that are at least `length` long, with `size` slots in all.

    Example:
        >>> offsets, parents = lengthened(jnp.array([0, 3, 4, 6]), 2, 10)
        >>> offsets.tolist(), parents.tolist()
        ([0, 3, 5, 10], [0, 0, 0, 1, 1, 2, 2, 2, 2, 2])
    """
    counts = jnp.maximum(true_counts(offsets), length).at[-1].set(0)
    made = _offsets(counts, size)
    return made, parents_of(made, size)


def columns(counts: jax.Array, to: jax.Array, rows: int, size: int) -> tuple[jax.Array, jax.Array]:
    """Offsets and parents of lists of which each is as long as the longest of some others.

    Args:
        counts: how long the others are.
        to: for each of them, which of the new lists it belongs to.
        rows: the number of new lists; the last one stands for nothing.
        size: no more than `size - 1` elements are in them.

    Example:
        >>> offsets, parents = columns(jnp.array([2, 3, 1]), jnp.array([0, 0, 1]), 3, 6)
        >>> offsets.tolist(), parents.tolist()
        ([0, 3, 4, 6], [0, 0, 0, 1, 2, 2])
    """
    longest = jnp.zeros(rows, np.int32).at[to].max(counts.astype(np.int32), mode="promise_in_bounds")
    made = _offsets(longest.at[-1].set(0), size)
    return made, parents_of(made, size)


def nth_of_kind(kinds: jax.Array, there: jax.Array | np.ndarray, number: int) -> jax.Array:
    """For each element how many of its kind are in front of it, of those that are there.

    Args:
        kinds: the kind of each element.
        there: which of them are there.
        number: how many kinds there are.

    Example:
        >>> nth_of_kind(jnp.array([1, 0, 1, 1]), jnp.array([True, True, False, True]), 2).tolist()
        [0, 0, 1, 1]
    """
    order = jnp.argsort(kinds, stable=True)
    size = kinds.shape[0]
    before = jnp.concatenate([jnp.zeros(1, np.int32), running_count(take(jnp.asarray(there), order))])
    sizes = jnp.zeros(number, np.int32).at[kinds].add(1, mode="promise_in_bounds")
    first = running_count(sizes) - sizes
    nth = before[:-1] - take(before, take(first, take(kinds, order)))
    return jnp.zeros(size, np.int32).at[order].set(nth, unique_indices=True, mode="promise_in_bounds")


def concatenation(several: list[jax.Array], parents: list[jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Lists joined to longer ones, element by element the first, the second, ...

    Args:
        several: offsets of equally many lists.
        parents: the number of the list each of their elements is in.

    Returns:
        Offsets and parents of the joined lists, and for each of their slots the number of the element in the buffers of
        `several` put one after another.

    Example:
        >>> one, two = jnp.array([0, 1, 2]), jnp.array([0, 2, 3])
        >>> offsets, parents, source = concatenation([one, two], [parents_of(one, 2), parents_of(two, 3)])
        >>> offsets.tolist(), parents.tolist(), source.tolist()
        ([0, 3, 5], [0, 0, 0, 1, 1], [0, 2, 3, 1, 4])
    """
    places = []
    for k, inside in enumerate(parents):
        # in front of an element there is also all of the lists before its own, and of those of others as much
        before = [offsets[1:] if j < k else offsets[:-1] for j, offsets in enumerate(several) if j != k]
        moved = computed_first(functools.reduce(jnp.add, before, jnp.zeros_like(several[k][1:])))
        places.append(lax.iota(np.int32, inside.shape[0]) + take(moved, inside, rising=True))
    place = jnp.concatenate(places)
    numbers = lax.iota(np.int32, place.shape[0])
    source = jnp.zeros_like(place).at[place].set(numbers, unique_indices=True, mode="promise_in_bounds")
    return functools.reduce(jnp.add, several), take(jnp.concatenate(parents), source), source
