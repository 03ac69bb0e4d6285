"""Copies of elements in buffers of a size that threads share evenly.

Where elements are copied by a static index, the buffer gets room up to such a size, filled with the last copy; what is
computed of copies element by element gets it, too, and what reduces them leaves it out. An array holds only the front
of such a buffer. Of the two, a program contains what is used.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import _compat
from ..caches import droppable
from ..kernels._index import facts_of
from ..kernels._reduce import iota
from ..kernels.evenly import even, filled
from ..kernels.segment import Segments

_longer: dict[int, tuple[weakref.ref[Any], Any]] = {}


def longer(buffer: Any) -> Any:
    """The buffer of an even size of which this one is the front, or None."""
    found = _longer.get(id(buffer))
    return None if found is None else found[1]


def whole(buffer: Any) -> Any:
    """The buffer with its room, if it has any."""
    found = longer(buffer)
    return buffer if found is None else found


def uniform(value: Any, size: int) -> Any:
    """A buffer of one number throughout, with room."""
    return front(jnp.broadcast_to(value, even(size)), size)


def taken(function: Callable[[Any], Any], index: Any) -> Any:
    """`function(index)` of a function that copies elements: with room, where the index is static and large.

    Args:
        function: gives a buffer with as many elements as its index.
        index: positions.
    """
    if not isinstance(index, np.ndarray) or even(len(index)) == len(index) or _is_run(index):
        return function(index)
    return front(function(filled(index)), len(index))


def _is_run(index: np.ndarray[Any, Any]) -> bool:
    """Whether an index says one number after the other: a block, of which no copy is made."""
    return bool(index[-1] - index[0] == len(index) - 1) and facts_of(index).run


def evenly(function: Callable[..., Any], values: list[Any]) -> Any:
    """`function(*values)` of an elementwise function: with room, where all buffers among the values have it.

    Args:
        function: of buffers of one length, and of scalars.
        values: its arguments.
    """
    buffers = [value for value in values if np.ndim(value)]
    if not buffers or any(longer(buffer) is None or buffer.shape != buffers[0].shape for buffer in buffers):
        return function(*values)
    found = function(*(longer(value) if np.ndim(value) else value for value in values))
    size = buffers[0].shape[0]
    return tuple(front(one, size) for one in found) if isinstance(found, tuple) else front(found, size)


# by the ids of buffers with room
_fronts: dict[int, weakref.ref[Any]] = {}


def front(found: Any, size: int) -> Any:
    """The front of a buffer with room, which is remembered to have it: one object as long as somebody has it."""
    if found.shape[0] == size:
        return found
    if not _compat.is_tracer(found) or found.ndim != 1:
        return found[:size]
    there = _fronts.get(id(found), lambda: None)()
    if there is not None and longer(there) is found and there.shape == (size,):
        return there
    cut = lax.slice_in_dim(found, 0, size)
    at, behind, forget, forget_front = id(cut), id(found), _longer.pop, _fronts.pop

    def gone(_: Any) -> None:
        forget(at, None)
        forget_front(behind, None)

    _longer[at] = weakref.ref(cut, gone), found
    _fronts[behind] = weakref.ref(cut)
    return cut


_segments: weakref.WeakKeyDictionary[Segments, Segments] = droppable(weakref.WeakKeyDictionary())


def evened(several: list[Any], segments: Segments, live: Any, repeatable: bool) -> tuple[list[Any], Segments, Any]:
    """Numbers to reduce, their segments and the mask of those that are there: with room, where all have it.

    Args:
        several: the numbers of each array.
        segments: which of them are reduced to one.
        live: the mask, or None.
        repeatable: whether it makes no difference that the last number is there several times.
    """
    given = several if live is None else [*several, live]
    if not isinstance(segments.parents, np.ndarray) or any(longer(one) is None for one in given):
        return several, segments, live
    if segments.regular_size is not None:  # these are rows of a matrix, which takes no index
        return several, segments, live
    wide = _segments.get(segments)
    if wide is None:
        wide = _segments[segments] = Segments(filled(segments.parents), segments.length, segments.sorted)
    there = None if live is None else longer(live)
    if not repeatable:
        inside = iota(wide.size) < segments.size
        there = inside if there is None else there & inside
    return list(map(longer, several)), wide, there
