"""Splitting an array into the part JAX can differentiate and the rest."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


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
    floating = jax.tree.map(lambda leaf: leaf if _is_floating(leaf) else None, tree)
    rest = jax.tree.map(lambda leaf: None if _is_floating(leaf) else leaf, tree)
    return floating, rest


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
