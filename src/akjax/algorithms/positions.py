"""Where every number of an array stands: its list positions, as static arrays.

A reducer over any axis needs to know which output each element goes to. Both the input and Awkward's own
result are walked to their numbers; an element goes where all positions but the reduced one agree.
"""

from __future__ import annotations

import dataclasses
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

    `masks` are run-time masks (dead or missing elements above the numbers) with, for each number, the
    element of the mask it is below, and whether it is about existence.
    """

    of: list[np.ndarray[Any, Any]]
    rows: np.ndarray[Any, Any]
    flat: Flat | None
    masks: list[tuple[Any, np.ndarray[Any, Any], bool]]

    def data(self) -> Any:
        """The numbers themselves, one axis."""
        assert self.flat is not None
        data = self.flat.data
        return take(data if data.ndim == 1 else data.reshape(-1), self.rows)

    def dead(self, existence_only: bool = False) -> Any:
        """Which numbers do not exist or are missing, as floats; None when all are there."""
        found = None
        for mask, at, existence in self.masks:
            if existence_only and not existence:
                continue
            here = take(mask, at)
            found = here if found is None else jnp.maximum(found, here)
        return found


def positions(node: Node) -> Positions:
    """Walk an array without records and unions down to its numbers."""
    rows = arange(node.length)
    return _walk(node, [rows], rows, [])


def _walk(node: Node, of: list[Any], rows: Any, masks: list[Any]) -> Positions:
    match node:
        case Flat():
            for size in np.shape(node.data)[1:]:
                of, rows, masks = _expand(of, rows * size, np.full(len(rows), size), masks)
            return Positions(of, rows, node, masks)
        case Empty():
            return Positions(of, rows, None, masks)
        case List():
            offsets = node.offsets.array
            of, rows, masks = _expand(of, offsets[rows], offsets[rows + 1] - offsets[rows], masks)
        case Regular():
            of, rows, masks = _expand(of, rows * node.size, np.full(len(rows), node.size), masks)
        case Indexed():
            rows = node.index.array[rows]
        case Option():
            found = node.index.array[rows]
            there = found >= 0
            rows = found[there]
            of = [position[there] for position in of]
            masks = [(mask, at[there], existence) for mask, at, existence in masks]
        case Live():
            masks = [*masks, (node.dead, rows, True)]
        case Masked():
            masks = [*masks, (node.null, rows, False)]
        case Record() | Row() | Union():
            message = "records and unions have no single buffer of numbers: reduce their fields"
            raise StructureError(message)
        case _:
            message = "text and dates cannot be reduced inside a transformation: they are part of the structure"
            raise TypeError(message)
    return _walk(node.content, of, rows, masks)


def _expand(of: list[Any], starts: Any, counts: Any, masks: list[Any]) -> tuple[list[Any], Any, list[Any]]:
    below = ranges(starts, counts)
    of = [np.repeat(position, counts) for position in of]
    of.append(below - np.repeat(starts, counts))
    return of, below, [(mask, np.repeat(at, counts), existence) for mask, at, existence in masks]


def match(inside: list[np.ndarray[Any, Any]], outside: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """For each element of `inside`, the number of the element of `outside` with the same positions."""
    if not inside:
        return np.zeros(0, dtype=np.int32)
    sizes = [int(max(a.max(initial=-1), b.max(initial=-1))) + 1 for a, b in zip(inside, outside, strict=True)]
    if np.prod([float(size) for size in sizes]) >= 2.0**62:
        raise StructureError("this array is too large to be reduced over this axis")
    key, keys = _ravel(inside, sizes), _ravel(outside, sizes)
    found = np.searchsorted(keys, key)
    if len(key) and not (len(keys) and np.array_equal(keys[np.minimum(found, len(keys) - 1)], key)):
        raise AssertionError("an element has no place in the reduced array")
    return found.astype(np.int32 if len(keys) < 2**31 else np.int64)


def _ravel(positions: list[np.ndarray[Any, Any]], sizes: list[int]) -> np.ndarray[Any, Any]:
    key = np.zeros(len(positions[0]), dtype=np.int64)
    for position, size in zip(positions, sizes, strict=True):
        key = key * max(size, 1) + position
    return key
