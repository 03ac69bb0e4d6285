"""What the children of a node are called, for messages and key paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from .registry import is_namedtuple


def place_names(value: Any, children: Sequence[Any]) -> list[str]:
    """The names of the children of a node, as one would write them in Python where that can be told.

    Children of a registered class are looked for among its attributes; `[j]` if they are not there, or if it
    is ambiguous which attribute is meant.

    Examples:
        >>> place_names({"pt": 1, "eta": 2}, [1, 2])
        ["['pt']", "['eta']"]
        >>> from types import SimpleNamespace
        >>> w = object()
        >>> place_names(SimpleNamespace(n=3, left=w, right=w), [w, w, "made on the fly"])
        ['.left', '.right', '[2]']
    """
    cls = type(value)
    if cls is dict and len(value) == len(children):
        return [f"[{key!r}]" for key in value]
    names = [f"[{j}]" for j in range(len(children))]
    if is_namedtuple(cls) and len(value) == len(children):
        names = [f".{field}" for field in value._fields]
    elif cls not in (tuple, list):
        attributes = defaultdict(list)
        for name, attribute in _attributes(value).items():
            attributes[id(attribute)].append(name)
        places = defaultdict(list)
        for j, child in enumerate(children):
            places[id(child)].append(j)
        for key, where in places.items():
            if len(attributes[key]) == len(where):
                for j, name in zip(where, attributes[key], strict=True):
                    names[j] = f".{name}"
    return names


def _attributes(value: Any) -> dict[str, Any]:
    """The instance's own attributes, from its dict and its slots."""
    names: list[str] = []
    for base in reversed(type(value).__mro__):
        slots = base.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    names = [name for name in names if not name.startswith("__") and hasattr(value, name)]
    found = {name: getattr(value, name) for name in names}
    return found | getattr(value, "__dict__", {})
