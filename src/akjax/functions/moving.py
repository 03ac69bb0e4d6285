"""Functions that only move elements: Awkward itself runs them, on tracked arrays."""

from __future__ import annotations

from typing import Any

import awkward as ak

from ..algorithms import ranks
from ..algorithms.runtime import counted_from_the_top
from ..errors import StructureError
from ..highlevel.moving import move, on_envelopes
from ..highlevel.state import node_of, wrap
from ..registry import implements
from ..structure.to_layout import stand_in
from .lengths import live


def _moves(function: Any, no_gradient: str = "") -> None:
    def call(*args: Any, **kwargs: Any) -> Any:
        return move(function, *args, **kwargs)

    implements(function, route="moves", no_gradient=no_gradient)(call)


for _function in (
    ak.categories,
    ak.merge_option_of_records,
    ak.merge_union_of_records,
):
    _moves(_function)


def _describes(function: Any) -> None:
    """A function that changes nothing but what an array says of itself, whatever was selected from it."""

    def call(array: Any, *args: Any, **kwargs: Any) -> Any:
        return on_envelopes(lambda envelope: move(function, envelope, *args, **kwargs), array)

    implements(function, route="moves", live=True)(call)


for _function in (
    ak.from_categorical,
    ak.to_packed,
    ak.with_name,
    ak.with_named_axis,
    ak.with_parameter,
    ak.without_field,
    ak.without_named_axis,
    ak.without_parameters,
):
    _describes(_function)


@implements(ak.firsts, route="moves", live=True)
def _firsts(array: Any, axis: int = 1, **kwargs: Any) -> Any:
    if not live(array):
        return move(ak.firsts, array, axis=axis, **kwargs)
    node = node_of(array)
    ak.firsts(ak.Array(stand_in(node)), axis=axis)  # Awkward's error for an axis that is not there
    axis = counted_from_the_top(node, axis)
    if axis == 0:
        message = (
            "ak.firsts(array, axis=0) after a selection of rows by traced values is not supported yet: reduce instead"
        )
        raise StructureError(message)
    return wrap(ranks.element(node, 0, axis, missing=True), array.behavior, array.attrs)
