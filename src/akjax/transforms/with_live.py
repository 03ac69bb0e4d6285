"""`akjax.with_live`: an array that a loop may select from."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from ..algorithms.runtime import at_run_time, is_text
from ..highlevel.state import node_of, restore
from ..kernels._reduce import materialise
from ..nodes.kinds import Jagged, List, Live, Node, replace
from ..nodes.walk import children, rebuild
from ..structure.spec import canonical, split_leaves


def with_live(array: Any) -> Any:
    """The same array, with room to say of each row and of each element of a list whether it exists.

    What a loop carries must have one structure before and after its body, and a selection by traced values adds such
    masks. An array that has them from the beginning has the same structure when the body has selected from it.

    Lists of one size (`3 * 2 * float64`) stay what they are: use `ak.from_regular` first to select from them.

    Args:
        array: an `ak.Array`, inside a transformation or outside.

    Returns:
        An array of the same values, to begin `jax.lax.scan`, `while_loop` or `fori_loop` with.

    Example:
        >>> import awkward as ak, jax, jax.numpy as jnp, akjax
        >>> akjax.register()
        >>> def tighter(x, cut):
        ...     x = x[x > cut]
        ...     return x, ak.num(x)
        >>> x = akjax.with_live(ak.Array([[1.0, 2.0, 3.0], [], [4.0]]))
        >>> left, numbers = jax.lax.scan(tighter, x, jnp.array([1.5, 2.5]))
        >>> left.to_list(), numbers.to_list()
        ([[3.0], [], [4.0]], [[2, 0, 1], [1, 0, 1]])
    """
    if not isinstance(array, ak.Array):
        message = f"akjax.with_live takes an ak.Array, not {type(array).__name__}"
        raise TypeError(message)
    node = at_run_time(node_of(array))
    masked = _masked(_below(node.content) if isinstance(node, Live) else _below(node), node)
    leaves, spec = split_leaves(canonical(masked), array.behavior, dict(array.attrs) or None)
    return restore(type(array), spec, leaves)


def _below(node: Node) -> Node:
    """A node in which each list has a mask."""
    if isinstance(node, List) and not is_text(node):
        content = node.content.content if isinstance(node.content, Live) else node.content
        return replace(node, content=_masked(_below(content), node.content, _slots(node)))  # type: ignore[no-any-return]
    return rebuild(node, tuple(map(_below, children(node))))  # type: ignore[no-any-return]


def _masked(content: Node, before: Node, slots: int | None = None) -> Node:
    """Elements under the mask that they had, or under a new one."""
    if isinstance(before, Live):
        return Live(before.dead, content)
    # a program must not take it for a constant, which XLA would fold for long
    return Live(materialise(jnp.zeros(before.length if slots is None else slots, np.float32)), content)


def _slots(node: List) -> int:
    lists: Any = node.offsets
    return int(lists.bounds.slots if isinstance(node, Jagged) else lists.array[-1])
