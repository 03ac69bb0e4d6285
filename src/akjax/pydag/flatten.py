"""Graph -> unique leaves and a definition."""

from __future__ import annotations

from typing import Any

from .definition import DagDef
from .memory import sweep
from .walk import Walk


def dag_flatten(x: Any) -> tuple[list[Any], DagDef]:
    """Splits a graph of containers into its unique leaves and a hashable definition.

    Leaves come in the order of their first visit. A leaf or a container in several places is one leaf, one
    container; but immutable values (numbers, strings, `None`, tuples of those, ...) are one leaf per place,
    because Python shares them as it likes. What `dag_unflatten` built has the sharing it was built with,
    whatever its leaves are.

    Args:
        x: tuples, lists, dicts, named tuples and instances of registered classes; anything else is a leaf.

    Returns:
        The leaves, and a definition that equals that of any graph of the same shape and sharing.

    Raises:
        DagCycleError: if a container contains itself.
        TypeError: if a class returns an `aux` that is not hashable.

    Examples:
        >>> w = [0.5]
        >>> leaves, definition = dag_flatten({"first": w, "second": w})
        >>> leaves, definition
        ([0.5], {'first': &0=[*], 'second': &0})
    """
    sweep()
    walk = Walk()
    walk.run(x)
    return walk.leaves, DagDef(tuple(walk.nodes), len(walk.leaves))


def leaf_paths(x: Any) -> list[str]:
    """Where each leaf of `dag_flatten(x)` is found first, like `.left.weights[0]`."""
    walk = Walk()
    walk.paths = []
    walk.run(x)
    return walk.paths
