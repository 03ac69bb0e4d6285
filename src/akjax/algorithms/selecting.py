"""Selection by a traced condition: the envelope stays, a live mask says what exists."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..nodes.kinds import Flat, List, Live, Masked, Node, Record, Regular, replace
from ..nodes.moving import project
from ..nodes.static import static
from ..nodes.walk import has_run_time_structure
from ..structure.spec import split_leaves
from .aligning import line_up
from .numbering import note, same
from .runtime import (
    NOT_ALIGNED,
    RunTime,
    alive,
    as_list,
    as_regular,
    at_run_time,
    dead_of,
    depth_of,
    either,
    hide,
    masked,
    strip,
)


@dataclasses.dataclass
class Condition:
    """Booleans in lists, read once, so that what one condition selects twice is known to be the same.

    `lists` is their envelope, `found` what may be dead or missing in it, and `refused` the float mask of the
    elements for which the condition does not hold.
    """

    lists: Node
    found: RunTime
    refused: Any


def read(condition: Node) -> Condition:
    """Make a condition of an array of booleans; what it leaves open (None) it does not refuse."""
    leaves, structure = split_leaves(condition, None, None)
    envelope, found = strip(at_run_time(condition))
    values, depth = envelope, 0
    while not (isinstance(values, Flat) and np.ndim(values.data) == 1):
        lists = as_list(values)
        if not isinstance(lists, List):
            message = (
                "a traced condition is a boolean array, or lists of them: take the field to select by from "
                "a record or union"
            )
            raise StructureError(message)
        values, depth = lists.content, depth + 1
    refused = dead_of(note(("condition", structure), leaves, values.data))
    null = found.null.get(depth)
    if null is not None:
        known = static(null) if isinstance(null, np.ndarray) else null
        refused = note("refused", (refused, known), jnp.where(alive(null), refused, jnp.float32(0)))
    return Condition(envelope, found, refused)


def fitted(node: Node, condition: Node, selects: bool = False) -> tuple[Node, Node]:
    """An array and a condition that speaks of its elements, in the same slots.

    Args:
        node: the array.
        condition: booleans in lists.
        selects: whether rows are selected by it, which a condition of another number of rows can do.
    """
    if not (has_run_time_structure(node) or has_run_time_structure(condition)):
        return node, condition
    if selects and isinstance(condition, Flat):
        condition = _for_all_rows(condition, node)
    array, fitting = line_up([node, condition], depth_of(condition) + 1, judged=1, error=(IndexError, UNFIT))
    return array, fitting


def _for_all_rows(condition: Flat, node: Node) -> Node:
    """A condition for the first of some rows, or for more: Awkward selects those for which it says so.

    It is one for more rows than there are only where it selects one that is not there.
    """
    missing = max(node.length - condition.length, 0)
    if missing:
        given = condition.data
        known = static(given) if isinstance(given, np.ndarray) else given
        values = note(("pad", missing), (known,), jnp.pad(jnp.asarray(given), (0, missing)))
        condition = replace(condition, data=values)
    if not isinstance(node, Live):
        return condition
    values = jnp.asarray(condition.data)
    numbers = np.arange(len(values), dtype=np.int32)
    asked = jnp.max(jnp.where(values, numbers + 1, 0), initial=0)
    count = jnp.maximum(jnp.sum(alive(node.dead), dtype=np.int32), asked)
    known = static(condition.data) if isinstance(condition.data, np.ndarray) else condition.data
    return Live(note("for all rows", (node.dead, known), dead_of(numbers < count)), condition)


def select(node: Node, condition: Condition) -> Node:
    """The elements for which a condition holds: the same envelope with one more live mask.

    Where the condition is missing, so is the element, as in Awkward.
    """
    return _Selection(condition).rows(node, condition.lists)


def mask(node: Node, condition: Condition) -> Node:
    """The array with missing values where a condition does not hold, at the depth of the condition."""
    return _Masking(condition).rows(node, condition.lists)


_ONE_EACH = (
    "a condition with one value for each list of an array after a selection by traced values: take the values out of "
    "their lists, as in condition[:, 0], or leave keepdims out"
)

UNFIT = "cannot fit a condition to an array: they have different numbers of elements at run time"


class _Selection:
    """A walk of an array and a condition side by side, down to the condition's values."""

    lists_of = staticmethod(as_list)  # a dimension of one size becomes one of many

    def __init__(self, condition: Condition) -> None:
        self._refused = condition.refused
        self._dead = condition.found.dead
        self._null = condition.found.null

    def at_values(self, content: Node, dead: Any, null: Any) -> Node:
        """The elements that the condition's values speak of."""
        return Live(either(dead, self._refused), content if null is None else hide(content, null))

    def rows(self, node: Node, lists: Node, depth: int = 0) -> Node:
        """The elements of one axis."""
        node, lists = project(node), project(lists)
        dead = node.dead if isinstance(node, Live) else None
        if not same(dead, self._dead.get(depth)):
            raise StructureError(NOT_ALIGNED)
        content = node.content if isinstance(node, Live) else node
        if content.length != lists.length:
            message = f"cannot fit a condition of length {lists.length} to an array of length {content.length}"
            raise ValueError(message)
        null = self._null.get(depth)
        if isinstance(lists, Flat) and np.ndim(lists.data) == 1:
            return self.at_values(content, dead, null)
        below = self.below(content, lists, depth)
        below = below if null is None else hide(below, null)
        return below if dead is None else Live(dead, below)

    def below(self, node: Node, lists: Node, depth: int) -> Node:
        """What the elements of one axis contain."""
        node = masked(node)
        match node:
            case Masked():
                return hide(self.below(node.content, lists, depth), node.null, node.parameters)
            case Record():
                contents = tuple(self.below(content, lists, depth) for content in node.contents)
                return replace(node, contents=contents)  # type: ignore[no-any-return]
        inner: Any = self.lists_of(node)
        if not isinstance(inner, List | Regular):
            message = (
                "the condition has more levels of lists than the array: reduce it first, as in "
                "ak.any(condition, axis=1)"
            )
            raise StructureError(message)
        ours, theirs = as_list(inner), as_list(lists)
        single = as_regular(lists)
        if isinstance(single, Regular) and single.size == 1 and as_regular(inner) is not single:
            width = inner.size if isinstance(inner, Regular) else None
            if width != 1:
                raise StructureError(_ONE_EACH)
        if not isinstance(ours, List) or not isinstance(theirs, List) or ours.offsets is not theirs.offsets:
            message = "cannot fit the lists of the condition to the lists of the array: their lengths differ"
            raise IndexError(message)
        return replace(inner, content=self.rows(inner.content, theirs.content, depth + 1))  # type: ignore[no-any-return]


class _Masking(_Selection):
    """The same walk, which hides elements instead."""

    lists_of = staticmethod(as_regular)

    def at_values(self, content: Node, dead: Any, null: Any) -> Node:
        hidden = hide(content, either(self._refused, null))
        return hidden if dead is None else Live(dead, hidden)
