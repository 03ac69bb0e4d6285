"""Walking a tree of nodes: children, leaves, and the one recursive mapper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .kinds import Constant, Empty, Flat, Jagged, Live, Masked, Node, Record, Row, Union, replace


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    if isinstance(node, Empty | Flat | Constant):
        return ()
    if isinstance(node, Record | Union):
        return node.contents
    return (node.content,)


def rebuild(node: Any, new: tuple[Node, ...]) -> Any:
    """The same node over other children."""
    old = children(node)
    if all(a is b for a, b in zip(old, new, strict=True)):
        return node
    if isinstance(node, Record | Union):
        return replace(node, contents=new)
    return replace(node, content=new[0])


def map_nodes(function: Callable[[Node], Node | None], node: Node) -> Node:
    """Replace nodes from the top: where `function` returns a node it stands, elsewhere go deeper."""
    done = function(node)
    if done is not None:
        return done
    return rebuild(node, tuple(map_nodes(function, child) for child in children(node)))  # type: ignore[no-any-return]


def map_flat(function: Callable[[Flat], Node], node: Node) -> Node:
    """Replace the nodes that hold numbers."""
    return map_nodes(lambda n: function(n) if isinstance(n, Flat) else None, node)


def iterate(node: Node) -> Iterator[Node]:
    """All nodes, parents first."""
    yield node
    for child in children(node):
        yield from iterate(child)


def leaves(node: Node) -> Iterator[Any]:
    """All data buffers, shared ones as often as they occur."""
    for n in iterate(node):
        if isinstance(n, Flat):
            yield n.data
        elif isinstance(n, Masked):
            yield n.null
        elif isinstance(n, Jagged):
            yield n.offsets.offsets  # type: ignore[union-attr]
            yield n.offsets.parents  # type: ignore[union-attr]
        elif isinstance(n, Live):
            yield n.dead


def has_run_time_structure(node: Node) -> bool:
    """Whether list lengths, the existence of elements, or missing values are decided at run time."""
    return any(isinstance(n, Live | Masked | Jagged) for n in iterate(node))


def has_records(node: Node) -> bool:
    """Whether there is a record anywhere."""
    return any(isinstance(n, Record | Row) for n in iterate(node))
