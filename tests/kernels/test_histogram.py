from __future__ import annotations

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.test_util import check_grads

from akjax.kernels import histogram as kernel
from akjax.kernels._bins import make_bins
from akjax.kernels.histogram import histogram, histogramdd

from .cases import x64_off

RANGES = [(0.0, 1.0), (-3.0, 3.0), (0.1, 0.7), (-1e-3, 2e5), (30.0, 200.0), (1e3, 1e3 + 1)]


def samples(rng: np.random.Generator, edges: np.ndarray, n: int, dtype: type) -> np.ndarray:
    """Values inside and outside, on the edges, next to them, and the special ones."""
    low, high = float(edges[0]), float(edges[-1])
    width = high - low
    inside = rng.uniform(low - width / 5, high + width / 5, n).astype(dtype)
    on = edges.astype(dtype)
    beside = [np.nextafter(on[on != 0], dtype(sign * np.inf)) for sign in (-1, 1)]  # XLA has no subnormals
    return np.concatenate([inside, on, *beside, np.array([np.nan, np.inf, -np.inf], dtype=dtype)])


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32 - 1),
    limits=st.sampled_from(RANGES) | st.tuples(st.floats(-1e4, 1e4, allow_subnormal=False), st.floats(10, 1e6)),
    nbins=st.integers(1, 120),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=8)  # every number of bins compiles anew
def test_uniform_bins_as_numpy(seed, limits, nbins, dtype):
    low, high = limits if limits in RANGES else (limits[0], limits[0] + limits[1])
    edges = np.histogram_bin_edges(np.zeros(1, dtype=dtype), bins=nbins, range=(low, high))
    values = samples(np.random.default_rng(seed), edges, 300, dtype)
    if not (np.diff(edges) > 0).all():
        return  # in float32 the edges coincide: np.histogram itself is then arbitrary
    want, _ = np.histogram(values, bins=nbins, range=(low, high))
    got = jax.jit(lambda v: histogram(v, edges, uniform=(low, high, nbins)))(values)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(histogram(values, edges), want)
    assert got.dtype == np.int64


@given(
    limits=st.sampled_from(RANGES)
    | st.tuples(st.integers(-50, 50), st.integers(51, 999))
    | st.tuples(st.floats(-1e4, 1e4, allow_subnormal=False), st.floats(1e4 + 1e-2, 1e6)),
    nbins=st.integers(1, 1000),
    dtype=st.sampled_from([np.float32, np.float64, np.int32, np.uint64]),
)
def test_arithmetic_as_the_edges(limits, nbins, dtype):
    """At the lowest value of each bin and below it, where NumPy calculates as the program does."""
    low, high = map(float, limits)
    edges = np.histogram_bin_edges(np.zeros(1, dtype=dtype), bins=nbins, range=(low, high))
    bins = make_bins(edges, np.dtype(dtype), (low, high, nbins))
    if bins.arithmetic is None:
        return
    lowest = bins.lower
    below = lowest - dtype(1) if np.issubdtype(dtype, np.integer) else np.nextafter(lowest, dtype(-np.inf))
    values = np.concatenate([lowest, below[lowest > lowest[0]]])
    origin, scale, exact = bins.arithmetic
    found = np.minimum(((values.astype(origin.dtype) - origin) * scale).astype(int), nbins - 1)
    want = np.searchsorted(lowest, values, side="right") - 1
    assert set(found - want) <= ({0} if exact else {0, 1})


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("limits", [(0, 200), (0, 1024), (-8, 8), (100, 150)])
def test_arithmetic_alone_finds_the_bins_of_simple_ranges(dtype, limits):
    low, high = limits
    edges = np.linspace(low, high, 9)
    arithmetic = make_bins(edges, np.dtype(dtype), (float(low), float(high), 8)).arithmetic
    assert arithmetic is not None
    assert arithmetic.exact is (low >= 0 or dtype is np.int32)  # what is just below 0 is lost beside -low


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1, 99, 100, 101, 150, 1000, 1001])
def test_many_values(size, weighted, monkeypatch):
    """As many as are counted a chunk at a time, whatever the remainder."""
    monkeypatch.setattr(kernel, "_MANY", 99)
    monkeypatch.setattr(kernel, "_CHUNK", 50)
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.5, 0.5, (2, size)).astype(np.float32)
    weights = rng.random(size) if weighted else None
    live = rng.random(size) < 0.7
    edges = [np.linspace(0, 1, 5), np.array([0.1, 0.5, 0.6, 2.0])]

    def filled(x, y, live):
        even = [(0.0, 1.0, 4), None]
        return histogramdd([x, y], edges, uniform=even, weights=weights, live=live)

    want = np.histogramdd([x, y], edges, weights=weights)[0]
    np.testing.assert_allclose(jax.jit(filled)(x, y, None), want)
    some = np.histogramdd([x[live], y[live]], edges, weights=weights[live] if weighted else None)[0]
    np.testing.assert_allclose(filled(x, y, live), some)
    got = jax.vmap(filled, in_axes=(0, None, 0))(np.stack([x, x]), y, np.stack([live, live]))
    np.testing.assert_allclose(got, [some, some])
    slope = jax.grad(lambda x: (filled(x, y, live) * x.sum()).sum())(x)
    np.testing.assert_allclose(slope, np.full(size, some.sum()), rtol=1e-6)


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32 - 1),
    edges=st.lists(st.floats(-1000, 1000, width=32, allow_subnormal=False), min_size=2, max_size=30).map(sorted),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=8)  # every number of bins compiles anew
def test_variable_bins_as_numpy(seed, edges, dtype):
    edges = np.array(edges)
    values = samples(np.random.default_rng(seed), edges, 100, dtype)
    edges[1:-1] += 1e-9 * np.sign(edges[1:-1])  # edges that float32 does not have
    edges.sort()
    want, _ = np.histogram(values, bins=edges)
    np.testing.assert_array_equal(histogram(values, edges), want)  # float32 values against float64 edges
    np.testing.assert_array_equal(jax.jit(histogram)(values, edges), want)  # traced edges
    with x64_off():
        got = histogram(values.astype(np.float32), edges)
    np.testing.assert_array_equal(got, np.histogram(values.astype(np.float32), bins=edges)[0])


@pytest.mark.parametrize("nbins", [1, 7, 50, 1000])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integer_values(dtype, nbins):
    values = np.random.default_rng(0).integers(0, 120, 500).astype(dtype)
    for low, high in (
        (0, 100),
        (-3.5, 77.7),
        (0.5, 1.5),
        (-1e10, 1e10),
        (200, 1e30),
        (-1e30, 1e30),
        (-9, -3),
    ):
        edges = np.linspace(low, high, nbins + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns about booleans
            want, _ = np.histogram(values, bins=edges)
        np.testing.assert_array_equal(histogram(values, edges), want)
        np.testing.assert_array_equal(histogram(values, edges, uniform=(low, high, nbins)), want)
        with x64_off():
            np.testing.assert_array_equal(histogram(values, edges, uniform=(low, high, nbins)), want)


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16])
def test_half_precision_values(dtype):
    values = jnp.asarray(np.random.default_rng(0).uniform(0, 1, 500)).astype(dtype)
    edges = np.linspace(0, 1, 11)
    want, _ = np.histogram(np.asarray(values, dtype=np.float64), bins=edges)
    np.testing.assert_array_equal(histogram(values, edges, uniform=(0, 1, 10)), want)


@pytest.mark.parametrize("nbins", [10_000, 1_000_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_bins(dtype, nbins):
    edges = np.linspace(0.1, 7.3, nbins + 1)
    values = np.random.default_rng(0).uniform(0, 8, 20_000).astype(dtype)
    want, _ = np.histogram(values, bins=edges)
    np.testing.assert_array_equal(histogram(values, edges, uniform=(0.1, 7.3, nbins)), want)


def test_infinite_and_repeated_edges():
    values = np.array([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf, np.nan])
    for edges in ([-np.inf, 0, np.inf], [0, 0, 1, 1], [0, 1, 1], [1, 1]):
        want, _ = np.histogram(values, bins=np.array(edges, dtype=float))
        np.testing.assert_array_equal(histogram(values, np.array(edges, dtype=float)), want)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64, np.complex128])
def test_weights(dtype):
    rng = np.random.default_rng(0)
    values, weights = rng.uniform(-1, 2, 400), rng.uniform(0, 5, 400).astype(dtype)
    for edges in (np.linspace(0, 1, 12), np.array([0, 0.1, 0.5, 1])):
        want, _ = np.histogram(values, bins=edges, weights=weights)
        got = histogram(values, edges, weights=weights)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5)  # NumPy adds up variable bins in float32


def test_dead_elements():
    values = jnp.array([0.1, 0.2, 0.7, np.nan])
    live = np.array([True, False, True, True])
    edges = np.array([0, 0.5, 1])
    np.testing.assert_array_equal(histogram(values, edges, live=live), [1, 1])

    def filled(w):
        return histogram(values, edges, weights=w, live=live)

    weights = jnp.array([2.0, np.nan, 3.0, np.nan])
    with jax.debug_nans(True):
        np.testing.assert_array_equal(filled(weights), [2, 3])
        np.testing.assert_array_equal(jax.jacrev(filled)(weights), [[1, 0, 0, 0], [0, 0, 1, 0]])
    got = jax.vmap(lambda m: histogram(values, edges, live=m))(jnp.stack([live, ~live]))
    np.testing.assert_array_equal(got, [[1, 1], [1, 0]])


@pytest.mark.slow
def test_gradient_with_respect_to_weights():
    rng = np.random.default_rng(0)
    values, weights = rng.uniform(-1, 2, 30), rng.uniform(0, 5, 30)
    edges = np.linspace(0, 1, 5)
    check_grads(
        lambda w: histogram(values, edges, uniform=(0, 1, 4), weights=w) ** 2,
        (weights,),
        2,
        modes=("fwd", "rev"),
    )
    by_value = jax.grad(lambda v: histogram(v, edges, weights=weights).sum())(values)
    np.testing.assert_array_equal(by_value, 0)


def test_gradient_with_respect_to_many_weights(monkeypatch):
    monkeypatch.setattr(kernel, "_MANY", 20)
    monkeypatch.setattr(kernel, "_CHUNK", 8)
    rng = np.random.default_rng(0)
    values, weights, live = rng.uniform(-1, 2, 30), rng.uniform(0, 5, 30), rng.random(30) < 0.7
    edges = np.linspace(0, 1, 5)

    def filled(weights, live=live):
        return histogram(values, edges, uniform=(0, 1, 4), weights=weights, live=live) ** 2

    check_grads(filled, (weights,), 2, modes=("fwd", "rev"))
    several = jax.jit(lambda w: jax.vmap(filled)(w, jnp.stack([live, ~live])))
    check_grads(several, (np.stack([weights, weights]),), 1)
    weights[~live] = np.nan
    with jax.debug_nans(True):
        slopes = jax.jit(jax.grad(lambda w: filled(w).sum()))(weights)
    np.testing.assert_array_equal(slopes[~live], 0)
    traced = jax.jit(lambda edges: histogram(values, edges, weights=weights, live=live))(edges)
    np.testing.assert_allclose(traced, np.histogram(values[live], edges, weights=weights[live])[0])


def test_float32_weights_do_not_saturate():
    n = 20_000_000
    got = jax.jit(lambda v, w: histogram(v, np.array([0.0, 1.0, 2.0]), uniform=(0, 2, 2), weights=w))(
        jnp.full(n, 0.5, dtype=np.float32), jnp.ones(n, dtype=np.float32)
    )
    np.testing.assert_array_equal(got, [n, 0])


def test_empty():
    edges = np.array([0.0, 1.0, 2.0])
    np.testing.assert_array_equal(histogram(np.zeros(0), edges, uniform=(0, 2, 2)), [0, 0])
    np.testing.assert_array_equal(histogram(np.zeros(0), edges, weights=np.zeros(0)), [0, 0])


def test_uniform_that_contradicts_the_edges():
    with pytest.raises(ValueError, match="3 bins"):
        histogram(np.zeros(1), np.array([0.0, 1.0]), uniform=(0, 1, 3))
    # edges decide: a range that does not describe them is not used
    got = histogram(np.array([0.05, 0.6]), np.array([0, 0.1, 1]), uniform=(0, 1, 2))
    np.testing.assert_array_equal(got, [1, 1])


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32 - 1),
    nx=st.integers(1, 30),
    ny=st.integers(1, 30),
    dtype=st.sampled_from([np.float32, np.float64]),
    weighted=st.booleans(),
)
@settings(max_examples=8)  # every number of bins compiles anew
def test_histogram2d_as_numpy(seed, nx, ny, dtype, weighted):
    rng = np.random.default_rng(seed)
    ex, ey = np.linspace(0.1, 0.7, nx + 1), np.linspace(-3, 3, ny + 1)
    x, y = samples(rng, ex, 200, dtype), samples(rng, ey, 200, dtype)
    x, y = x[: min(x.size, y.size)], rng.permutation(y)[: min(x.size, y.size)]
    weights = rng.uniform(size=x.size).astype(dtype) if weighted else None
    want, _, _ = np.histogram2d(x, y, bins=[ex, ey], weights=weights)
    for extra in ({}, {"uniform": [(0.1, 0.7, nx), (-3.0, 3.0, ny)]}):
        got = histogramdd([x, y], [ex, ey], weights=weights, dtype=np.dtype(float), **extra)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, want, rtol=1e-12)
    live = rng.random(x.size) < 0.5
    got = histogramdd([x, y], [ex, ey], weights=weights, live=live, dtype=np.dtype(float))
    kept = None if weights is None else weights[live]
    np.testing.assert_allclose(got, np.histogram2d(x[live], y[live], bins=[ex, ey], weights=kept)[0], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize(
    "edges", [np.linspace(-5, 9, 8), np.array([0.5, 1.0, 40.0]), np.array([500.0, 600.0]), np.array([-600.0, -500.0])]
)
def test_flow(dtype, edges):
    values = np.random.default_rng(0).normal(3, 9, 300).astype(dtype)
    inner = np.histogram(values, edges)[0]
    want = [np.sum(values < edges[0]), *inner, np.sum(values > edges[-1])]
    get = jax.jit(lambda v, e: histogramdd([v], [e], flow=[(True, True)]))
    np.testing.assert_array_equal(histogramdd([values], [edges], flow=[(True, True)]), want)
    np.testing.assert_array_equal(get(values, edges), want)
    np.testing.assert_array_equal(histogramdd([values], [edges], flow=[(True, False)]), want[:-1])
    np.testing.assert_array_equal(histogramdd([values], [edges], flow=[(False, True)]), want[1:])


def test_flow_of_what_is_no_number():
    values = jnp.array([np.nan, np.inf, -np.inf, 0.5])
    got = histogramdd([values, values], [np.array([0.0, 1.0])] * 2, flow=[(True, True), (False, True)])
    assert got.tolist() == [[0, 0], [1, 0], [0, 2]]
