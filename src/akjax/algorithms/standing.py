"""Work that does not depend on list lengths, on arrays whose list lengths are known at run time.

Awkward broadcasts, zips and walks lists that are known. In the place of traced lists it gets others (a
stand-in, `Boundaries.stand_in`), the same ones for the same boundaries, and in its result the traced lists take
their places again. So that no element has to move, arrays that are not as deep as the others are brought into
the others' lists first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import StructureError
from ..nodes.boundaries import Boundaries, UnknownLengths
from ..nodes.kinds import Flat, Jagged, List, Live, Masked, Node, Record, Regular, replace
from ..nodes.moving import project
from ..nodes.static import Static
from ..nodes.walk import iterate, map_nodes
from ..structure.to_layout import stood
from .gathering import take_rows
from .runtime import as_regular


class StandIns:
    """Arrays over stand-ins for their traced lists, and the way back."""

    def __init__(self) -> None:
        self._boundaries: dict[Static, Boundaries] = {}
        self._known: set[Static] = set()

    def __bool__(self) -> bool:
        return bool(self._boundaries)

    def stood(self, nodes: list[Node]) -> list[Node]:
        """The arrays, brought into one another's lists, over stand-ins."""
        nodes = lifted(nodes)
        for node in nodes:
            for n in iterate(node):
                if isinstance(n, Jagged):
                    lists: Any = n.offsets
                    if self._boundaries.setdefault(lists.stand_in, lists) is not lists:
                        raise StructureError(OTHER_LISTS)  # there are too many to tell them apart
                elif isinstance(n, List):
                    self._known.add(n.offsets)  # type: ignore[arg-type]
        return [map_nodes(stood, node) for node in nodes] if self else nodes

    def back(self, node: Node) -> Node:
        """A result with the traced lists in their places.

        Raises:
            UnknownLengths: when the result has other lists: they depend on the lengths.
        """
        return map_nodes(self._back, node) if self else node

    def _back(self, node: Node) -> Node | None:
        if not isinstance(node, List):
            return None
        found = self._boundaries.get(node.offsets)  # type: ignore[arg-type]
        if found is None:
            if _is_text(node) or node.offsets in self._known:
                return None
            raise UnknownLengths
        return Jagged(found, map_nodes(self._back, node.content), node.parameters)


def _is_text(node: Node) -> bool:
    return (node.parameters or {}).get("__array__") in ("string", "bytestring")


def has_traced_lists(node: Node) -> bool:
    """Whether there are lists of run-time length."""
    return any(isinstance(n, Jagged) for n in iterate(node))


def lifted(nodes: list[Node]) -> list[Node]:
    """Arrays to be broadcast, every one in the traced lists of the deepest.

    Raises:
        StructureError: when they are in different lists.
    """
    if not any(map(has_traced_lists, nodes)):
        return nodes
    lists: list[Any] = [node for node in nodes if isinstance(node, Jagged)]
    if not lists:
        if any(isinstance(node, Regular) for node in nodes) and not any(isinstance(n, Record | Masked) for n in nodes):
            return _lifted_regular(nodes)
        return _lifted_records(nodes)
    offsets = lists[0].offsets
    if any(other.offsets is not offsets for other in lists):
        raise StructureError(OTHER_LISTS)
    contents = lifted([node.content if isinstance(node, Jagged) else _broadcast(node, offsets) for node in nodes])
    parameters = [node.parameters if isinstance(node, Jagged) else None for node in nodes]
    return [Jagged(offsets, content, own) for content, own in zip(contents, parameters, strict=True)]


def _lifted_regular(nodes: list[Node]) -> list[Node]:
    """The same below lists of one size, which all arrays but single numbers have."""
    nodes = [as_regular(project(node)) for node in nodes]
    first: Any = next(node for node in nodes if isinstance(node, Regular))
    if not all(isinstance(node, Regular) and node.size == first.size for node in nodes if node.length != 1):
        message = f"cannot broadcast lists of the regular length {first.size} with an array that has others, or none"
        raise ValueError(message)
    contents = lifted([node.content if isinstance(node, Regular) else node for node in nodes])
    parameters = [node.parameters if isinstance(node, Regular) else None for node in nodes]
    return [replace(first, content=content, parameters=own) for content, own in zip(contents, parameters, strict=True)]


def _broadcast(node: Node, offsets: Any) -> Node:
    """An array without such lists, in them: of its own lists only those of one element are repeated."""
    own = as_regular(project(node))
    if isinstance(own, Regular) and own.size == 1:
        return _spread(own.content, offsets)
    if isinstance(own, List | Regular) and not _is_text(own):
        raise StructureError(OTHER_LISTS)
    return _spread(node, offsets)


def _spread(node: Node, offsets: Boundaries) -> Node:
    """One element of an array for every element of the list with its number."""
    rows = len(offsets) - 1
    if node.length == rows:
        return take_rows(node, offsets.parents, None)
    if node.length == 1:
        return take_rows(node, np.zeros(offsets.bounds.slots, np.int32), None)
    message = f"cannot broadcast an array of length {node.length} with lists of akjax.traced of capacity {rows}"
    raise StructureError(message)


def sunk(numbers: Node, elements: Node, reference: Node) -> tuple[Node, Node]:
    """Elements, and lists of their numbers (see `slots.cut`), brought into deeper traced lists.

    Args:
        numbers: the lists of numbers.
        elements: the elements.
        reference: lists of numbers that go as deep or deeper.
    """
    match numbers, reference:
        case (Live(), _) | (_, Live()) if not isinstance(numbers, Flat):
            inside = numbers.content if isinstance(numbers, Live) else numbers
            below, elements = sunk(inside, elements, reference.content if isinstance(reference, Live) else reference)
            return (replace(numbers, content=below) if isinstance(numbers, Live) else below), elements
        case Jagged(), Jagged():
            if numbers.offsets is not reference.offsets:
                raise StructureError(OTHER_LISTS)
            below, elements = sunk(numbers.content, elements, reference.content)
            return replace(numbers, content=below), elements
        case Flat(), Live():
            below, elements = sunk(numbers, elements, reference.content)
            return (numbers if below is numbers else below), elements
        case Flat(), Jagged():
            spread = _spread(elements, reference.offsets)  # type: ignore[arg-type]
            _, elements = sunk(Flat(np.zeros(0)), spread, reference.content)
            return reference, elements
    return numbers, elements


def _lifted_records(nodes: list[Node]) -> list[Node]:
    """The same below records, field by field; what is no record goes to each field."""
    records: list[Any] = [node for node in nodes if isinstance(node, Record)]
    below: Any = [node.content if isinstance(node, Masked) else None for node in nodes]
    if not records and any(below):
        inner = lifted([content or node for content, node in zip(below, nodes, strict=True)])
        pairs = zip(nodes, below, inner, strict=True)
        return [replace(node, content=new) if content else new for node, content, new in pairs]
    if len(records) == len(nodes):
        alike = all(node.fields == records[0].fields for node in records)
        if alike:
            columns = [lifted(list(column)) for column in zip(*(node.contents for node in records), strict=True)]
            return [replace(node, contents=tuple(column[k] for column in columns)) for k, node in enumerate(nodes)]
    scalars = [isinstance(node, Flat) and node.length == 1 for node in nodes]  # which need no lists
    if len(records) == 1 and len(records) + sum(scalars) == len(nodes):
        return nodes
    raise StructureError(RECORDS)


OTHER_LISTS = (
    "these arrays are in different lists of akjax.traced, so it is not known while tracing whether their lengths "
    "agree: take both from one collection, or prepare them by one call of akjax.traced, as fields of one array"
)

RECORDS = (
    "a record with lists of akjax.traced inside cannot be broadcast with other arrays: take its fields, and "
    "combine those"
)
