"""Capacities: how many rows and elements an array may have, and arrays padded up to that.

The capacities of an array are its true sizes rounded up to buckets, so that arrays of about one size have the same.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..errors import StructureError
from ..kernels.evenly import even
from ..nodes.kinds import List, Node, Record, Regular
from ..nodes.walk import children

GROWTH = 1.25

# products of lengths are counted for no more lists than these
_MANY = 12

Products: TypeAlias = tuple[tuple[tuple[str, str], int], ...]

# below these, everything is one bucket
_FEWEST = 8
_SHORTEST = 8


class Sizes(NamedTuple):
    """Sizes of the lists at one place of an array, or what they must not exceed.

    Attributes:
        total: number of elements.
        longest: length of the longest list.
        squares: sum of the squared lengths.
        pairs: number of pairs of elements of one list.
        triples: number of triples.
    """

    total: int
    longest: int
    squares: int
    pairs: int
    triples: int


@dataclasses.dataclass(frozen=True, repr=False)
class Envelope:
    """How large an array of `akjax.traced` may be; arrays in one envelope share one compiled program.

    Attributes:
        rows: number of rows.
        lists: by path (`"Jet[]"`: the lists in the field `Jet`), in alphabetical order, the sizes of the lists.
        products: by two paths, how many pairs of an element of the one and an element of the other there are in a row;
            of the lists in rows, if they are few.
        used: the true sizes of what it was made for, if they are known.
    """

    rows: int
    lists: tuple[tuple[str, Sizes], ...]
    products: Products = ()
    used: Envelope | None = dataclasses.field(default=None, compare=False)

    def __repr__(self) -> str:
        used = {} if self.used is None else dict(self.used.lists)
        lines = [f"Envelope of {_filled('rows', self.rows, None if self.used is None else self.used.rows)}"]
        for path, sizes in self.lists:
            total, *bounds = (
                _filled(_SHOWN[name], most, used[path]._asdict()[name] if used else None, waste=name == "total")
                for name, most in sizes._asdict().items()
                if name in _SHOWN
            )
            lines.append(f"  {path}: {total}; {', '.join(bounds)}")
        return "\n".join(lines)

    def __or__(self, other: Envelope) -> Envelope:
        """The envelope in which both fit."""
        mine, theirs = dict(self.lists), dict(other.lists)
        if list(mine) != list(theirs):
            message = (
                "arrays with the same lists have an envelope in common; these (chunks of one stream, perhaps) have "
                f"lists at {list(mine)} and at {list(theirs)}"
            )
            raise StructureError(message)
        lists = tuple((path, Sizes(*map(max, mine[path], theirs[path]))) for path in mine)
        both = dict(other.products)
        products = tuple((pair, max(most, both[pair])) for pair, most in self.products if pair in both)
        used = None if self.used is None or other.used is None else self.used | other.used
        return Envelope(max(self.rows, other.rows), lists, products, used)

    def times(self, factor: float, longest: float) -> Envelope:
        """Sizes of an array with more rows, elements and pairs, and longer lists, of the same kind."""

        def grown(sizes: Sizes) -> Sizes:
            most = math.ceil(longest * sizes.longest)
            return Sizes(*(math.ceil(factor * one) for one in sizes))._replace(longest=most)

        products = tuple((pair, math.ceil(factor * most)) for pair, most in self.products)
        lists = tuple((path, grown(sizes)) for path, sizes in self.lists)
        return Envelope(math.ceil(factor * self.rows), lists, products)

    def only(self, sizes: Envelope) -> Envelope:
        """What it says of the lists that these sizes are of."""
        paths = dict(sizes.lists)
        products = tuple((pair, most) for pair, most in self.products if paths.keys() >= set(pair))
        return Envelope(self.rows, tuple((path, one) for path, one in self.lists if path in paths), products)

    def excess(self, sizes: Envelope) -> str | None:
        """What of an array with these sizes does not fit, or None."""
        if list(dict(self.lists)) != list(dict(sizes.lists)):
            return f"it has lists at {list(dict(sizes.lists))}, the envelope at {list(dict(self.lists))}"
        if sizes.rows >= self.rows:
            return f"it has {sizes.rows} rows, the envelope room for {self.rows - 1}, and one for padding"
        for (path, have), (_, most) in zip(sizes.lists, self.lists, strict=True):
            for name, one, limit in zip(Sizes._fields, have, _room(most), strict=True):
                if one > limit:
                    return f"the lists {path} have {_WORDS[name]} {one}, the envelope room for {limit}"
        products = dict(sizes.products)
        for pair, limit in self.products:
            if products[pair] > limit:
                what = f"a number of pairs of one of each of {products[pair]}"
                return f"the lists {' and '.join(pair)} have {what}, the envelope room for {limit}"
        return None


def within(sizes: Sizes, most: Sizes) -> bool:
    """Whether lists of these sizes fit."""
    return all(one <= limit for one, limit in zip(sizes, _room(most), strict=True))


def _room(most: Sizes) -> Sizes:
    return most._replace(total=most.total - 1)  # one slot stands for those that are not used


_WORDS = {
    "total": "a number of elements of",
    "longest": "a longest list of",
    "squares": "a sum of squared lengths of",
    "pairs": "a number of pairs of",
    "triples": "a number of triples of",
}


_SHOWN = {"total": "elements", "longest": "longest", "pairs": "pairs", "triples": "triples"}


def _filled(what: str, most: int, used: int | None, *, waste: bool = True) -> str:
    """A capacity, and how much of it is used."""
    text = f"{what} {most}" if what == "longest" else f"{most} {what}"
    if used is None:
        return text
    return f"{text} ({used} used, {1 - used / most:.0%} waste)" if waste else f"{text} ({used})"


def check_growth(growth: float) -> None:
    """Raise a ValueError for what is no ratio of one bucket to the one before."""
    if not 1 < growth < math.inf:
        message = f"growth is the ratio of one bucket size to the one before: a number above 1, not {growth!r}"
        raise ValueError(message)


@functools.lru_cache(maxsize=4096)
def bucket(size: int, growth: float, smallest: int) -> int:
    """The smallest bucket that holds `size`: buckets grow by `growth` from `smallest` on.

    Large ones are multiples of a number that the threads of a CPU and the elements of its vectors divide: XLA checks
    every element of a loop that is divided unevenly, and one that gathers is then not vectorised.

    Example:
        >>> [bucket(n, 1.25, 8) for n in (0, 8, 9, 100, 10_000)]
        [8, 8, 10, 121, 10368]
    """
    found = smallest
    while even(found) < size:
        found = max(found + 1, math.floor(found * growth))
    return even(found)


def sizes_of(node: Node) -> Envelope:
    """The true sizes of an array; the nodes without options."""
    lists, lengths = [], {}
    for path, found, in_rows in _lists(node, "", True):
        counts = np.diff(found.offsets.array)
        lists.append((path, sizes_of_lengths(found.content.length, counts)))
        if in_rows:
            lengths[path] = counts
    return Envelope(node.length, _by_path(lists), _products_of(lengths))


def sizes_of_counts(counts: Mapping[str, Any]) -> Envelope:
    """The sizes of lists of these lengths, by the paths of the lists without their last `[]`.

    Raises:
        ValueError: for what are not lengths, or those of the outermost lists are not given, or not as many for each.
    """
    arrays = {path: np.asarray(numbers) for path, numbers in counts.items()}
    for path, numbers in arrays.items():
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu") or (numbers < 0).any():
            message = f"the lengths of the lists {path!r} must be a flat array of integers that are not negative"
            raise ValueError(message)
    rows = {path: len(numbers) for path, numbers in arrays.items() if "[]" not in path}
    if len(set(rows.values())) != 1:
        message = f"the lengths of the outermost lists are needed, as many as there are rows: there are {rows}"
        raise ValueError(message)
    lists = ((f"{path}[]", sizes_of_lengths(int(numbers.sum()), numbers)) for path, numbers in arrays.items())
    lengths = {f"{path}[]": numbers for path, numbers in arrays.items() if path in rows}
    return Envelope(next(iter(rows.values())), _by_path(lists), _products_of(lengths))


def _by_path(lists: Iterable[tuple[str, Sizes]]) -> tuple[tuple[str, Sizes], ...]:
    return tuple(sorted(lists))


def sizes_of_lengths(total: int, lengths: np.ndarray[Any, Any]) -> Sizes:
    """The sizes of lists of these lengths, of `total` elements."""
    # how many lists there are of each length, in one pass; then sums are of few numbers, and exact
    found = np.bincount(lengths.astype(np.int64, copy=False))
    lists = [(int(found[length]), int(length)) for length in np.flatnonzero(found)]
    sums = (sum(many * math.comb(length, n) for many, length in lists) for n in (2, 3))
    squares = sum(many * length**2 for many, length in lists)
    return Sizes(total, lists[-1][1] if lists else 0, squares, *sums)


def _lists(node: Node, path: str, in_rows: bool) -> Iterator[tuple[str, Any, bool]]:
    """The lists with their paths, and whether there is one for each row."""
    if isinstance(node, List):
        path += "[]"
        yield path, node, in_rows
        in_rows = False
    for label, content in labelled(node, path):
        yield from _lists(content, label, in_rows and not isinstance(node, Regular))


def _products_of(lengths: Mapping[str, np.ndarray[Any, Any]]) -> Products:
    """By pairs of paths, the sums of the products of the lengths of lists."""
    if len(lengths) > _MANY:
        return ()
    return tuple(((one, two), number_of_pairs(lengths[one], lengths[two])) for one, two in _pairs(lengths))


def number_of_pairs(one: np.ndarray[Any, Any], two: np.ndarray[Any, Any]) -> int:
    """How many pairs of an element of each there are in lists of these lengths."""
    # not `@`: of floats it wakes the threads of BLAS, which takes longer than all the rest
    return int(np.einsum("i,i->", one.astype(np.int64, copy=False), two.astype(np.int64, copy=False)))


def _pairs(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    return itertools.combinations(sorted(paths), 2)


def rounded(sizes: Envelope, growth: float) -> Envelope:
    """Sizes rounded up to buckets, with room for at least one row and one element that stand for nothing."""

    def up(one: Sizes) -> Sizes:
        return Sizes(
            bucket(one.total + 1, growth, _FEWEST),
            bucket(one.longest, growth, _SHORTEST),
            bucket(one.squares, growth, _FEWEST * _SHORTEST),
            bucket(one.pairs, growth, _FEWEST * _SHORTEST),
            bucket(one.triples, growth, _FEWEST * _SHORTEST**2),
        )

    rows = bucket(sizes.rows + 1, growth, _FEWEST)
    lists = tuple((path, up(one)) for path, one in sizes.lists)
    products = tuple((pair, bucket(most, growth, _FEWEST * _SHORTEST)) for pair, most in sizes.products)
    return Envelope(rows, lists, products, sizes)


def envelope_of(node: Node) -> Envelope:
    """The envelope an array was padded to."""
    found = [(path, lists.offsets.bounds, in_rows) for path, lists, in_rows in _lists(node, "", True)]
    lists = ((path, sizes_in(bounds)) for path, bounds, _ in found)
    known = {path: bounds for path, bounds, in_rows in found if in_rows}
    several = ((pair, known[pair[0]].product(known[pair[1]])) for pair in _pairs(known))
    return Envelope(node.length, _by_path(lists), tuple((pair, most) for pair, most in several if most is not None))


def sizes_in(bounds: Any) -> Sizes:
    """Of what is known of lists, the sizes."""
    return Sizes(*(getattr(bounds, name) for name in ("slots", *Sizes._fields[1:])))


def labelled(node: Node, path: str) -> list[tuple[str, Node]]:
    """What is directly below a node, with its path."""
    if isinstance(node, Record):
        labels = node.fields if node.fields is not None else tuple(map(str, range(len(node.contents))))
        return [
            (f"{path}.{label}" if path else label, content)
            for label, content in zip(labels, node.contents, strict=True)
        ]
    return [(path, content) for content in children(node)]
