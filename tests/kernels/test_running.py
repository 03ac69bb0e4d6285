"""Running sums, against NumPy."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from akjax.kernels.running import running_count, running_places


@pytest.mark.parametrize("size", [0, 1, 4096, 4097, 16387, 100_000])
@pytest.mark.parametrize("kind", [bool, np.int32])
def test_like_numpys(size, kind):
    numbers = np.random.default_rng(size).integers(0, 2 if kind is bool else 50, size).astype(kind)
    found = jax.jit(running_count)(numbers)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, np.cumsum(numbers))


@pytest.mark.parametrize("before", [0, -1, 7])
def test_from_what_was_there_before(before):
    numbers = np.arange(10_000) % 3
    found = jax.jit(lambda numbers: running_count(numbers, before))(numbers)
    np.testing.assert_array_equal(found, np.cumsum(numbers) + before)


@pytest.mark.parametrize("size", [1, 4096, 4097, 20_001])
@pytest.mark.parametrize("many", [0, 1, 1000])
def test_places(size, many):
    places = np.sort(np.random.default_rng(size).integers(0, size, many)).astype(np.int32)
    found = jax.jit(lambda places: running_places(places, size, -1))(places)
    np.testing.assert_array_equal(found, np.searchsorted(places, np.arange(size), side="right") - 1)
