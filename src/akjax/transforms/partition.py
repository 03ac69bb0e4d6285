"""Splitting an array into the part JAX can differentiate and the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..highlevel.state import flat_state


def partition(tree: Any) -> tuple[Any, Any]:
    """Split arrays (or any pytree holding some) into floating leaves and all others.

    Args:
        tree: an `ak.Array`, or any pytree.

    Returns:
        `(floating, rest)`: two trees of the same kind, with None where the leaf is in the other one;
        `combine` joins them.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> muons = ak.zip({"pt": [[3.0, 4.0], []], "charge": [[1, -1], []]})
        >>> floating, rest = akjax.partition(muons)
        >>> def loss(floating):
        ...     m = akjax.combine(floating, rest)
        ...     return ak.sum(m.pt**2 * m.charge)
        >>> jax.grad(loss)(floating).pt.to_list()
        [[6.0, -8.0], []]
    """
    leaves, definition = jax.tree.flatten(tree)
    chosen = [_is_floating(leaf) and not fixed for leaf, fixed in zip(leaves, _structure(tree), strict=True)]
    pairs = list(zip(leaves, chosen, strict=True))
    floating = jax.tree.unflatten(definition, [leaf if mine else None for leaf, mine in pairs])
    rest = jax.tree.unflatten(definition, [None if mine else leaf for leaf, mine in pairs])
    return floating, rest


def _structure(tree: Any) -> Iterator[bool]:
    """For each leaf, whether it is the structure of an array: which elements exist, for example."""
    for part in jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, ak.Array | ak.Record)):
        yield from flat_state(part).spec.is_structure() if isinstance(part, ak.Array | ak.Record) else (False,)


def combine(*trees: Any) -> Any:
    """Join what `partition` has split.

    Args:
        trees: trees of one structure; of each leaf, all but one are None.

    Returns:
        The whole tree.

    Example:
        >>> import awkward as ak, akjax
        >>> akjax.register()
        >>> x = ak.Array([{"pt": 1.5, "n": 2}])
        >>> akjax.combine(*akjax.partition(x)).to_list()
        [{'pt': 1.5, 'n': 2}]
    """

    def first(*leaves: Any) -> Any:
        return next((leaf for leaf in leaves if leaf is not None), None)

    return jax.tree.map(first, *trees, is_leaf=lambda leaf: leaf is None)


def _is_floating(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray | np.generic | float | complex) and jnp.issubdtype(
        jnp.result_type(leaf), jnp.inexact
    )
