"""Sizes that threads share evenly."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from akjax.kernels import evenly
from akjax.kernels.evenly import empty_with_room, even, filled


@pytest.mark.parametrize(("size", "room"), [(0, 0), (4095, 4095), (4096, 4096), (4097, 4160), (10_048, 10_048)])
def test_even(size: int, room: int) -> None:
    assert even(size) == room


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 5000])
@pytest.mark.parametrize("own_room", [False, True])
def test_filled_with_the_last_number(size: int, own_room: bool) -> None:
    index = np.arange(size) % 7
    if own_room:
        index, given = empty_with_room(size, np.int32), index
        index[:] = given
    index.flags.writeable = False
    whole = filled(index)
    assert whole.dtype == index.dtype
    assert len(whole) == even(size)
    np.testing.assert_array_equal(whole[:size], index)
    assert (whole[size:] == index[-1:]).all()
    assert filled(index) is whole
    assert np.shares_memory(whole, index) or size in (0, 5000)


def test_room_is_not_copied() -> None:
    index = empty_with_room(5000, np.int64)
    index[:] = 3
    index.flags.writeable = False
    assert np.shares_memory(filled(index), index)


def test_forgotten_with_its_index() -> None:
    before = len(evenly._whole)
    index = np.zeros(5000, np.int32)
    index.flags.writeable = False
    filled(index)
    assert len(evenly._whole) == before + 1
    del index
    gc.collect()
    assert len(evenly._whole) == before


@pytest.mark.parametrize("own_room", [False, True])
def test_of_an_index_that_is_changed_later(own_room: bool) -> None:
    index = empty_with_room(5000, np.int64) if own_room else np.empty(5000, np.int64)
    for value in (3, 4):
        index[:] = value
        assert (filled(index) == value).all()
