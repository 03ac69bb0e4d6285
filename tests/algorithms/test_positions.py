"""Where every number stands."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pytest
from arrays import NUMBERS

import akjax
from akjax.algorithms.positions import match, positions
from akjax.structure.from_layout import from_layout


def walk(array: ak.Array) -> list[tuple[tuple[int, ...], float]]:
    """Positions and values of all numbers, by Python."""
    found = []

    def go(value: object, at: tuple[int, ...]) -> None:
        if isinstance(value, list):
            for k, item in enumerate(value):
                go(item, (*at, k))
        elif value is not None:
            found.append((at, value))

    go(ak.to_list(array), ())
    return found


@pytest.mark.parametrize("key", NUMBERS)
def test_positions_and_values(key: str) -> None:
    inside = positions(from_layout(NUMBERS[key].layout))
    assert inside.flat is not None
    want = walk(NUMBERS[key])
    assert [tuple(int(p[k]) for p in inside.of) for k in range(len(inside.rows))] == [at for at, _ in want]
    assert np.asarray(inside.data()).tolist() == [value for _, value in want]


@pytest.mark.parametrize("key", NUMBERS)
def test_numbers_count_missing_values(key: str) -> None:
    array = NUMBERS[key]
    flat = ak.to_list(ak.flatten(array, axis=None)) if "?" not in str(array.type) else None
    inside = positions(from_layout(array.layout))
    if flat is not None:
        assert inside.numbers.tolist() == list(range(len(flat)))


def test_records_and_text() -> None:
    with pytest.raises(akjax.StructureError, match="take their fields"):
        positions(from_layout(ak.Array([{"x": 1}]).layout))
    with pytest.raises(TypeError, match="part of the structure"):
        positions(from_layout(ak.Array(["a"]).layout))


@pytest.mark.parametrize("size", [3, 10**9])
def test_match_by_table_and_by_search(size: int) -> None:
    outside = [np.array([0, 0, size - 1]), np.array([0, 1, 0])]
    inside = [np.array([size - 1, 0, 0]), np.array([0, 1, 0])]
    assert match(inside, outside).tolist() == [2, 1, 0]


def test_match_of_what_is_not_there() -> None:
    with pytest.raises(AssertionError):
        match([np.array([1])], [np.array([0, 2])])


def test_match_of_too_much() -> None:
    big = [np.array([2**40]), np.array([2**40])]
    with pytest.raises(akjax.StructureError, match="too large"):
        match(big, big)
