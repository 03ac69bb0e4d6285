"""`akjax.like`: a tangent or gradient with the structure of the array that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from ..algorithms.standing import has_traced_lists
from ..errors import StructureError
from ..highlevel.state import flat_state, node_of, restore, wrap
from ..nodes.kinds import Empty, Flat, Indexed, Jagged, List, Live, Masked, Node, Option, Record, Regular, replace
from ..nodes.walk import children, iterate, rebuild
from ..structure.absent import fill_absent, is_absent


def like(tangent: Any, primal: Any) -> Any:
    """Give a tangent the run-time structure of its primal: which elements exist, and which are missing.

    Inside a transformation a tangent, a cotangent and a gradient have a number for every slot, with zeros where there
    is nothing; a gradient with respect to an array has one for every element, also those that a selection removed.

    Args:
        tangent: an array of the structure of the primal, or of the primal before a selection by traced values.
        primal: the array whose selection to apply.

    Returns:
        The numbers of the tangent where the primal has elements.

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
    """
    ours, theirs = flat_state(tangent), flat_state(primal)
    if ours.spec == theirs.spec:
        return restore(type(tangent), ours.spec, _with_structure(ours, theirs))
    numbers = ours.spec.build(list(ours.leaves)) if ours.lacks_lists() else ours.node
    return wrap(_under(numbers, node_of(primal)), tangent.behavior, tangent.attrs)


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
