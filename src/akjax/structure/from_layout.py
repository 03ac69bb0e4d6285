"""Awkward layout → nodes, in the one canonical form an array and the result of an operation share.

Lists get offsets from 0 over cropped content; every option kind becomes an index; regular chains over
numbers become n-dimensional buffers; what nothing points to is dropped. Buffers are views of the
array's own wherever the canonical form is a view, and one buffer stays one buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import awkward as ak
import numpy as np

from ..errors import StructureError
from ..nodes.kinds import (
    Constant,
    Empty,
    Flat,
    List,
    Node,
    Record,
    Regular,
    Row,
)
from ..nodes.moving import carry, crop, indexed, offsets_of, option, ranges, union, unmasked
from ..nodes.static import Static, arange, static

_NOT_NUMBERS = "mMSUO"
_FLOATING = (np.float16, np.float32, np.float64, np.complex64, np.complex128)


def buffer(layout: Any) -> Any:
    """The data of a `NumpyArray` as JAX can take it: native byte order, a dtype JAX has."""
    data = layout.data
    if hasattr(data, "materialize"):
        data = data.materialize()
    if not isinstance(data, np.ndarray):
        return data
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    if data.dtype.kind in "fc" and data.dtype not in _FLOATING:
        message = (
            f"JAX has no {data.dtype}: convert the array first, for example with ak.values_astype(array, 'float64')"
        )
        raise TypeError(message)
    return data


def from_layout(
    layout: Any, leaf: Callable[[Any], Any] | None = None, offsets: Callable[[Any], Static] = static
) -> Node:
    """The nodes of an Awkward layout.

    Args:
        layout: an `ak.contents.Content` or `ak.record.Record` with data on the host.
        leaf: gives the data of a `NumpyArray`; its own buffer by default.
        offsets: makes the offsets of lists out of a buffer: `Static` itself where the nodes are soon gone, which spares
            a copy and a hash.

    Returns:
        The canonical tree of nodes.

    Raises:
        StructureError: for a layout without data (a typetracer).
    """
    if layout.backend.name == "typetracer":
        message = (
            "this array holds no data (it is typetracer-backed, as in dask-awkward's graphs): "
            "give JAX the computed array"
        )
        raise StructureError(message)
    make = _Make(buffer if leaf is None else leaf, offsets)
    if isinstance(layout, ak.record.Record):
        at = int(layout.at)  # Awkward takes no NumPy integers for a length
        return Row(crop(_node(layout.array, make), at, at + 1))
    return _node(layout, make)


class _Make(NamedTuple):
    """What buffers are made into."""

    leaf: Callable[[Any], Any]
    offsets: Callable[[Any], Static]


def _parameters(layout: Any) -> dict[str, Any] | None:
    return dict(layout.parameters) or None


def _host(index: Any) -> np.ndarray[Any, Any]:
    data = index.data
    if hasattr(data, "materialize"):
        data = data.materialize()
    return np.asarray(data)


def _node(layout: Any, make: _Make) -> Node:
    parameters = _parameters(layout)
    if layout.is_unknown:
        return Empty(parameters)
    if layout.is_numpy:
        return numbers(layout, make.leaf, parameters)
    if layout.is_regular:
        content = crop(_node(layout.content, make), 0, layout.length * layout.size)
        return regular(content, layout.size, layout.length, parameters)
    if layout.is_list:
        return _list(layout, make, parameters)
    if layout.is_union:
        contents = tuple(_node(content, make) for content in layout.contents)
        tags = _host(layout.tags)
        return union(tags, _host(layout.index)[: len(tags)], contents, parameters)
    if layout.is_record:
        length = layout.length
        contents = tuple(crop(_node(content, make), 0, length) for content in layout.contents)
        fields = None if layout.is_tuple else tuple(layout.fields)
        return Record(contents, fields, length, parameters)
    content = _node(layout.content, make)
    if isinstance(layout, ak.contents.UnmaskedArray):
        return unmasked(content, parameters)
    if layout.is_option:
        return option(_option_index(layout), content, parameters)
    return indexed(_host(layout.index), content, parameters)


def numbers(layout: Any, leaf: Callable[[Any], Any], parameters: Any) -> Node:
    """A `NumpyArray`: a data buffer, or structure when JAX has no type for it."""
    data = leaf(layout)
    text = parameters and parameters.get("__array__") in ("char", "byte")
    if text or np.dtype(data.dtype).kind in _NOT_NUMBERS:
        return Constant(static(data), parameters)
    return Flat(data, parameters, rank=np.ndim(data))


def regular(content: Node, size: int, length: int, parameters: Any) -> Node:
    """Lists of one size, as one more axis of the buffer where they hold plain numbers."""
    if parameters is None and isinstance(content, Flat) and not content.parameters and content.words is None:
        data = content.data
        if data.shape[0] == size * length:
            shaped = data.reshape((length, size, *data.shape[1:]))
            return Flat(shaped, None, None, content.rank + 1)
    return Regular(content, size, length, parameters)


def _list(layout: Any, make: _Make, parameters: Any) -> Node:
    content = _node(layout.content, make)
    if hasattr(layout, "offsets"):
        offsets = _host(layout.offsets)
        if offsets[-1] <= content.length:
            first, last = int(offsets[0]), int(offsets[-1])
            offsets = offsets.astype(np.int64, copy=False)
            content = crop(content, first, last)
            return List(make.offsets(offsets - first if first else offsets), content, parameters)
        starts, stops = offsets[:-1], offsets[1:]
    else:
        starts = _host(layout.starts).astype(np.int64)
        stops = _host(layout.stops).astype(np.int64)[: len(starts)]
    if stops.max(initial=0) > content.length:
        # Awkward itself makes such arrays (ak.sum of text, keepdims=True), and reads them as far as they go
        starts, stops = np.minimum(starts, content.length), np.minimum(stops, content.length)
    counts = stops - starts
    if len(starts) == 0:
        return List(offsets_of(counts), crop(content, 0, 0), parameters)
    if np.array_equal(stops[:-1], starts[1:]):
        return List(offsets_of(counts), crop(content, int(starts[0]), int(stops[-1])), parameters)
    below = ranges(starts, counts)
    text = parameters and parameters.get("__array__") in ("string", "bytestring")
    moved = carry(content, below) if text else indexed(below, content)
    return List(offsets_of(counts), moved, parameters)


def _option_index(layout: Any) -> np.ndarray[Any, Any]:
    if hasattr(layout, "index"):
        return _host(layout.index)
    missing = np.asarray(layout.mask_as_bool(valid_when=False))[: layout.length]
    return np.where(missing, -1, arange(layout.length))
