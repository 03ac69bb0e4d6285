"""Elements as numbers: what Awkward arranges when only the arrangement is its business.

Zipping and combining do not look into the elements they put together. In place of the elements Awkward
gets their numbers, known while tracing, and its result says which element goes where. What is inside
an element, selections and missing values by traced conditions among it, stays as it is.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..errors import StructureError
from ..nodes.kinds import Flat, List, Live, Masked, Node, Option, Record, Regular, Row, replace
from ..nodes.moving import indexed, is_identity, project
from ..nodes.static import arange, static
from .gathering import take_rows
from .origins import copied
from .runtime import as_regular, is_text


def level_of(node: Node) -> int:
    """How many levels of lists there are above the first record or number."""
    match node:
        case Flat():
            return len(node.shape) - 1
        case List() | Regular() if not is_text(node):
            return 1 + level_of(node.content)
        case Record():
            return 0
        case _ if hasattr(node, "content"):
            return level_of(node.content)
        case _:
            return 0


def cut(node: Node, level: int, outside: bool = False) -> tuple[Node, Node]:
    """The lists of an array down to a level, over the numbers of the elements there; and these elements.

    Args:
        node: the array.
        level: 0 for its rows, 1 for the elements of its lists, ...
        outside: whether missing elements are missing in the lists of numbers already.
    """
    node = as_regular(project(node))
    if isinstance(node, Live) or (isinstance(node, Masked | Option) and (level > 0 or outside)):
        numbers, elements = cut(node.content, level, outside)
        return replace(node, content=numbers), elements
    if level == 0:
        return Flat(arange(node.length)), node
    if not isinstance(node, List | Regular):
        message = (
            "this function reaches through lists only after a selection by traced values, not through records or unions"
        )
        raise StructureError(message)
    numbers, elements = cut(node.content, level - 1, outside)
    return replace(node, content=numbers), elements


def put(numbers: Any, elements: Node) -> Node:
    """The elements of these numbers."""
    if isinstance(elements, Row):
        elements = elements.content
    if isinstance(numbers.data, jax.Array):  # they were repeated in lists of run-time length
        return take_rows(elements, numbers.data, None)
    index = np.asarray(numbers.data)
    return elements if is_identity(index, elements.length) else _copies(elements, static(index).array)


def _copies(elements: Node, index: np.ndarray[Any, Any]) -> Node:
    """Elements at an index: what is computed of those that are there several times is computed before."""
    elements = project(elements)
    match elements:
        case Record():
            contents = tuple(_copies(content, index) for content in elements.contents)
            return replace(elements, contents=contents, length=len(index))  # type: ignore[no-any-return]
        case Flat() if np.ndim(elements.data) == 1:
            return replace(elements, data=copied(elements.data, index))  # type: ignore[no-any-return]
    return indexed(index, elements)
