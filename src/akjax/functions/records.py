"""Records made, taken apart and extended."""

from __future__ import annotations

from typing import Any

import awkward as ak

from ..errors import StructureError
from ..highlevel.moving import as_data, move, on_envelopes
from ..highlevel.operations import ak_attrs, ak_behavior
from ..highlevel.state import node_of, wrap
from ..nodes.kinds import List, Live, Node, Record, replace
from ..nodes.moving import project
from ..registry import implements
from .lengths import live


@implements(ak.zip, route="moves", live=True)
def _zip(arrays: Any, depth_limit: Any = None, **kwargs: Any) -> Any:
    pieces = list(arrays.values()) if isinstance(arrays, dict) else list(arrays)
    if not any(map(live, pieces)):
        return move(ak.zip, _marked(arrays), depth_limit=depth_limit, **kwargs)
    if depth_limit == 1:
        return _zip_rows(arrays, pieces, kwargs)
    return on_envelopes(lambda a: move(ak.zip, _marked(a), depth_limit=depth_limit, **kwargs), arrays)


def _marked(arrays: Any) -> Any:
    if isinstance(arrays, dict):
        return {key: as_data(value) for key, value in arrays.items()}
    return type(arrays)(as_data(value) for value in arrays)


def _zip_rows(arrays: Any, pieces: list[Any], kwargs: dict[str, Any]) -> Any:
    """Columns side by side: each keeps its own selections inside."""
    if not all(isinstance(piece, ak.Array) for piece in pieces):
        message = "ak.zip with depth_limit=1 after a selection by traced values takes arrays only"
        raise StructureError(message)
    nodes = [node_of(piece) for piece in pieces]
    dead = nodes[0].dead if isinstance(nodes[0], Live) else None
    if any((node.dead if isinstance(node, Live) else None) is not dead for node in nodes):
        message = "these columns were selected by different conditions on their rows: select the zipped rows instead"
        raise StructureError(message)
    if len({node.length for node in nodes}) > 1:
        message = "cannot zip arrays of different lengths"
        raise ValueError(message)
    contents = tuple(node.content if isinstance(node, Live) else node for node in nodes)
    fields = tuple(arrays) if isinstance(arrays, dict) else None
    parameters = dict(kwargs.get("parameters") or {})
    if kwargs.get("with_name") is not None:
        parameters["__record__"] = kwargs["with_name"]
    record: Node = Record(contents, fields, nodes[0].length, parameters or None)
    behavior = kwargs.get("behavior") or ak_behavior(pieces)
    return wrap(record if dead is None else Live(dead, record), behavior, kwargs.get("attrs") or ak_attrs(pieces))


@implements(ak.unzip, route="moves", live=True)
def _unzip(array: Any, *, how: Any = tuple, **kwargs: Any) -> Any:
    names = ak.fields(array)
    if not names:
        return (array,)
    if how is dict:
        return {name: array[name] for name in names}
    return how(array[name] for name in names)


@implements(ak.with_field, route="moves", live=True)
def _with_field(array: Any, what: Any, where: Any = None, **kwargs: Any) -> Any:
    path = tuple(where) if isinstance(where, list | tuple) else (where,)
    if len(path) > 1 and (live(array) or live(what)):
        inner = _with_field(array[path[0]], what, path[1:], **kwargs)
        return _with_field(array, inner, path[0], **kwargs)
    if live(array) or live(what):
        added = _add(node_of(array), node_of(what), path[0]) if isinstance(what, ak.Array) else None
        if added is not None:
            return wrap(added, array.behavior, array.attrs)
        return on_envelopes(lambda a, w: move(ak.with_field, a, as_data(w), where, **kwargs), array, what)
    return move(ak.with_field, array, as_data(what), where, **kwargs)


def _add(base: Node, what: Node, name: Any) -> Node | None:
    """The field added where both arrays have the same lists, whatever is selected further inside."""
    if isinstance(base, Live) and isinstance(what, Live):
        if base.dead is not what.dead:
            return None
        added = _add(base.content, what.content, name)
        return None if added is None else Live(base.dead, added)
    base, what = project(base), project(what)
    if isinstance(base, List) and isinstance(what, List) and base.offsets is what.offsets:
        added = _add(base.content, what.content, name)
        return None if added is None else replace(base, content=added)
    if not isinstance(base, Record) or isinstance(what, Live) or base.length != what.length:
        return None
    if base.fields is None:
        return None
    label = str(len(base.fields)) if name is None else name
    columns = dict(zip(base.fields, base.contents, strict=True)) | {label: what}
    return replace(base, contents=tuple(columns.values()), fields=tuple(columns))  # type: ignore[no-any-return]
