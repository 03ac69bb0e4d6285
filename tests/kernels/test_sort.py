"""The order of elements within segments, against NumPy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from akjax.kernels.segment import Segments
from akjax.kernels.sort import segment_argsort

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("longest", [1, 5, 63, 64, 65, 200])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "bool"])
def test_order(longest: int, descending: bool, dtype: str) -> None:
    counts = np.append(RNG.integers(0, longest + 1, 6), longest)
    parents = np.repeat(np.arange(7), counts)
    data = RNG.integers(0, 4, len(parents)).astype(dtype)
    key = data.astype(np.float64) * (-1 if descending else 1)
    want = np.lexsort((key, parents))
    got = jax.jit(lambda x: segment_argsort(x, Segments(parents, 7), descending=descending))(data)
    np.testing.assert_array_equal(got, want)


LENGTHS = {
    "events": RNG.negative_binomial(5, 0.5, 400),
    "some long": np.where(RNG.random(200) < 0.05, RNG.integers(60, 700, 200), RNG.poisson(2.0, 200)),
    "long": RNG.integers(90, 100, 20),
    "one long": np.array([0, 3, 0, 300, 1, 0, 12]),
}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("events", "float32"),
        ("some long", "int8"),
        ("some long", "extreme"),
        ("long", "uint32"),
        ("one long", "extreme"),
    ],
)
@pytest.mark.parametrize("descending", [False, True])
def test_segments_that_differ_in_length(name: str, descending: bool, values: str) -> None:
    """They are sorted in classes, long ones in rows that are filled up."""
    counts = LENGTHS[name]
    parents = np.repeat(np.arange(len(counts)), counts)
    if values == "extreme":
        data = RNG.choice(np.array([-(2**31), 2**31 - 1, 0], np.int32), len(parents))
    else:
        data = RNG.integers(0 if values == "uint32" else -9, 9, len(parents)).astype(values)
    want = np.lexsort((data.astype(np.float64) * (-1 if descending else 1), parents))
    got = jax.jit(lambda x: segment_argsort(x, Segments(parents, len(counts)), descending=descending))(data)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("descending", [False, True])
def test_what_is_not_live_stays_behind(descending: bool) -> None:
    counts = LENGTHS["some long"]
    parents = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
    live = place < RNG.integers(0, 1 + np.maximum(counts, 1))[parents]
    data = RNG.integers(0, 9, len(parents)).astype(np.float32)
    want = np.lexsort((np.where(live, data * (-1 if descending else 1), 0), ~live, parents))
    segments = Segments(parents, len(counts))
    got = jax.jit(lambda x, live: segment_argsort(x, segments, descending=descending, live=live))(data, live)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("parents", [[0] * 6, [0] * 5 + [1]])
def test_nan_comes_first(descending: bool, parents: list[int]) -> None:
    data = jnp.array([1.0, np.nan, np.inf, np.nan, -np.inf, 0.0])
    order = segment_argsort(data, Segments(np.array(parents), parents[-1] + 1), descending=descending)
    assert order[:2].tolist() == [1, 3]


@pytest.mark.parametrize(
    "limits", [np.array([5, -(2**31), 2**31 - 1], np.int32), np.array([5, 0, 2**32 - 1], np.uint32)]
)
def test_limits(limits: np.ndarray) -> None:
    one = Segments(np.zeros(3, np.int32), 1)
    assert segment_argsort(limits, one).tolist() == [1, 0, 2]
    assert segment_argsort(limits, one, descending=True).tolist() == [2, 0, 1]


def test_nothing() -> None:
    assert segment_argsort(np.zeros(0), Segments(np.zeros(0, np.int32), 3)).shape == (0,)


def test_zeros_of_both_signs_are_equal() -> None:
    order = segment_argsort(jnp.array([0.0, -0.0, 0.0]), Segments(np.zeros(3, np.int32), 1), descending=True)
    assert order.tolist() == [0, 1, 2]
