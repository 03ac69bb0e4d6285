"""List boundaries that are values of the program: what `akjax.traced` makes of offsets.

Only their bounds are known while tracing. Wherever code asks for the boundaries themselves, as if they were
known, there is an error, so that nothing is answered from what they are not.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any, NamedTuple

import numpy as np

from ..caches import droppable
from ..errors import StructureError
from ..kernels.evenly import empty_with_room
from ..kernels.lists import known_parents
from .static import Static, static


class Bounds(NamedTuple):
    """What is known while tracing of lists whose lengths are not.

    Attributes:
        rows: the number of lists; the last one holds the unused slots and does not exist.
        slots: the number of elements, unused slots included.
        longest: no list is longer.
        squares: the sum of the squared lengths is at most this.
        pairs: no more pairs of elements of a list are there than this.
        triples: no more triples than this.
        name: what these lists are called in the `products` of others of the same rows, if they are there.
        products: by the name of others, no more pairs of an element of each are in a row.
    """

    rows: int
    slots: int
    longest: int
    squares: int
    pairs: int
    triples: int
    name: str = ""
    products: tuple[tuple[str, int], ...] = ()

    def product(self, other: Bounds) -> int | None:
        """No more pairs than this are there of an element of the one and an element of the other, if that is known."""
        if self.name and self == other:
            return self.squares
        known = (dict(one.products).get(two.name) for one, two in ((self, other), (other, self)))
        return next((most for most in known if most is not None), None)


class Boundaries:
    """Where lists begin and end, at run time; in the place of the `Static` offsets of a list.

    Compared by identity: there is one object for the same buffers as long as somebody holds it.

    Attributes:
        offsets: int32 buffer of `rows + 1` numbers, the last one is `slots`.
        parents: int32 buffer, the number of the list each slot is in.
        bounds: what is known while tracing.
    """

    __slots__ = ("__weakref__", "_stand_in", "bounds", "offsets", "parents")

    def __init__(self, offsets: Any, parents: Any, bounds: Bounds) -> None:
        self.offsets = offsets
        self.parents = parents
        self.bounds = bounds
        self._stand_in: Static | None = None

    def __len__(self) -> int:
        return self.bounds.rows + 1

    def __repr__(self) -> str:
        return f"[up to {self.bounds.slots}]"

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """There is none.

        Raises:
            UnknownLengths: always.
        """
        raise UnknownLengths

    @property
    def stand_in(self) -> Static:
        """Offsets of some lists, as many as these and with as many elements: for questions of type.

        They differ from those of all other boundaries in use, so that they can be told apart in a result.
        """
        if self._stand_in is None:
            self._stand_in = _unused(self.bounds)
            _standing[self._stand_in] = self
        return self._stand_in


class UnknownLengths(StructureError):
    """Lengths of lists were asked for that are known at run time only.

    Args:
        what: what was called, as far as it is known where this is raised.
    """

    def __init__(self, what: str = "this function") -> None:
        super().__init__(
            f"{what} is not supported on the lists of akjax.traced, whose lengths are known at run time only: "
            "give the function the array itself (its structure is then known while tracing), or do this step before "
            "akjax.traced"
        )


_interned: weakref.WeakValueDictionary[Any, Boundaries] = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


def boundaries(offsets: Any, parents: Any, bounds: Bounds) -> Boundaries:
    """The one object for these buffers."""
    key = (id(offsets), id(parents), bounds)
    found = _interned.get(key)  # alive, so its buffers are, and their ids are theirs
    if found is None:
        found = _interned[key] = Boundaries(offsets, parents, bounds)
    return found


_standing: weakref.WeakValueDictionary[Static, Boundaries] = weakref.WeakValueDictionary()


def _unused(bounds: Bounds) -> Static:
    """Offsets that stand in for no boundaries in use, as long as there are any."""
    found = static(_distinct(bounds))
    for _ in range(bounds.slots):
        if found not in _standing:
            break
        found = static(_distinct(bounds))
    return found


def _distinct(bounds: Bounds) -> np.ndarray[Any, Any]:
    rows, slots = bounds.rows, bounds.slots
    offsets = np.full(rows + 1, slots, np.int64)
    offsets[0] = 0
    # the first two lists take a share that no other has, where there are others for the rest
    number = next(_numbers)
    first = number % (slots + 1)
    offsets[1:-1] = first
    if rows > 2:
        second = first + (number // (slots + 1)) % (slots + 1 - first)
        offsets[2:] = np.linspace(second, slots, rows - 1).astype(np.int64)
    return offsets


_parents: weakref.WeakKeyDictionary[Static, Static] = droppable(weakref.WeakKeyDictionary())


def parents(offsets: Static | Boundaries) -> Any:
    """The number of the list each element is in: worked out once for each structure on the host, or traced."""
    if isinstance(offsets, Boundaries):
        return offsets.parents
    found = _parents.get(offsets)
    if found is None:
        kind = np.int32 if len(offsets) <= 2**31 else np.int64
        # interned, so that it is one object with the index that broadcasting finds
        numbers = known_parents(offsets.array, empty_with_room(offsets.array[-1], kind))
        found = _parents[offsets] = static(numbers, own=True)
    return found.array


def starts(offsets: Static | Boundaries) -> Any:
    """Where each list begins: static, or traced."""
    return (offsets.offsets if isinstance(offsets, Boundaries) else offsets.array)[:-1]


def stops(offsets: Static | Boundaries) -> Any:
    """Where each list ends: static, or traced."""
    return (offsets.offsets if isinstance(offsets, Boundaries) else offsets.array)[1:]
