"""Buffers as values: equal ones are one object, whatever their hashes."""

from __future__ import annotations

import numpy as np
import pytest

from akjax.nodes import static as module
from akjax.nodes.static import Static, static

LARGE = np.arange(100_000)


@pytest.mark.parametrize(
    "array", [LARGE, LARGE.astype(np.int32)[:-1], np.zeros(0), np.array([np.nan, -0.0]), np.array([b"ab", b"c"])]
)
def test_equal_buffers_are_one(array):
    assert static(array) is static(array.copy())
    assert hash(static(array)) == hash(Static(array, static(array)._hash))


@pytest.mark.parametrize("at", [0, 1, 50_001, 99_999])
def test_one_element_tells_large_buffers_apart(at):
    other = LARGE.copy()
    other[at] += 1
    assert static(LARGE) != static(other)


@pytest.mark.parametrize(("one", "two"), [(0.0, -0.0), (np.float32(1), np.float64(1)), (np.int32(0), np.float32(0))])
def test_values_are_told_apart_by_their_bytes(one, two):
    assert static(np.array([one])) != static(np.array([two]))


def test_equal_hashes_of_different_values(monkeypatch):
    """The hash is of a sample: a sum and some of the elements can agree by chance."""
    monkeypatch.setattr(module, "_digest", lambda array: 1)
    one, two = static(np.array([1, 2])), static(np.array([2, 1]))
    assert one != two
    assert hash(one) == hash(two)
    assert static(np.array([1, 2])) == one
    assert {one: "one", two: "two"}[static(np.array([1, 2]))] == "one"


def test_a_buffer_is_copied_unless_nobody_else_has_it():
    mine, yours = np.array([3, 1, 4]), np.array([1, 5, 9])
    kept = static(mine)
    mine[0] = 0
    assert kept.array.tolist() == [3, 1, 4]
    assert static(yours, own=True).array is yours
    assert not yours.flags.writeable
