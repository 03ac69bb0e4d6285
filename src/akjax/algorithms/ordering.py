"""Sorting within lists of which elements exist, or are missing, only at run time."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..kernels.segment import Segments
from ..kernels.sort import segment_argsort
from ..nodes.boundaries import Boundaries, parents, starts
from ..nodes.kinds import Flat, List, Live, Masked, Node, replace
from ..nodes.moving import project
from .elementwise import values_of
from .numbering import note
from .promises import promise
from .ranks import Ranks, positions_in, ranked, split_live
from .runtime import dead_of, either, masked
from .ufuncs import canonical


def in_order(lists: List, descending: bool, positions: bool) -> Node:
    """The elements of each list in order, or their positions: missing ones last, behind them what does not exist.

    Args:
        lists: lists of numbers.
        descending: whether the largest comes first.
        positions: whether the positions are wanted, not the numbers.
    """
    dead, content = split_live(lists.content)
    content = masked(content)
    null = content.null if isinstance(content, Masked) else None
    flat = project(content.content if isinstance(content, Masked) else content)
    if not isinstance(flat, Flat) or np.ndim(flat.data) != 1:
        message = "only lists of numbers are sorted: take a field"
        raise StructureError(message)
    inside, nth = parents(lists.offsets), positions_in(lists.offsets)
    data = jnp.asarray(values_of(flat))
    left_out = either(dead, null)
    if left_out is None:
        slots = segment_argsort(data, segments_of(lists), descending=descending)
    else:
        order = _others_last(lists, dead, null)
        sortable = nth < take(Ranks(lists, left_out).counts, inside)
        slots = take(
            order, segment_argsort(take(data, order), segments_of(lists), descending=descending, live=sortable)
        )
    if positions:
        ranks = jnp.asarray(ranked(lists, dead).ranks)
        found: Node = Flat(promise(take(ranks, slots).astype(canonical(np.int64)), lists, dead))
    else:
        found = replace(flat, data=take(data, slots), rank=-1)
        found = found if null is None else Masked(dead_of(sortable), found)
    if dead is not None:
        behind = nth < take(Ranks(lists, dead).counts, inside)
        found = Live(note(("packed", lists.offsets), (dead,), dead_of(behind)), found)
    return replace(lists, content=found)  # type: ignore[no-any-return]


def _others_last(lists: List, dead: Any, null: Any) -> Any:
    """The slots of each list in their order: values, then missing ones, then what does not exist."""
    if dead is None or null is None:
        return Ranks(lists, either(dead, null)).order()
    first = Ranks(lists, dead).order()
    return take(first, Ranks(lists, take(either(dead, null), first)).order())


def segments_of(lists: List) -> Segments:
    """The list of each element, with what is known of traced lists."""
    if not isinstance(lists.offsets, Boundaries):
        return Segments(parents(lists.offsets), lists.length)
    return Segments(
        lists.offsets.parents, lists.length, bound=lists.offsets.bounds.longest, starts=starts(lists.offsets)
    )
