"""Where every number of an array stands: its list positions, as static arrays.

A reducer over any axis needs to know which output each element goes to. Both the input and Awkward's own
result are walked to their numbers; an element goes where all positions but the reduced one agree.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.kinds import Empty, Flat, Indexed, List, Live, Masked, Node, Option, Record, Regular, Row, Union
from ..nodes.moving import ranges
from ..nodes.static import arange


@dataclasses.dataclass
class Positions:
    """The numbers of an array in order: `of[d]` are their positions at depth d, `rows` where in the buffer.

    `numbers` are their positions in the array flattened with its missing values, which has `size` elements. `masks`
    are run-time masks (dead or missing elements above the numbers) with, for each number, the element of the mask it
    is below; `existence` those that say that something does not exist, with that element for each of `size`.
    """

    of: list[np.ndarray[Any, Any]]
    rows: np.ndarray[Any, Any]
    numbers: np.ndarray[Any, Any]
    size: int
    flat: Flat | None = None
    masks: list[tuple[Any, np.ndarray[Any, Any]]] = dataclasses.field(default_factory=list)
    existence: list[tuple[Any, np.ndarray[Any, Any]]] = dataclasses.field(default_factory=list)

    def data(self) -> Any:
        """The numbers themselves, one axis."""
        assert self.flat is not None
        data = self.flat.data
        return self._take(data if data.ndim == 1 else data.reshape(-1), self.rows)

    def dead(self) -> Any:
        """Which numbers do not exist or are missing, as floats; None when all are there."""
        return self._any(self.masks)

    def nonexistent(self) -> Any:
        """Which of the `size` elements do not exist, as floats; None when all exist."""
        return self._any(self.existence)

    def _any(self, masks: list[tuple[Any, np.ndarray[Any, Any]]]) -> Any:
        found = [self._take(mask, at) for mask, at in masks]
        return functools.reduce(jnp.maximum, found) if found else None

    def _take(self, buffer: Any, at: np.ndarray[Any, Any]) -> Any:
        # the rows nobody has touched are all rows in order: no need to look at a million numbers to see that
        return buffer if at is self.of[0] else take(buffer, at)

    def expand(self, starts: Any, counts: Any) -> Positions:
        """One list level deeper."""
        below = ranges(starts, counts)
        of = [np.repeat(position, counts) for position in self.of]
        of.append(below - np.repeat(starts, counts))
        masks = [(mask, np.repeat(at, counts)) for mask, at in self.masks]
        # what is in a missing list does not exist either
        return Positions(of, below, arange(len(below)), len(below), masks=masks, existence=masks)

    def keep(self, there: Any) -> Positions:
        """Without the missing values."""
        of = [position[there] for position in self.of]
        masks = [(mask, at[there]) for mask, at in self.masks]
        return Positions(of, self.rows[there], self.numbers[there], self.size, masks=masks, existence=self.existence)

    def selected(self, dead: Any) -> Positions:
        """With a mask of what does not exist."""
        at = self.rows
        if len(at) < self.size:
            dead = jnp.append(dead, jnp.float32(0))  # missing values exist
            at = np.full(self.size, dead.size - 1)
            at[self.numbers] = self.rows
        masks = [*self.masks, (dead, self.rows)]
        return dataclasses.replace(self, masks=masks, existence=[*self.existence, (dead, at)])


def positions(node: Node) -> Positions:
    """Walk an array without records and unions down to its numbers."""
    rows = arange(node.length)
    return _walk(node, Positions([rows], rows, rows, len(rows)))


def _walk(node: Node, here: Positions) -> Positions:
    rows = here.rows
    match node:
        case Flat():
            for size in node.shape[1:]:
                here = here.expand(here.rows * size, np.full(len(here.rows), size))
            return dataclasses.replace(here, flat=node)
        case Empty():
            return here
        case List():
            offsets = node.offsets.array
            here = here.expand(offsets[rows], offsets[rows + 1] - offsets[rows])
        case Regular():
            here = here.expand(rows * node.size, np.full(len(rows), node.size))
        case Indexed():
            here = dataclasses.replace(here, rows=node.index.array[rows])
        case Option():
            found = node.index.array[rows]
            here = dataclasses.replace(here.keep(found >= 0), rows=found[found >= 0])
        case Live():
            here = here.selected(node.dead)
        case Masked():
            here = dataclasses.replace(here, masks=[*here.masks, (node.null, rows)])
        case Record() | Row() | Union():
            message = "records and unions have no single buffer of numbers: take their fields"
            raise StructureError(message)
        case _:
            message = "text and dates cannot be reduced inside a transformation: they are part of the structure"
            raise TypeError(message)
    return _walk(node.content, here)


def match(inside: list[np.ndarray[Any, Any]], outside: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """For each element of `inside`, the number of the element of `outside` with the same positions."""
    if not inside:
        return np.zeros(0, dtype=np.int32)
    sizes = [int(max(a.max(initial=-1), b.max(initial=-1))) + 1 for a, b in zip(inside, outside, strict=True)]
    if np.prod([float(size) for size in sizes]) >= 2.0**62:
        message = "this array is too large to be reduced over this axis"
        raise StructureError(message)
    key, keys = _ravel(inside, sizes), _ravel(outside, sizes)
    found: np.ndarray[Any, Any] = _search(keys, key, int(np.prod(sizes, dtype=np.int64)))
    if len(key) and not (len(keys) and np.array_equal(keys[np.minimum(found, len(keys) - 1)], key)):
        message = "an element has no place in the reduced array"
        raise AssertionError(message)
    return found.astype(np.int32 if len(keys) < 2**31 else np.int64)


def _search(keys: Any, key: Any, size: int) -> Any:
    """Where in the sorted `keys` each key is; both are below `size`."""
    if size > 4 * (len(keys) + len(key)):
        return np.searchsorted(keys, key)
    # a table is several times faster than a search
    table = np.zeros(size, dtype=np.int64)
    table[keys] = arange(len(keys))
    return table[key]


def _ravel(positions: list[np.ndarray[Any, Any]], sizes: list[int]) -> np.ndarray[Any, Any]:
    key = np.zeros(len(positions[0]), dtype=np.int64)
    for position, size in zip(positions, sizes, strict=True):
        key = key * max(size, 1) + position
    return key
