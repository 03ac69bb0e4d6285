"""Integers that are known to be positions in certain lists: an index made of them needs no bounds.

`ak.argsort(x)` gives positions in the lists of `x`. The promise is remembered for the buffer itself, so it
holds for whatever array the buffer is in. Of one position a list, as `ak.argmin` gives, the slot of the element is
remembered, too.
"""

from __future__ import annotations

import weakref
from typing import Any

import jax

from ..nodes.kinds import List
from .numbering import number_of

_promised: dict[int, tuple[weakref.ref[Any], Any, Any]] = {}


def promise(buffer: Any, lists: List, dead: Any, slots: Any = None) -> Any:
    """Note that integers are positions among what exists in lists; returns them.

    Args:
        buffer: the integers; negative ones stand for nothing, and are hidden by a mask.
        lists: the lists.
        dead: the mask of their elements that do not exist, or None.
        slots: of one integer for each list, the slots of the elements.
    """
    if isinstance(buffer, jax.Array):
        at = id(buffer)
        _promised[at] = weakref.ref(buffer, lambda _: _promised.pop(at, None)), _key(lists, dead), slots
    return buffer


def is_promised(buffer: Any, lists: List, dead: Any) -> bool:
    """Whether integers are known to be positions in lists, of what exists there."""
    found = _promised.get(id(buffer))
    return found is not None and found[1] == _key(lists, dead)


def slots_of_each(buffer: Any, lists: List, dead: Any) -> Any:
    """The slots of elements, when integers are known to be one position in each of the lists; or None."""
    return _promised[id(buffer)][2] if is_promised(buffer, lists, dead) else None


def _key(lists: List, dead: Any) -> Any:
    return lists.offsets, None if dead is None else number_of(dead)
