"""What the host knows of a static index, worked out once for each that nobody can change."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np

from akjax.caches import droppable

__all__ = ["Facts", "facts_of"]


class Facts(NamedTuple):
    """What the compiler may know about an index, and the index in the shape and type it takes."""

    column: np.ndarray
    least: int
    most: int
    run: bool
    rising: bool
    distinct: bool


class _Known(NamedTuple):
    """The facts of an index that is alive; its column is a view of it and would keep it alive."""

    of: weakref.ref[np.ndarray]
    column: weakref.ref[np.ndarray]
    least: int
    most: int
    run: bool
    rising: bool
    distinct: bool


_known: dict[int, _Known] = droppable({})


def facts_of(index: np.ndarray) -> Facts:
    """The facts of an index that is not empty.

    Of a read-only index the column is the same object as long as somebody has it, so that a program holds it once,
    for all gathers and scatters.

    Args:
        index: integers, shape ``(n,)``.

    Example:
        >>> facts_of(np.array([0, 2, 2])).rising
        True
    """
    found = _known.get(id(index))
    if found is not None and found.of() is index:
        column = found.column()
        if column is None:
            column = _column(index, found.most)
            _known[id(index)] = found._replace(column=weakref.ref(column))
        return Facts(column, *found[2:])
    shortest, longest = _steps(index)
    rising = shortest >= 0
    least, most = (int(index[0]), int(index[-1])) if rising else (int(index.min()), int(index.max()))
    facts = Facts(_column(index, most), least, most, shortest == longest == 1, rising, shortest > 0)
    if not index.flags.writeable:
        key = id(index)
        forget = _known.pop  # at the end of the interpreter the module's names are gone first
        gone = weakref.ref(index, lambda _: forget(key, None))
        _known[key] = _Known(gone, weakref.ref(facts.column), *facts[1:])
    return facts


def _steps(index: np.ndarray) -> tuple[int, int]:
    """The least and the largest difference of neighbours; of an index that falls, as far as that is seen."""
    steps = []
    # in pieces: many a large index falls near the start, and differences of all take memory
    for start in range(0, len(index) - 1, _PIECE):
        piece = np.diff(index[start : start + _PIECE + 1])
        steps.append((int(piece.min()), int(piece.max())))
        if steps[-1][0] < 0:
            break
    return (min(step[0] for step in steps), max(step[1] for step in steps)) if steps else (1, 1)


_PIECE = 1 << 14


def _column(index: np.ndarray, most: int) -> np.ndarray:
    small = most <= np.iinfo(np.int32).max
    return (index.astype(np.int32, copy=False) if small else index)[:, np.newaxis]
