"""Integers that are known to be positions in certain lists: an index made of them needs no bounds.

`ak.argsort(x)` gives positions in the lists of `x`. The promise is remembered for the buffer itself, so it
holds for whatever array the buffer is in.
"""

from __future__ import annotations

import weakref
from typing import Any

import jax

from ..nodes.kinds import List
from .numbering import number_of

_promised: dict[int, tuple[weakref.ref[Any], Any]] = {}


def promise(buffer: Any, lists: List, dead: Any) -> Any:
    """Note that integers are positions among what exists in lists; returns them."""
    if isinstance(buffer, jax.Array):
        at = id(buffer)
        key = (lists.offsets, None if dead is None else number_of(dead))
        _promised[at] = weakref.ref(buffer, lambda _: _promised.pop(at, None)), key
    return buffer


def is_promised(buffer: Any, lists: List, dead: Any) -> bool:
    """Whether integers are known to be positions in lists, of what exists there."""
    found = _promised.get(id(buffer))
    return found is not None and found[1] == (lists.offsets, None if dead is None else number_of(dead))
