"""Every function that akjax implements, on random arrays with random options, answers as it does eagerly.

All functions of a family are compiled together. `slow` draws a few arrays, `campaign` many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import hypothesis.strategies as st
import jax
import pytest
from hypothesis import HealthCheck, assume, given, settings
from oracle import outcome

import akjax
from akjax import _coverage, registry

from .differences import DIFFERENCES
from .differential import faults
from .strategies import arrays, element_masks, moderate, other_lists, row_masks, texts
from .table import FAMILIES, NOT_DRAWN

akjax.register()

pytestmark = pytest.mark.skipif(not jax.config.jax_enable_x64, reason="compares in 64 bits")
NUMBERS = [family for family in FAMILIES if family != "strings"]
# Awkward itself goes wrong with records without fields, and with unknown types where nothing is left
NO_EMPTY = {"allow_empty": False, "min_record_fields": 1}
# what `akjax.traced` takes
NUMBERS_IN_RECORDS = {**NO_EMPTY, "allow_union": False, "allow_string": False, "allow_bytestring": False}


def test_no_function_is_left_out() -> None:
    entries = ((name, registry.find(value)) for name, value in _coverage.names())
    implemented = {name for name, entry in entries if entry is not None and entry.route != "host"}
    tried = {name for calls in FAMILIES.values() for name in calls}
    assert tried.isdisjoint(NOT_DRAWN)
    assert implemented == {name for name in tried | set(NOT_DRAWN) if name in dict(_coverage.names())}


def test_differences_are_of_functions_in_the_table() -> None:
    tried = {name for calls in FAMILIES.values() for name in calls}
    assert all(tried.issuperset(one.names) and one.reason for one in DIFFERENCES)


def cases(families: list[str], few: int, many: int) -> Any:
    """Each family with few examples, marked `slow`, and with many, marked `campaign`."""
    runs = {"slow": few, "campaign": many}
    return pytest.mark.parametrize(
        ("family", "examples"),
        [
            pytest.param(family, examples, id=f"{family}-{mark}", marks=getattr(pytest.mark, mark))
            for family in families
            for mark, examples in runs.items()
        ],
    )


def search(check: Callable[[st.DataObject], None], examples: int) -> None:
    """Try to make a check fail."""
    settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))(given(st.data())(check))()


def drawn(family: str, data: st.DataObject, **options: Any) -> tuple[ak.Array, dict[str, Any]]:
    array = moderate(data.draw(texts() if family == "strings" else arrays(**options)))
    return array, data.draw(st.fixed_dictionaries({name: call.options for name, call in FAMILIES[family].items()}))


def selects_elements(array: ak.Array, mask: Any) -> bool:
    """Whether a mask of the elements of lists can be made, and is not one of the characters of strings."""
    selected = outcome(lambda x, m: x[m], array, mask)
    if isinstance(selected, Exception) or selected.ndim != array.ndim:  # a NumPy mask may flatten a NumPy array
        return False
    return not any(text in str(selected.type) for text in ("* char", "* byte"))


def agree(*args: Any, **kwargs: Any) -> None:
    wrong = faults(*args, **kwargs)
    assert not wrong, "\n".join(f"{name} of {fault}" for name, fault in wrong.items())


@cases(list(FAMILIES), few=15, many=1000)
def test_any_array(family: str, examples: int) -> None:
    def check(data: st.DataObject) -> None:
        array, options = drawn(family, data)
        agree(FAMILIES[family], options, [(array,)])

    search(check, examples)


@cases(list(FAMILIES), few=8, many=500)
def test_selected_rows(family: str, examples: int) -> None:
    """The rows that exist are values of the program."""

    def check(data: st.DataObject) -> None:
        array, options = drawn(family, data, **NO_EMPTY)
        rows = ak.Array(data.draw(row_masks(array)))
        agree(FAMILIES[family], options, [(array, rows)], lambda x, m: x[m], selected=True)

    search(check, examples)


@cases(list(FAMILIES), few=8, many=500)
def test_selected_elements(family: str, examples: int) -> None:
    """The elements of lists that exist are values of the program, and then perhaps the rows too."""

    def check(data: st.DataObject) -> None:
        array, options = drawn(family, data, min_length=1, **NO_EMPTY)
        mask = outcome(lambda x: data.draw(element_masks(x)), array)
        assume(selects_elements(array, mask))
        given_masks, select = (array, mask), lambda x, m: x[m]
        if data.draw(st.booleans()):
            given_masks, select = (*given_masks, ak.Array(data.draw(row_masks(array)))), lambda x, m, r: x[m][r]
        agree(FAMILIES[family], options, [given_masks], select, selected=True)

    search(check, examples)


@cases(NUMBERS, few=8, many=500)
def test_lists_of_other_lengths(family: str, examples: int) -> None:
    """Arrays of `akjax.traced`: one program for other lists, or an error, never another answer."""

    def check(data: st.DataObject) -> None:
        array, options = drawn(family, data, **NUMBERS_IN_RECORDS)
        pair = [array, data.draw(other_lists(array))]
        room = outcome(akjax.envelope, pair)
        assume(not isinstance(outcome(akjax.traced, array), akjax.StructureError))
        agree(
            FAMILIES[family],
            options,
            [(one,) for one in pair],
            enter=lambda x: akjax.traced(x, like=room),
            selected=True,
        )

    search(check, examples)
