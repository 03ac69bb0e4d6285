"""A definition and leaves -> a graph, identities restored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .definition import DagDef
from .memory import remember, sweep
from .registry import find_node_type, is_value


def dag_unflatten(definition: DagDef, leaves: Iterable[Any]) -> Any:
    """Builds a new graph: what was one object is one object again, and `leaves` are in the leaf places.

    Leaves may be anything: placeholders, tracers, containers. They stay leaves, and shared exactly as the
    definition says, when the result is flattened; what was changed in the result is looked at afresh. (The
    one exception: nothing tells when a plain tuple, list or dict dies, so if such a root holds JAX tracers,
    the sharing of leaves directly in it is not remembered.)

    Args:
        definition: from `dag_flatten`.
        leaves: as many as the definition has, in its order.

    Raises:
        ValueError: if the number of leaves differs.
        TypeError: if a class in the definition is not registered (in this process).

    Examples:
        >>> from akjax.pydag import dag_flatten
        >>> w = [0.5]
        >>> _, definition = dag_flatten({"first": w, "second": w})
        >>> new = dag_unflatten(definition, [None])
        >>> new, new["first"] is new["second"]
        ({'first': [None], 'second': [None]}, True)
        >>> dag_flatten(new)[1] == definition
        True
    """
    sweep()
    leaves = list(leaves)
    if len(leaves) != definition.num_leaves:
        msg = f"{definition} has {definition.num_leaves} leaves, but {len(leaves)} were given"
        raise ValueError(msg)
    built: list[Any] = []

    def child(name: int) -> Any:
        return leaves[name] if name >= 0 else built[~name]

    for cls, aux, refs in definition.nodes:
        node_type = find_node_type(cls)
        if node_type is None:
            msg = f"{definition} has {cls.__qualname__}, which is not registered (register_pydag_node)"
            raise TypeError(msg)
        built.append(node_type.from_iterable(child, aux, refs))
    root = child(definition.root)
    odd = _odd_leaves(definition, leaves)
    if odd and built:
        remember(definition.nodes, built, leaves, odd)
    return root


def _odd_leaves(definition: DagDef, leaves: Sequence[Any]) -> set[int]:
    """The leaves that a fresh look would not take for one leaf each."""
    odd: set[int] = set()
    first: dict[int, int] = {}
    for i, leaf in enumerate(leaves):
        cls = type(leaf)
        if find_node_type(cls) is not None:
            odd.add(i)
        elif is_value(cls):
            if i in definition.repeated:
                odd.add(i)
        elif (j := first.setdefault(id(leaf), i)) != i:
            odd.update((i, j))
    return odd
