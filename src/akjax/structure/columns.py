"""An array without the columns that nobody asks for, so that these are never read."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import awkward as ak

from .spec import ELEMENTS, Path


def only_columns(layout: Any, columns: Collection[Path]) -> Any:
    """A layout with these columns only.

    Args:
        layout: an `ak.contents.Content`.
        columns: their places (see `Spec.columns`). That of lists keeps the lists, and in them what is asked for.

    Returns:
        A layout of as many rows, with every place on the way to a column.

    Example:
        >>> import awkward as ak
        >>> array = ak.Array([{"x": 1, "y": [{"z": 2.0, "t": 3.0}]}])
        >>> ak.Array(only_columns(array.layout, {("y", "[]", "z")})).to_list()
        [{'y': [{'z': 2.0}]}]
    """
    return _only(layout, (), {path[:depth] for path in columns for depth in range(len(path) + 1)})


def _only(layout: Any, path: Path, kept: Collection[Path]) -> Any:
    if layout.is_record:
        # those of a tuple keep their numbers as names
        fields = [field for field in layout.fields if (*path, field) in kept]
        contents = [_only(layout.content(field), (*path, field), kept) for field in fields]
        return ak.contents.RecordArray(
            contents, fields, layout.length, parameters=layout.parameters, backend=layout.backend
        )
    if layout.is_list:
        return layout.copy(content=_only(layout.content, (*path, ELEMENTS), kept))
    if layout.is_option or layout.is_indexed:
        return layout.copy(content=_only(layout.content, path, kept))
    return layout


def form_of(layout: Any) -> Any:
    """What a layout is besides its numbers, for comparison: Awkward's forms take several times as long.

    Args:
        layout: an `ak.contents.Content`.

    Returns:
        Something equal for layouts of equal types and kinds, whatever integers their indexes are.

    Example:
        >>> import awkward as ak
        >>> one, two, three = (ak.Array(x).layout for x in ([[1], []], [[], [2, 3]], [[1.0]]))
        >>> form_of(one) == form_of(two), form_of(one) == form_of(three)
        (True, False)
    """
    below: Any = ()
    if layout.is_numpy:
        own: Any = (layout.dtype, layout.inner_shape)
    elif layout.is_record:
        own, below = (layout.is_tuple, layout.fields), layout.contents
    elif layout.is_union:
        own, below = None, layout.contents
    elif layout.is_unknown:
        own = None
    else:
        own, below = layout.size if layout.is_regular else None, (layout.content,)
    return type(layout), layout.parameters, own, [form_of(one) for one in below]
