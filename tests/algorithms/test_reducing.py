"""The innermost lists, reduced where they stand."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pytest
from arrays import ALL, NUMBERS

from akjax.algorithms.reducing import innermost_lists, number_depth, one_row, unfolded
from akjax.nodes.kinds import Flat, List
from akjax.nodes.walk import iterate
from akjax.structure.from_layout import from_layout
from akjax.structure.to_layout import concrete_layout


@pytest.mark.parametrize("key", NUMBERS)
def test_depth_of_numbers(key: str) -> None:
    assert number_depth(unfolded(from_layout(NUMBERS[key].layout))) == NUMBERS[key].ndim - 1


@pytest.mark.parametrize("key", ["record", "union", "strings", "unknown", "no fields"])
def test_no_depth_of_anything_else(key: str) -> None:
    assert number_depth(from_layout(ALL[key].layout)) is None


@pytest.mark.parametrize("key", NUMBERS)
def test_one_row_has_the_type(key: str) -> None:
    node = unfolded(from_layout(NUMBERS[key].layout))
    small = ak.Array(concrete_layout(one_row(node)))
    assert len(small) == 1
    assert small.ndim == NUMBERS[key].ndim
    assert ak.sum(small, axis=None) == 0


def test_what_is_above_the_lists_stays() -> None:
    array = ak.Array([[[1.0], [2.0, 3.0]], None, []])
    node = unfolded(from_layout(array.layout))
    made = innermost_lists([node], lambda lists, dead: Flat(np.diff(lists[0].offsets.array)))
    assert ak.to_list(ak.Array(concrete_layout(made))) == [[1, 2], None, []]
    assert sum(isinstance(n, List) for n in iterate(made)) == 1
