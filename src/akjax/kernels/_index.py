"""What the host knows of a static index, worked out once for each that nobody can change."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np

__all__ = ["Facts", "facts_of"]


class Facts(NamedTuple):
    """What the compiler may know about an index, and the index in the shape and type it takes."""

    column: np.ndarray
    run: bool
    rising: bool
    distinct: bool


_known: dict[int, tuple[weakref.ref[np.ndarray], Facts]] = {}


def facts_of(index: np.ndarray) -> Facts:
    """The facts of an index that is not empty.

    Of a read-only index they are the same object each time, so that a program holds the column once, for
    all gathers and scatters.

    Args:
        index: integers, shape ``(n,)``.

    Example:
        >>> facts_of(np.array([0, 2, 2])).rising
        True
    """
    found = _known.get(id(index))
    if found is not None and found[0]() is index:
        return found[1]
    steps = np.diff(index)
    rising = bool((steps >= 0).all())
    small = int(index.max()) <= np.iinfo(np.int32).max
    column = (index.astype(np.int32, copy=False) if small else index)[:, np.newaxis]
    facts = Facts(column, bool((steps == 1).all()), rising, rising and bool((steps > 0).all()))
    if not index.flags.writeable:
        key = id(index)
        forget = _known.pop  # at the end of the interpreter the module's names are gone first
        _known[key] = (weakref.ref(index, lambda _: forget(key, None)), facts)
    return facts
