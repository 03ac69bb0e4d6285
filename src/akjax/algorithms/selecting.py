"""Selection by a traced condition: the envelope stays, a live mask says what exists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ..errors import StructureError
from ..nodes.kinds import Flat, List, Live, Masked, Node, Record, Regular, replace
from ..nodes.moving import project
from .runtime import NOT_ALIGNED, RunTime, alive, as_list, dead_of, strip


Wrap = Callable[[Node, Any, Any], Node]  # elements, their float mask, the condition's own dead mask → elements


def select(node: Node, condition: Node, dead: Any) -> Node:
    """The elements of `node` for which a condition holds.

    Args:
        node: the array.
        condition: booleans with the lists of `node` down to some depth.
        dead: the float mask made of the condition's values (see `mask_of`).

    Returns:
        The same envelope with one more live mask.
    """
    envelope, found = strip(condition)
    return _select(node, envelope, found, dead, 0, _add)


def mask(node: Node, condition: Node, null: Any) -> Node:
    """The array with missing values where a condition does not hold, at the depth of the condition."""
    envelope, found = strip(condition)
    return _select(node, envelope, found, null, 0, _hide)


def mask_of(condition: Node) -> Any:
    """The float mask of a condition: 1 where it does not hold; made once, so that equal masks are one object."""
    envelope, _ = strip(condition)
    while not isinstance(envelope, Flat):
        envelope = project(envelope)
        if isinstance(envelope, List | Regular):
            envelope = envelope.content
        elif not isinstance(envelope, Flat):
            message = (
                "a traced condition with missing values cannot select yet: fill them first, "
                "as in array[ak.fill_none(condition, False)]"
            )
            raise StructureError(message)
    return dead_of(envelope.data.reshape(-1))


def _select(node: Node, condition: Node, found: RunTime, dead: Any, depth: int, wrap: Wrap) -> Node:
    """Walk both to the depth of the condition's values."""
    condition = project(condition)
    if isinstance(condition, Flat) and condition.data.ndim == 1:
        return wrap(node, dead, found.dead.get(depth))
    below_condition: Any = as_list(condition)
    live = node if isinstance(node, Live) else None
    content = project(node.content if live is not None else node)
    if (live.dead if live is not None else None) is not found.dead.get(depth):
        raise StructureError(NOT_ALIGNED)
    if isinstance(content, Record):
        contents = tuple(_select(field, condition, _without(found, depth), dead, depth, wrap) for field in content.contents)
        inner: Node = replace(content, contents=contents)
    else:
        ragged = as_list(content)
        if not isinstance(ragged, List) or not isinstance(below_condition, List):
            message = "a traced condition cannot select below missing values or unions yet"
            raise StructureError(message)
        if ragged.offsets is not below_condition.offsets:
            message = "cannot fit the lists of the condition to the lists of the array: their lengths differ"
            raise ValueError(message)
        inner = replace(ragged, content=_select(ragged.content, below_condition.content, found, dead, depth + 1, wrap))
    return inner if live is None else Live(live.dead, inner)


def _without(found: RunTime, depth: int) -> RunTime:
    dead = {d: mask for d, mask in found.dead.items() if d != depth}
    return RunTime(dead, found.null, found.depth)


def _add(node: Node, dead: Any, condition_dead: Any) -> Node:
    """One more mask on the elements of a node."""
    if isinstance(node, Live):
        if condition_dead is not node.dead:
            raise StructureError(NOT_ALIGNED)
        return Live(jnp.where(alive(node.dead) & alive(dead), jnp.float32(0), jnp.float32(1)), node.content)
    if condition_dead is not None:
        raise StructureError(NOT_ALIGNED)
    return Live(dead, node)


def _hide(node: Node, null: Any, condition_dead: Any) -> Node:
    """Missing values on the elements of a node, in addition to those it has."""
    if isinstance(node, Live):
        if condition_dead is not node.dead:
            raise StructureError(NOT_ALIGNED)
        return Live(node.dead, _hide(node.content, null, None))
    if condition_dead is not None:
        raise StructureError(NOT_ALIGNED)
    if isinstance(node, Masked):
        return Masked(jnp.maximum(node.null, null), node.content, node.parameters)
    return Masked(null, node)
