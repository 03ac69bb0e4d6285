"""Histograms of traced arrays: NumPy's bins, edges and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import outcome, same

import akjax

akjax.register()

RNG = np.random.default_rng(0)
FLOATS = RNG.normal(size=200)
EDGES = np.array([-2.0, -0.5, 0.0, 1.0, 1.1])
WEIGHTS = RNG.random(200)
VALUES = {
    "float64": ak.Array(FLOATS),
    "float32": ak.Array(FLOATS.astype(np.float32)),
    "int64": ak.Array(RNG.integers(-5, 12, 200)),
    "int8": ak.Array(RNG.integers(-5, 12, 200).astype(np.int8)),
    "bool": ak.Array(RNG.random(200) > 0.5),
    "NaN": ak.Array([1.0, np.nan, np.inf, -np.inf, 0.5]),
    "nothing": ak.Array(np.zeros(0)),
    "regular": ak.Array(np.arange(6.0).reshape(2, 3)),
}


def check_histogram(function: Callable[..., Any], *arrays: Any, rtol: float = 1e-9) -> None:
    """Compare with NumPy: counts and edges, dtypes, class of exception."""
    want = outcome(function, *map(ak.to_numpy, arrays))
    got = outcome(jax.jit(function), *arrays)
    if isinstance(want, Exception):
        assert isinstance(got, type(want)), (got, want)
        return
    if isinstance(got, Exception):
        raise got
    for one, two in zip(got, want, strict=True):
        same(np.asarray(one).tolist(), np.asarray(two).tolist(), rtol=rtol)
        assert one.dtype == two.dtype


BINS: dict[str, dict[str, Any]] = {
    "uniform": {"bins": 10, "range": (-2, 3)},
    "float32 range": {"bins": 10, "range": (np.float32(-1.1), np.float32(2.3))},
    "edges": {"bins": EDGES},
    "integer edges": {"bins": [0, 1, 2, 3]},
    "ak.Array": {"bins": ak.Array(EDGES)},
    "density": {"bins": EDGES, "density": True},
    "uniform density": {"bins": 7, "range": (-1, 1), "density": True},
    "falling edges": {"bins": [2.0, 1.0]},
    "no bins": {"bins": 0, "range": (0, 1)},
    "range upside down": {"bins": 2, "range": (1, 0)},
    "range of one point": {"bins": 2, "range": (1, 1)},
    "range of NaN": {"bins": 2, "range": (0, np.nan)},
    "a float number of bins": {"bins": 2.0, "range": (0, 1)},
}


@pytest.mark.filterwarnings("ignore:Converting input from bool", "ignore:invalid value")
@pytest.mark.parametrize("options", BINS)
@pytest.mark.parametrize("key", VALUES)
def test_histogram(key: str, options: str) -> None:
    if key == "nothing" and "density" in options:
        pytest.skip("0 / 0")
    arguments = {name: np.asarray(v) if isinstance(v, ak.Array) else v for name, v in BINS[options].items()}
    rtol = 1e-6 if key == "float32" else 1e-9
    check_histogram(lambda a: np.histogram(a, **arguments), VALUES[key], rtol=rtol)


@pytest.mark.parametrize("dtype", ["float64", "int64", "float32"])
def test_weights(dtype: str) -> None:
    weights = ak.Array((WEIGHTS * 10).astype(dtype))
    rtol = 1e-5 if dtype == "float32" else 1e-9
    for options in (
        {"bins": EDGES},
        {"bins": 9, "range": (-1, 2)},
        {"bins": 9, "range": (-1, 2), "density": True},
    ):
        check_histogram(lambda a, w, o=options: np.histogram(a, weights=w, **o), VALUES["float64"], weights, rtol=rtol)


def test_weights_of_another_length() -> None:
    check_histogram(lambda a: np.histogram(a, bins=EDGES, weights=np.ones(3)), VALUES["float64"])


@pytest.mark.parametrize("values", [FLOATS, ak.Array(FLOATS)])
def test_traced_weights_of_concrete_values(values: Any) -> None:
    got = jax.jit(lambda w: np.histogram(values, bins=EDGES, weights=w)[0])(ak.Array(WEIGHTS))
    np.testing.assert_allclose(got, np.histogram(FLOATS, bins=EDGES, weights=WEIGHTS)[0])


def test_traced_edges() -> None:
    for edges in (ak.Array(EDGES), jnp.asarray(EDGES)):
        got = jax.jit(lambda a, e: np.histogram(a, bins=e))(VALUES["float64"], edges)
        np.testing.assert_array_equal(got[0], np.histogram(FLOATS, bins=EDGES)[0])
        np.testing.assert_array_equal(got[1], EDGES)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_at_the_edges(dtype: str) -> None:
    edges = np.linspace(0.5, 1, 1001).astype(dtype)
    beside = [np.nextafter(edges, np.array(far, dtype)) for far in (2, 0)]
    values = np.concatenate([edges, *beside])
    check_histogram(lambda a: np.histogram(a, bins=1000, range=(0.5, 1)), ak.Array(values), rtol=1e-6)


def test_of_lists() -> None:
    lists = ak.Array([[1.0, 2.0], [], [3.0]])
    flat = np.array([1.0, 2.0, 3.0])
    for axis in (1, None):
        got = jax.jit(lambda x, axis=axis: np.histogram(ak.flatten(x, axis=axis), bins=3, range=(0, 4))[0])(lists)
        np.testing.assert_array_equal(got, np.histogram(flat, bins=3, range=(0, 4))[0])
    with pytest.raises(ValueError, match="convert"):
        np.histogram(lists, bins=3, range=(0, 4))
    with pytest.raises(ValueError, match="convert"):
        jax.jit(lambda x: np.histogram(x, bins=3, range=(0, 4)))(lists)


def test_missing_values_are_not_counted() -> None:
    values, weights = ak.Array([1.0, 2.0, None]), ak.Array([1.0, 2.0, 3.0])
    counts, _ = jax.jit(lambda x, w: np.histogram(x, bins=3, range=(0, 3), weights=w))(values, weights)
    assert counts.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("bins", ["auto", 10])
def test_bins_from_the_values(bins: Any) -> None:
    with pytest.raises(TypeError, match=r"range=|bins='auto'"):
        jax.jit(lambda x: np.histogram(x, bins=bins)[0])(VALUES["float64"])


TWO: dict[str, dict[str, Any]] = {
    "numbers": {"bins": [3, 4], "range": [(-1, 1), (0, 5)]},
    "number": {"bins": 3, "range": [(-1, 1), (0, 5)]},
    "pair as an array": {"bins": np.array([3, 4]), "range": [(-1, 1), (0, 5)]},
    "edges": {"bins": EDGES},
    "edges and number": {"bins": (EDGES, 3), "range": [(-1, 1), (0, 5)]},
    "density": {"bins": 5, "range": [(-1, 2), (0, 1)], "density": True},
    "one bin": {"bins": [3], "range": [(-1, 1), (0, 5)]},
    "one range": {"bins": 3, "range": [(-1, 1)]},
    "falling edges": {"bins": [[1.0, 0.0, -1.0], 3], "range": [(-1, 1), (0, 5)]},
}


@pytest.mark.parametrize("options", TWO)
@pytest.mark.parametrize("key", ["float64", "float32", "int64"])
def test_histogram2d(key: str, options: str) -> None:
    check_histogram(lambda a: np.histogram2d(a, a * 0.5, **TWO[options]), VALUES[key])


def test_histogram2d_with_weights() -> None:
    check_histogram(
        lambda a, w: np.histogram2d(a, a, bins=5, range=[(-1, 2), (0, 1)], weights=w),
        VALUES["float64"],
        ak.Array(WEIGHTS),
    )
    check_histogram(lambda a: np.histogram2d(a, a[:5], bins=5, range=[(-1, 2), (0, 1)]), VALUES["float64"])


THREE: dict[str, dict[str, Any]] = {
    "number": {"bins": 3, "range": [(-1, 1), (0, 5), (-2, 2)]},
    "mixed": {"bins": [EDGES, 3, [0.0, 1.0]], "range": [None, (0, 5), None]},
    "density": {"bins": [4, 3, 2], "range": [(-1, 1), (0, 5), (-2, 2)], "density": True},
    "two bins": {"bins": [3, 3], "range": [(-1, 1), (0, 5), (-2, 2)]},
    "one range": {"bins": 3, "range": [(-1, 1)]},
}


@pytest.mark.parametrize("options", THREE)
def test_histogramdd(options: str) -> None:
    sample = ak.to_regular(ak.Array(RNG.normal([0.0, 1.0, 0.0], size=(200, 3))))

    def both(sample: Any, weights: Any) -> Any:
        counts, edges = np.histogramdd(sample, **THREE[options])
        columns = [sample[:, 0], sample[:, 1], sample[:, 2]]
        weighted, _ = np.histogramdd(columns, weights=weights, **THREE[options])
        return counts, weighted, *edges

    check_histogram(both, sample, ak.Array(WEIGHTS))


def test_histogramdd_of_selected_rows() -> None:
    def counts(x: Any, rows: Any) -> Any:
        kept = x[rows]
        return np.histogramdd([kept, kept * 0.5], [EDGES, EDGES])[0]

    want = counts(FLOATS, FLOATS > 0.2)
    np.testing.assert_array_equal(jax.jit(counts)(ak.Array(FLOATS), ak.Array(FLOATS > 0.2)), want)


def test_gradient_of_weights() -> None:
    values = np.array([0.5, 0.5, 1.5, 9.0])

    def total(w: Any) -> Any:
        return jnp.sum(np.histogram(ak.Array(values), bins=[0, 1, 2], weights=w)[0] ** 2)

    gradient = jax.grad(total)(ak.Array([1.0, 2.0, 3.0, 4.0]))
    assert ak.to_list(gradient) == [6.0, 6.0, 6.0, 0.0]
