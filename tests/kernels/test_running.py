"""Running sums, against NumPy."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from akjax.kernels.running import running_count


@pytest.mark.parametrize("size", [0, 1, 4096, 4097, 16387, 100_000])
@pytest.mark.parametrize("kind", [bool, np.int32])
def test_like_numpys(size, kind):
    numbers = np.random.default_rng(size).integers(0, 2 if kind is bool else 50, size).astype(kind)
    found = jax.jit(running_count)(numbers)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, np.cumsum(numbers))
