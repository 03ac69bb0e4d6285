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
