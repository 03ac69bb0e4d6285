"""Text is part of the structure of an array: Awkward itself computes on it, while tracing."""

from __future__ import annotations

from typing import Any

import awkward as ak

from ..algorithms.runtime import is_text
from ..errors import StructureError
from ..highlevel.moving import Fixed, move, on_envelopes
from ..highlevel.protocols import any_traced
from ..highlevel.state import node_of, wrap
from ..nodes.kinds import Node
from ..nodes.walk import map_nodes
from ..registry import TEXT, implements
from ..structure.from_layout import from_layout
from ..structure.to_layout import stand_in

# what needs to know which of several texts exist
_OF_ALL = ("join", "to_categorical")


def _on_text(function: Any) -> None:
    name = function.__name__

    def call(array: Any, *args: Any, **kwargs: Any) -> Any:
        if any_traced(args) or any_traced(kwargs.values()):
            message = (
                f"ak.str.{name} makes text, which is part of the structure of an array, and cannot depend on traced "
                "numbers: use concrete ones"
            )
            raise StructureError(message)
        fixed = {key: Fixed(value) for key, value in kwargs.items()}

        def moved(envelope: Any) -> Any:
            return move(function, envelope, *map(Fixed, args), **fixed)

        return moved(array) if name in _OF_ALL else on_envelopes(moved, array)

    implements(function, route="moves", live=name not in _OF_ALL, no_gradient=TEXT)(call)


for _name in dir(ak.str):
    if callable(getattr(ak.str, _name)) and not _name.startswith("_"):
        _on_text(getattr(ak.str, _name))


@implements(ak.strings_astype, route="moves", live=True, no_gradient=TEXT)
def _strings_astype(array: Any, to: Any, **kwargs: Any) -> Any:
    def numbers(node: Node) -> Node | None:
        if is_text(node):
            return from_layout(ak.strings_astype(ak.Array(stand_in(node)), to, highlevel=False))
        return None

    return wrap(map_nodes(numbers, node_of(array)), array.behavior, array.attrs)
