"""Numbers stay right at size: 3·10^7 entries, where adding up in float32 one by one stops at 2^24."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest

import akjax

akjax.register()

MANY = 30_000_000
COUNTS = np.array([3, 0, MANY - 13, 10])


def everything(x: ak.Array) -> dict[str, Any]:
    flat = ak.flatten(x)
    return {
        "sum": ak.sum(x),
        "sums": ak.sum(x, axis=1),
        "mean": ak.mean(x),
        "count": ak.count(x),
        "counts": ak.count(x, axis=1),
        "nonzero": ak.count_nonzero(x),
        "selected": ak.sum(ak.num(x[x > 0.5])),
        "histogram": np.histogram(flat, bins=2, range=(0.0, 4.0))[0],
        "weighted": np.histogram(flat, bins=2, range=(0.0, 4.0), weights=flat)[0],
    }


@pytest.mark.slow
@pytest.mark.parametrize("prepared", [lambda array: array, akjax.traced], ids=["exact", "traced"])
def test_of_many(prepared: Any) -> None:
    x = ak.unflatten(np.ones(MANY, np.float32), COUNTS)
    found = {name: np.asarray(value) for name, value in jax.jit(everything)(prepared(x)).items()}
    for name in ("count", "nonzero", "selected"):
        assert found[name] == MANY, name
    assert found["counts"].tolist() == COUNTS.tolist()
    assert found["histogram"].tolist() == [MANY, 0]
    # of ones every partial sum is exact that float32 can hold
    np.testing.assert_allclose(found["sum"], MANY, rtol=1e-6)
    np.testing.assert_allclose(found["mean"], 1.0, rtol=1e-6)
    np.testing.assert_allclose(found["sums"], COUNTS, rtol=1e-6)
    np.testing.assert_allclose(found["weighted"], [MANY, 0], rtol=1e-6)


@pytest.mark.slow
def test_rounding_does_not_grow_with_the_number() -> None:
    numbers = np.random.default_rng(0).random(MANY, np.float32)
    x = ak.unflatten(numbers, COUNTS)
    exact = numbers.sum(dtype=np.float64)
    total, weighted = jax.jit(
        lambda x: (ak.sum(x), np.histogram(ak.flatten(x), bins=1, range=(0.0, 1.0), weights=ak.flatten(x))[0])
    )(x)
    np.testing.assert_allclose(np.asarray(total), exact, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(weighted), [exact], rtol=1e-6)
