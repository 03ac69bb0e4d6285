"""The type that Awkward gives a result, where a result is made of lists whatever Awkward calls them.

What is computed of elements goes by where lists begin. Whether a dimension is one of its type (`3 * float64`) or lists
that happen to have one length, and whether there is an option in which nothing is missing, is Awkward's to say.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..nodes.kinds import Flat, List, Live, Masked, Node, Option, Record, Regular, replace
from .runtime import as_list, as_regular, is_text


def conformed(node: Node, layout: Any, options: bool = False) -> Node:
    """An array with regular dimensions where Awkward's result has them, and no others.

    Args:
        node: the array.
        layout: Awkward's own result for an array of the same type; its values and lengths do not matter.
        options: whether there is an option type where Awkward has one though nothing is missing.
    """

    def below(node: Node, layout: Any) -> Node:
        return conformed(node, layout, options)

    while layout.is_indexed and not layout.is_option:
        layout = layout.content
    match node:
        case Live():
            return replace(node, content=below(node.content, layout))  # type: ignore[no-any-return]
        case Masked() if not layout.is_option and isinstance(node.null, np.ndarray) and not node.null.any():
            return below(node.content, layout)
        case Masked() | Option():
            return replace(node, content=below(node.content, _without_option(layout)))  # type: ignore[no-any-return]
    if layout.is_option and options:
        return Masked(jnp.zeros(node.length, jnp.float32), below(node, layout.content))
    layout = _without_option(layout)
    if isinstance(node, Record) and layout.is_record and len(layout.contents) == len(node.contents):
        if layout.is_tuple or node.fields is None:
            return replace(node, contents=tuple(map(below, node.contents, layout.contents)), fields=None)  # type: ignore[no-any-return]
        named = zip(node.contents, node.fields, strict=True)
        return replace(node, contents=tuple(below(content, layout.content(name)) for content, name in named))  # type: ignore[no-any-return]
    if layout.is_numpy and layout.purelist_depth > 1:
        layout = layout.to_RegularArray()
    if not layout.is_list or is_text(node):
        return node
    lists: Any = as_regular(node)
    if layout.is_regular:
        lists = _as_one_size(lists, layout.size)
    elif isinstance(lists, Regular):
        lists = as_list(lists)
    if not isinstance(lists, List | Regular):
        return node
    content = below(lists.content, layout.content)
    unchanged = isinstance(node, Flat) and isinstance(lists, Regular) and content is lists.content
    return node if unchanged else replace(lists, content=content)


def _without_option(layout: Any) -> Any:
    return layout.content if layout.is_option else layout


def _as_one_size(lists: Any, size: int) -> Any:
    """Lists that are known to be all of one size, and complete, as a regular dimension."""
    if type(lists) is not List or isinstance(lists.content, Live):
        return lists
    if not (np.diff(lists.offsets.array) == size).all():
        return lists
    return Regular(lists.content, size, lists.length, lists.parameters)
