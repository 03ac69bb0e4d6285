"""Graphs as JAX pytrees. JAX is imported when the first class is registered."""

from __future__ import annotations

from typing import Any

from .definition import DagDef
from .flatten import dag_flatten, leaf_paths
from .registry import FromIterable, ToIterable, register_pydag_node, unregister
from .unflatten import dag_unflatten


def register_with_jax(cls: type, to_iterable: ToIterable, from_iterable: FromIterable) -> None:
    """Makes a class a JAX pytree that keeps what is shared inside shared.

    To JAX an instance is *one* node: its children are the unique leaves of the whole graph (`dag_flatten`),
    however deep, so a shared leaf is one argument of a compiled program and has one gradient, the sum over
    its uses. Key paths are those of the first visit, like `.left.weight`.

    Args:
        cls: the class; it becomes a container of `akjax.pydag` too.
        to_iterable: as in `register_pydag_node`.
        from_iterable: as in `register_pydag_node`.

    Raises:
        ValueError: if the class is registered already, here or with JAX.

    Examples:
        >>> import jax
        >>> class Pair:
        ...     def __init__(self, left, right):
        ...         self.left, self.right = left, right
        >>> register_with_jax(
        ...     Pair,
        ...     lambda f, pair: (None, [f(pair.left), f(pair.right)]),
        ...     lambda u, aux, names: Pair(*map(u, names)),
        ... )
        >>> weight = {"w": jax.numpy.ones(3)}
        >>> out = jax.jit(lambda p: p)(Pair(weight, weight))
        >>> out.left is out.right
        True
        >>> jax.tree.structure(out)
        PyTreeDef(CustomNode(Pair[Pair(&0={'w': *}, &0)], [*]))
    """
    import jax

    def flatten_with_keys(x: Any) -> tuple[list[tuple[Any, Any]], DagDef]:
        leaves, definition = dag_flatten(x)
        keys = [jax.tree_util.GetAttrKey(path.removeprefix(".")) for path in leaf_paths(x)]
        return list(zip(keys, leaves, strict=True)), definition

    register_pydag_node(cls, to_iterable, from_iterable)
    try:
        jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, dag_unflatten, dag_flatten)
    except ValueError:
        unregister(cls)
        raise
