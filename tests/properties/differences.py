"""Where eager Awkward is not followed, each with the reason; everything else that differs is a fault.

More of them, for reducers, are in `known_issues.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import awkward as ak
from known_issues import no_booleans, nothing_but_nan

from .strategies import nodes
from .table import REDUCERS, STATISTICS


@dataclasses.dataclass(frozen=True)
class Difference:
    """Functions that may answer otherwise for some arrays and options."""

    names: tuple[str, ...]
    applies: Callable[[ak.Array, dict[str, Any]], bool]
    reason: str
    after_selections_only: bool = False
    types_only: bool = False


_EXTREMA = (
    "ak.max",
    "ak.min",
    "ak.ptp",
    "ak.nanmax",
    "ak.nanmin",
    "ak.argmax",
    "ak.argmin",
    "ak.nanargmax",
    "ak.nanargmin",
)


def _text(array: ak.Array, options: dict[str, Any]) -> bool:
    return any(layout.parameter("__array__") in ("string", "bytestring") for layout in nodes(ak.to_layout(array)))


def _always(array: ak.Array, options: dict[str, Any]) -> bool:
    return True


def _options_of(layout: Any) -> bool:
    return layout.is_option or (layout.is_indexed and layout.content.is_option)


def _missing_lists(array: ak.Array, options: dict[str, Any]) -> bool:
    return any(_options_of(n) and n.purelist_depth > 1 for n in nodes(ak.to_layout(array)))


def _union_of_unknown(array: ak.Array, options: dict[str, Any]) -> bool:
    return any(n.is_union and "unknown" in str(n.form.type) for n in nodes(ak.to_layout(array)))


DIFFERENCES = (
    Difference(
        _EXTREMA,
        lambda array, options: nothing_but_nan(array, options.get("axis", None)),
        "a number made at run time cannot be None",
    ),
    Difference(
        ("ak.max", "ak.nanmax"),
        lambda array, options: no_booleans(array, options.get("axis", None)),
        "the largest of no booleans at all is True to Awkward, of an empty list False",
    ),
    Difference(
        ("ak.where",),
        _missing_lists,
        "for a list that is missing in the condition Awkward gives a list with one missing value",
    ),
    Difference(
        ("ak.run_lengths",),
        lambda array, options: "?" in str(array.type) or "option" in str(array.type),
        "Awkward leaves out missing values, but not from the boundaries of the lists they are in",
    ),
    Difference(
        ("ak.corr", "ak.covar", "ak.linear_fit", "ak.nan_to_none", "ak.nanmean", "ak.nanvar", "ak.nanstd"),
        _union_of_unknown,
        "whether a union with an unknown type is still one after an operation depends on the operation",
    ),
    Difference(
        ("ak.sort", "ak.argsort"),
        lambda array, options: any(n.is_record or n.is_union for n in nodes(ak.to_layout(array))),
        "Awkward sorts each field of a record by itself, so that nothing belongs together any more; akjax refuses",
    ),
    Difference(
        ("ak.pad_none",),
        lambda array, options: "unknown" in str(array.type),
        "where nothing is padded, whether an unknown type becomes an option depends on how the lists are stored",
        types_only=True,
    ),
    Difference(
        (*REDUCERS, *STATISTICS),
        lambda array, options: options.get("keepdims") is True and options.get("axis") is None,
        "with keepdims over everything Awkward keeps no axis of a regular array without rows",
        after_selections_only=True,
    ),
    Difference(
        (*REDUCERS, *STATISTICS, "ak.with_named_axis"),
        _text,
        "the characters of strings are not reduced",
        after_selections_only=True,
    ),
    Difference(
        (
            *("ak.pad_none", "ak.drop_none", "ak.singletons", "ak.fill_none", "ak.concatenate", "ak.unflatten"),
            *("ak.combinations", "ak.argcombinations", "ak.cartesian", "ak.argcartesian", "ak.local_index"),
            *("ak.Array", "ak.Record", "ak.where", "ak.to_regular", "ak.broadcast_arrays", "ak.sort", "ak.argsort"),
            *("ak.nanmax", "ak.nanmin", "ak.nanargmax", "ak.nanargmin", "ak.firsts"),
            *STATISTICS,
        ),
        _always,
        "whether Awkward's type is regular, or has an option, depends on the number of rows or missing values",
        after_selections_only=True,
        types_only=True,
    ),
    Difference(
        ("ak.is_none",),
        lambda array, options: any(n.is_record for n in nodes(ak.to_layout(array))),
        "whether Awkward asks a record or its fields depends on whether it sees the record through an index",
        after_selections_only=True,
    ),
    Difference(
        ("ak.firsts", "ak.pad_none", "ak.strings_astype", "ak.num", "ak.to_regular"),
        _text,
        "Awkward takes strings for lists of characters, or looks at those that were not selected",
        after_selections_only=True,
    ),
    Difference(
        ("ak.argcartesian",),
        lambda array, options: options.get("axis", 1) < 0,
        "Awkward counts a negative axis from the numbers first, and then from the positions in their lists",
        after_selections_only=True,
    ),
    Difference(
        ("ak.with_parameter",),
        lambda array, options: "?" in str(array.type) or "option" in str(array.type),
        "parameters of values that may be missing are those of the values",
        after_selections_only=True,
        types_only=True,
    ),
)


def differs(name: str, array: ak.Array, options: dict[str, Any], selected: bool) -> tuple[bool, bool]:
    """Whether values and types, or types only, may be others than Awkward's."""
    found = [
        one
        for one in DIFFERENCES
        if name in one.names and (selected or not one.after_selections_only) and one.applies(array, options)
    ]
    return any(not one.types_only for one in found), bool(found)
