"""`akjax.like`: a tangent or gradient with the structure of the array that it belongs to."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from .. import _compat
from ..algorithms.runtime import alive, dead_below
from ..algorithms.standing import has_traced_lists
from ..errors import StructureError
from ..highlevel.state import flat_state, node_of, restore, wrap
from ..nodes.kinds import (
    Empty,
    Flat,
    Indexed,
    Jagged,
    List,
    Live,
    Masked,
    Node,
    Option,
    Record,
    Regular,
    Union,
    replace,
)
from ..nodes.walk import children, iterate, rebuild
from ..structure.absent import fill_absent, is_absent
from ..structure.spec import Spec


def like(tangent: Any, primal: Any) -> Any:
    """Give a tangent the run-time structure of its primal: which elements exist, and which are missing.

    Inside a transformation a tangent, a cotangent and a gradient have a number for every slot, with zeros where there
    is nothing; a gradient with respect to an array has one for every element, also those that a selection removed.

    What a derivative rule of your own returns needs it too, as in the example: the rule computes with every slot, and
    those that do not exist must be zero in the result.

    Args:
        tangent: an array of the structure of the primal, or of the primal before a selection by traced values.
        primal: the array whose selection to apply.

    Returns:
        The numbers of the tangent where the primal has elements, and zeros in the slots where it has none.

    Raises:
        StructureError: the lists of the two are different.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> @jax.jit
        ... def slopes(x):
        ...     good = x[x > 1.0]
        ...     gradient = jax.grad(lambda x: ak.sum(x[x > 1.0] ** 2))(x)
        ...     return akjax.like(gradient, good)
        >>> slopes(ak.Array([[0.5, 2.0], [], [3.0]])).to_list()
        [[4.0], [], [6.0]]
        >>> @jax.custom_vjp
        ... def cube(x):
        ...     return x**3
        >>> def backward(x, cotangent):
        ...     return (akjax.like(3 * x**2 * akjax.like(cotangent, x), x),)
        >>> cube.defvjp(lambda x: (cube(x), x), backward)
        >>> jax.jit(jax.grad(lambda x: ak.sum(cube(x[x > 1.0]))))(ak.Array([[0.5, 2.0], [], [3.0]])).to_list()
        [[0.0, 12.0], [], [27.0]]
    """
    ours, theirs = flat_state(tangent), flat_state(primal)
    if ours.spec == theirs.spec:
        leaves = _with_structure(ours, theirs)
        return restore(type(tangent), ours.spec, _zero_where_dead(ours.spec, leaves))
    numbers = ours.spec.build(list(ours.leaves)) if ours.lacks_lists() else ours.node
    found = wrap(_under(numbers, node_of(primal)), tangent.behavior, tangent.attrs)
    state = flat_state(found)
    return restore(type(found), state.spec, _zero_where_dead(state.spec, state.leaves))


def _zero_where_dead(spec: Spec, leaves: list[Any]) -> list[Any]:
    """The leaves of a traced array, those of floating and complex numbers zero in the slots that do not exist."""
    if any(leaf is None for leaf in leaves) or not any(map(_compat.is_tracer, leaves)) or spec.extra_axes(leaves) != 0:
        return leaves
    masks: dict[int, list[Any]] = {}
    _collect(spec.build(leaves), spec.skeleton(), None, masks)
    found = list(leaves)
    for number, several in masks.items():
        # what stands at several places exists if it does at one of them
        if jnp.issubdtype(found[number].dtype, jnp.inexact) and not any(mask is None for mask in several):
            there = alive(functools.reduce(jnp.minimum, several))
            data = found[number]
            found[number] = jnp.where(there.reshape(there.shape + (1,) * (data.ndim - 1)), data, 0)
    return found


def _collect(node: Any, slots: Any, dead: Any, masks: dict[int, list[Any]]) -> None:
    """For each leaf of numbers the masks of what does not exist, or None, at all places where it stands."""
    if isinstance(node, Flat):
        masks.setdefault(slots.data.number, []).append(dead)
        return
    below = list(children(node))
    if isinstance(node, Union):
        dead = None
    elif len(below) == 1:
        dead = dead_below(node, dead)
    for content, of_content in zip(below, children(slots), strict=True):
        _collect(content, of_content, dead, masks)


def _with_structure(ours: Any, theirs: Any) -> list[Any]:
    """The leaves of one, and the other's where they say what there is."""
    spec, leaves = ours.spec, list(ours.leaves)
    extra = spec.extra_axes(leaves) or 0
    shape = next((np.shape(leaf)[:extra] for leaf in leaves if leaf is not None), ()) if extra > 0 else ()
    for slot in _structural(spec.skeleton()):
        leaf = theirs.leaves[slot.number]
        leaves[slot.number] = jnp.broadcast_to(leaf, shape + np.shape(leaf)) if shape else leaf
    return leaves


def _structural(skeleton: Node) -> Iterator[Any]:
    """The leaves that say what there is."""
    for node in iterate(skeleton):
        match node:
            case Live():
                yield node.dead
            case Masked():
                yield node.null
            case Jagged():
                lists: Any = node.offsets
                yield from (lists.offsets, lists.parents)


def _under(tangent: Node, primal: Node) -> Node:
    """The numbers of one under the masks of the other."""
    if isinstance(primal, Live | Masked):
        below = tangent.content if isinstance(tangent, type(primal)) else tangent
        inner = _under(below, primal.content)
        return Live(primal.dead, inner) if isinstance(primal, Live) else Masked(primal.null, inner, primal.parameters)
    if isinstance(tangent, Option) and isinstance(tangent.content, Empty):
        return tangent  # integers have no tangent
    if isinstance(tangent, Flat) and is_absent(tangent.data):
        return fill_absent(tangent, primal.length)
    if isinstance(tangent, Jagged) and isinstance(primal, Jagged) and _lacks(tangent, primal):
        tangent = replace(tangent, offsets=primal.offsets)
    if not _alike(tangent, primal):
        message = (
            "akjax.like takes a tangent whose lists and fields are those of the primal, or of the array that the "
            f"primal was selected from: {_shown(tangent)} is not like {_shown(primal)}"
        )
        raise StructureError(message)
    pairs = zip(children(tangent), children(primal), strict=True)
    return rebuild(tangent, tuple(_under(one, two) for one, two in pairs))  # type: ignore[no-any-return]


def _shown(node: Node) -> str:
    return "an array of akjax.traced" if has_traced_lists(node) else str(ak.type(wrap(node)))


def _lacks(tangent: Jagged, primal: Jagged) -> bool:
    """Whether lists that are not there could be those of the primal."""
    lists: list[Any] = [tangent.offsets, primal.offsets]
    return is_absent(lists[0].offsets) and lists[0].bounds == lists[1].bounds


def _alike(one: Node, two: Node) -> bool:
    """Whether two nodes are the same but for what is below them."""
    if isinstance(one, List) and isinstance(two, List):
        return one.offsets is two.offsets
    if isinstance(one, Indexed) and isinstance(two, Indexed):
        return one.index is two.index
    if isinstance(one, Record) and isinstance(two, Record):
        return one.fields == two.fields and len(one.contents) == len(two.contents)
    sizes = not isinstance(one, Regular) or one.size == two.size  # type: ignore[union-attr]
    return type(one) is type(two) and one.length == two.length and sizes
