"""Taking elements of a node at positions known while tracing: `carry` and `crop`.

What is no longer reached is dropped, so that a buffer never holds elements that no list, option or
union points to: a gradient has no place for them, and nothing is computed for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.gather import take
from .kinds import (
    Constant,
    Empty,
    Flat,
    Indexed,
    List,
    Live,
    Masked,
    Node,
    Option,
    Record,
    Regular,
    Row,
    Union,
    replace,
)
from .static import Static, arange, static


def is_identity(index: np.ndarray[Any, Any], length: int) -> bool:
    """Whether the index takes all elements in their order."""
    if len(index) != length or (length and index[-1] != length - 1):
        return False
    # in pieces: most indices differ early, and numbers to compare with take memory
    first = arange(min(length, _PIECE))
    pieces = (index[start : start + _PIECE] - start for start in range(0, length, _PIECE))
    return all(np.array_equal(piece, first[: len(piece)]) for piece in pieces)


_PIECE = 1 << 14


def covers(index: np.ndarray[Any, Any], length: int) -> bool:
    """Whether every element is reached at least once."""
    if len(index) < length:
        return False
    reached = np.zeros(length, dtype=bool)
    reached[index] = True
    return bool(reached.all())


def ranges(starts: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The positions `starts[i], starts[i] + 1, ...` (`counts[i]` of them), one list after another."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return arange(int(offsets[-1])) + np.repeat(starts - offsets[:-1], counts)


def offsets_of(counts: np.ndarray[Any, Any]) -> Static:
    """List offsets from list lengths."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return static(offsets, own=True)


def carry(node: Node, index: np.ndarray[Any, Any]) -> Node:
    """The elements of `node` at `index` (non-negative, in range), in that order.

    Args:
        node: what to take from.
        index: positions, static, shape `(n,)`.

    Returns:
        A node of length n of the same type.
    """
    index = np.asarray(index, dtype=np.int64)
    if is_identity(index, node.length):
        return node
    match node:
        case Empty():
            return node
        case Flat():
            return replace(node, data=take(node.data, index))  # type: ignore[no-any-return]
        case Constant():
            return replace(node, data=static(node.data.array[index]))  # type: ignore[no-any-return]
        case Regular():
            below = (index[:, np.newaxis] * node.size + arange(node.size)).reshape(-1)
            return replace(node, content=carry(node.content, below), length=len(index))  # type: ignore[no-any-return]
        case List():
            offsets = node.offsets.array
            starts, counts = offsets[index], offsets[index + 1] - offsets[index]
            below = ranges(starts, counts)
            return replace(node, offsets=offsets_of(counts), content=carry(node.content, below))  # type: ignore[no-any-return]
        case Indexed():
            return indexed(node.index.array[index], node.content, node.parameters)
        case Option(unmasked=True):
            return unmasked(carry(node.content, index), node.parameters)
        case Option():
            return option(node.index.array[index], node.content, node.parameters)
        case Masked():
            return Masked(take(node.null, index), carry(node.content, index), node.parameters)
        case Live():
            return Live(take(node.dead, index), carry(node.content, index))
        case Record():
            contents = tuple(carry(content, index) for content in node.contents)
            return replace(node, contents=contents, length=len(index))  # type: ignore[no-any-return]
        case Union():
            return union(node.tags.array[index], node.index.array[index], node.contents, node.parameters)
        case Row():
            message = "a single record has no elements to take"
            raise AssertionError(message)


def crop(node: Node, start: int, stop: int) -> Node:
    """The elements from `start` up to `stop`, without copying concrete buffers."""
    if start == 0 and stop == node.length:
        return node
    if start == stop:
        start = stop = 0  # an empty list may lie anywhere, also behind the end of the content
    match node:
        case Flat():
            return replace(node, data=node.data[start:stop])  # type: ignore[no-any-return]
        case Constant():
            return replace(node, data=static(node.data.array[start:stop]))  # type: ignore[no-any-return]
        case Regular():
            content = crop(node.content, start * node.size, stop * node.size)
            return replace(node, content=content, length=stop - start)  # type: ignore[no-any-return]
        case List():
            offsets = node.offsets.array[start : stop + 1]
            content = crop(node.content, int(offsets[0]), int(offsets[-1]))
            return replace(node, offsets=static(offsets - offsets[0]), content=content)  # type: ignore[no-any-return]
        case Record():
            contents = tuple(crop(content, start, stop) for content in node.contents)
            return replace(node, contents=contents, length=stop - start)  # type: ignore[no-any-return]
        case _:
            return carry(node, np.arange(start, stop, dtype=np.int64))


def indexed(index: np.ndarray[Any, Any], content: Node, parameters: Any = None) -> Node:
    """Content seen through an index: kept lazy where all of it is reached, taken otherwise."""
    index = np.asarray(index, dtype=np.int64)
    categorical = bool(parameters) and parameters.get("__array__") == "categorical"
    if not categorical:
        if is_identity(index, content.length):
            return with_parameters(content, parameters)
        if isinstance(content, Indexed) and not content.parameters:
            return indexed(content.index.array[index], content.content, parameters)
        if isinstance(content, Option) and content.unmasked:
            return unmasked(indexed(index, content.content), content.parameters)
        if isinstance(content, Option):
            return option(content.index.array[index], content.content, content.parameters)
        if not covers(index, content.length):
            return with_parameters(carry(content, index), parameters)
    elif not covers(index, content.length):
        reached = np.unique(index)
        content, index = carry(content, reached), np.searchsorted(reached, index)
    return Indexed(static(index), content, parameters)


def option(index: np.ndarray[Any, Any], content: Node, parameters: Any = None) -> Option:
    """Content with missing values: negative numbers in the index, all of the content reached."""
    index = np.asarray(index, dtype=np.int64)
    index = np.where(index < 0, -1, index)
    valid = index >= 0
    present = index[valid]
    if isinstance(content, Indexed) and not content.parameters:
        index[valid] = content.index.array[present]
        return option(index, content.content, parameters)
    if isinstance(content, Option):
        index[valid] = content.index.array[present]
        return option(index, content.content, parameters or content.parameters)
    if not covers(present, content.length):
        content = carry(content, present)
        index[valid] = arange(len(present))
    return Option(static(index), content, parameters)


def unmasked(content: Node, parameters: Any = None) -> Option:
    """Content of option type in which nothing is missing."""
    content = content if content.parameters else project(content)
    return Option(static(arange(content.length)), content, parameters, unmasked=True)


def union(
    tags: np.ndarray[Any, Any],
    index: np.ndarray[Any, Any],
    contents: tuple[Node, ...],
    parameters: Any = None,
) -> Union:
    """A union of which every content is reached completely."""
    index = np.array(index, dtype=np.int64)
    tags = np.asarray(tags, dtype=np.int8)
    new = []
    for tag, content in enumerate(contents):
        mine = tags == tag
        if not covers(index[mine], content.length):
            content = carry(content, index[mine])
            index[mine] = arange(int(mine.sum()))
        new.append(content)
    return Union(static(tags), static(index), tuple(new), parameters)


def with_parameters(node: Node, parameters: Any) -> Node:
    """The node with these parameters added to its own."""
    if not parameters:
        return node
    return replace(node, parameters={**(node.parameters or {}), **parameters})  # type: ignore[no-any-return]


def project(node: Node) -> Node:
    """The node without an index on top."""
    while isinstance(node, Indexed):
        node = carry(node.content, node.index.array)
    return node
