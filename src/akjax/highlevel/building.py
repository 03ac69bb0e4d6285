"""Arrays made of Python lists, tuples and dicts that hold traced numbers and traced arrays."""

from __future__ import annotations

from typing import Any

import awkward as ak

from .moving import as_data, move

_from_iter = ak.operations.from_iter  # the attribute of `ak` is guarded


def from_pieces(data: Any, **kwargs: Any) -> Any:
    """`ak.from_iter(data)`: Awkward builds the array of numbers of elements.

    Args:
        data: nested lists, tuples and dicts of numbers, texts, None, JAX arrays and arrays.
        kwargs: further arguments of `ak.from_iter`.
    """
    return move(_from_iter, _marked(data), **kwargs)


def _marked(data: Any) -> Any:
    """All numbers marked as data."""
    if isinstance(data, list | tuple):
        return type(data)(map(_marked, data))
    if isinstance(data, dict):
        return {key: _marked(value) for key, value in data.items()}
    return as_data(data)
