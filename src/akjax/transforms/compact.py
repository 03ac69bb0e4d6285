"""`akjax.compact`: a smaller array after a selection by traced values."""

from __future__ import annotations

import operator
from typing import Any

import awkward as ak

from ..algorithms import compacting
from ..algorithms.runtime import depth_of
from ..errors import StructureError
from ..highlevel.protocols import noted
from ..highlevel.state import is_traced, node_of, wrap


def compact(array: Any, *, capacity: int, axis: int | None = None) -> Any:
    """Let what is left after a selection by traced values take less room.

    A selection only marks what exists: all that follows is computed for the elements that do not exist as well. After
    a selection that keeps little, this moves what is left together, into `capacity` slots. The values are those of
    the array; outside a transformation it is returned as it is, once its sizes were checked if an axis is given.

    Rows that hold lists get lists with room for the longest one; where that is much more room than the longest
    lists need together, lists of run-time length, as `akjax.traced` makes them. If there may be more elements than
    the capacity, use `akjax.checked`, which raises then. Without it no wrong number comes out: all floating numbers
    of what was compacted are NaN, and all others, whose type therefore becomes an option, are missing (for axis 1
    or more, in the lists that have too many). How many there are is then the capacity.

    Args:
        array: an `ak.Array`.
        capacity: the largest number of rows (axis 0), or of elements in each list (axis 1 or more).
        axis: the level; None is the outermost one from which something was selected (of arrays made by
            `akjax.traced`, whose unused rows do not exist either, the rows).

    Returns:
        An array of the same values: as it was, if it would not become smaller.

    Raises:
        ValueError: more elements than the capacity where that is known, and inside `akjax.checked`.
        StructureError: text or unions would have to move.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> @jax.jit
        ... def pairs(x):
        ...     few = akjax.compact(x[ak.sum(x, axis=1) > 5.0], capacity=2)
        ...     return ak.combinations(few, 2)
        >>> pairs(ak.Array([[1.0], [2.0, 4.0], [], [0.5], [6.0, 7.0]])).to_list()
        [[(2.0, 4.0)], [(6.0, 7.0)]]
    """
    limit = operator.index(capacity)
    if limit < 0:
        message = f"capacity must not be negative: {capacity}"
        raise ValueError(message)
    if not isinstance(array, ak.Array):
        message = f"akjax.compact takes an ak.Array, not {type(array).__name__}"
        raise TypeError(message)
    if not is_traced(array):
        if axis is not None:
            compacting.refuse_excess(compacting.longest(node_of(array), _positive(axis, node_of(array))), limit)
        return array
    node = node_of(array)
    where = compacting.live_axis(node) if axis is None else _positive(axis, node)
    if where is None:
        return array
    result = wrap(compacting.compact(node, limit, where), array.behavior, array.attrs)
    return noted(compact, (array,), {"capacity": limit, "axis": where}, result)


def _positive(axis: int, node: Any) -> int:
    depth = depth_of(node)
    found = axis if axis >= 0 else axis + depth + 1
    if not 0 <= found <= depth:
        message = f"axis={axis} exceeds the depth of this array ({depth + 1})"
        raise StructureError(message)
    return found
