"""Functions that only move elements: Awkward itself runs them, on tracked arrays."""

from __future__ import annotations

from typing import Any

import awkward as ak

from ..errors import StructureError
from ..highlevel.moving import Fixed, move
from ..highlevel.protocols import any_traced
from ..registry import implements


def _moves(function: Any) -> None:
    def call(*args: Any, **kwargs: Any) -> Any:
        return move(function, *args, **kwargs)

    implements(function, route="moves")(call)


for _function in (
    ak.firsts,
    ak.from_regular,
    ak.local_index,
    ak.pad_none,
    ak.singletons,
    ak.to_packed,
    ak.to_regular,
    ak.with_name,
    ak.with_named_axis,
    ak.with_parameter,
    ak.without_field,
    ak.without_named_axis,
    ak.without_parameters,
):
    _moves(_function)


@implements(ak.unflatten, route="moves")
def _unflatten(array: Any, counts: Any, axis: int = 0, **kwargs: Any) -> Any:
    if any_traced((counts,)):
        message = (
            "ak.unflatten by traced counts makes lists whose lengths are known only at run time: not supported yet. "
            "Counts that come from structure (ak.num of an array) are known while tracing"
        )
        raise StructureError(message)
    return move(ak.unflatten, array, Fixed(counts), axis, **kwargs)
