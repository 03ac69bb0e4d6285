"""`akjax.histogram`: NumPy's counts without a bandwidth, derivatives with one, `hist.Hist` in and out."""

from __future__ import annotations

from typing import Any

import awkward as ak
import hist
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import akjax

akjax.register()

pytestmark = pytest.mark.skipif(not jax.config.jax_enable_x64, reason="compares in 64 bits")

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 60))
W = RNG.random(60)
EDGES = np.array([-1.5, -0.5, 0.0, 1.0, 1.1])
LISTS = ak.unflatten(X, [5, 0, 25, 30])


def jitted(*arrays: Any, **options: Any) -> Any:
    """Only the counts: edges come out as they went in."""
    return jax.jit(lambda *arrays: akjax.histogram(arrays if len(arrays) > 1 else arrays[0], **options)[0])(*arrays)


@pytest.mark.parametrize("weights", [None, W])
@pytest.mark.parametrize("bandwidth", [None, 0, 1e-9])
@pytest.mark.parametrize(("bins", "limits"), [(5, (-1, 2)), (EDGES, None), (EDGES.tolist(), None)])
def test_as_numpy(bins: Any, limits: Any, bandwidth: float | None, weights: Any) -> None:
    want, edges = np.histogram(X, bins, limits, weights=weights)
    got, same_edges = akjax.histogram(ak.Array(X), bins, limits, weights=weights, bandwidth=bandwidth)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    np.testing.assert_array_equal(same_edges, edges)
    assert got.dtype == (want.dtype if bandwidth is None else np.float64)


@pytest.mark.parametrize("bandwidth", [None, 1e-9, (1e-9, None, 0)])
def test_three_dimensions(bandwidth: Any) -> None:
    bins = [3, EDGES, 4]
    ranges = [(-1, 1), (-1, 1), (-2, 2)]
    want, edges = np.histogramdd([X, Y, Z], [3, EDGES, 4], ranges, weights=W)
    options = {"bins": bins, "range": ranges, "bandwidth": bandwidth}
    got, same_edges = akjax.histogram((X, Y, Z), weights=W, **options)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    for one, two in zip(same_edges, edges, strict=True):
        np.testing.assert_array_equal(one, two)
    density = akjax.histogram((X, Y, Z), weights=W, density=True, **options)[0]
    np.testing.assert_allclose(density, np.histogramdd([X, Y, Z], [3, EDGES, 4], ranges, True, W)[0], rtol=1e-12)


def test_edges_belong_where_numpy_has_them() -> None:
    values = np.array([0.0, 1.0, 2.0, 2.0])
    for bandwidth in (None, 0):
        assert akjax.histogram(values, [0.0, 1.0, 2.0], bandwidth=bandwidth)[0].tolist() == [1, 3]
    got = akjax.histogram((values, values), [[0.0, 1.0, 2.0]] * 2, bandwidth=(None, 1e-9))[0]
    np.testing.assert_allclose(got, [[0.5, 0], [0.5, 1.5]])  # half of what is on an edge


def test_the_gaussian_between_the_edges() -> None:
    from math import erf, sqrt

    got = akjax.histogram(np.array([0.3]), [0.0, 1.0, 3.0], bandwidth=0.5, flow=True)[0]
    below = [(1 + erf((edge - 0.3) / 0.5 / sqrt(2))) / 2 for edge in (0.0, 1.0, 3.0)]
    np.testing.assert_allclose(got, [below[0], below[1] - below[0], below[2] - below[1], 1 - below[2]], rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [None, 0.3])
def test_nothing_is_lost(bandwidth: float | None) -> None:
    values = np.concatenate([X, [np.nan, np.inf, -np.inf, 1e300]])
    counts = akjax.histogram((values, values[::-1]), EDGES, bandwidth=bandwidth, flow=True)[0]
    assert counts.shape == (6, 6)
    np.testing.assert_allclose(counts.sum(), len(values), rtol=1e-12)


@pytest.mark.parametrize("order", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_gradients(order: int) -> None:
    def counts(x: Any, y: Any, w: Any, h: Any, edges: Any) -> Any:
        one = akjax.histogram(ak.Array(x), edges, weights=w, bandwidth=h, flow=True)[0]
        two = akjax.histogram((x, y), [edges, [-1.0, 0.5, 2.0]], weights=w, bandwidth=(h, 2 * h), density=True)[0]
        return one, two

    arguments = (X[:9], Y[:9], W[:9], 0.4, EDGES)
    check_grads(jax.jit(counts), arguments, order=order, modes=["fwd", "rev"], rtol=1e-5, atol=1e-5)


def test_gradients_of_counts_are_those_of_weights() -> None:
    def total(x: Any, w: Any) -> Any:
        return jnp.sum(akjax.histogram(x, EDGES, weights=w)[0] ** 2)

    of_x, of_w = jax.grad(total, argnums=(0, 1))(X, W)
    assert not of_x.any()
    counts, inside = np.histogram(X, EDGES, weights=W)[0], (EDGES[0] <= X) & (EDGES[-1] >= X)
    want = np.where(inside, 2 * counts[np.clip(np.searchsorted(EDGES, X, "right") - 1, 0, 3)], 0)
    np.testing.assert_allclose(of_w, want, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [None, 0.3])
def test_selections(bandwidth: float | None) -> None:
    def of_rows_and_elements(x: ak.Array, w: Any, cut: Any) -> Any:
        good = x[x > cut]
        return akjax.histogram(good, EDGES, weights=w, bandwidth=bandwidth, flow=True)[0]

    weights = ak.Array([1.0, 2.0, 3.0, 4.0])
    want = of_rows_and_elements(LISTS, weights, -0.7)
    np.testing.assert_allclose(jax.jit(of_rows_and_elements)(LISTS, weights, -0.7), want, rtol=1e-12)
    flat = ak.flatten(ak.broadcast_arrays(LISTS, weights)[1])[X > -0.7]
    np.testing.assert_allclose(
        want, akjax.histogram(X[X > -0.7], EDGES, weights=flat, bandwidth=bandwidth, flow=True)[0], rtol=1e-12
    )


def test_what_does_not_exist_has_no_gradient() -> None:
    dirty = ak.unflatten(np.where(X > 0, X, np.nan), ak.num(LISTS))

    def total(x: ak.Array, h: float) -> Any:
        return jnp.sum(akjax.histogram(x[x > 0], EDGES, bandwidth=h)[0] ** 2)

    with jax.debug_nans(True):
        by_value, by_width = jax.jit(jax.grad(total, argnums=(0, 1)))(dirty, 0.3)
    want = jax.grad(total)(ak.Array([X[X > 0]]), 0.3)
    got = np.asarray(ak.flatten(by_value))
    assert not got[X <= 0].any()
    np.testing.assert_allclose(got[X > 0], np.asarray(want[0]), rtol=1e-10)
    assert np.isfinite(by_width)


def test_missing_values() -> None:
    values = ak.Array([0.2, None, 0.7])
    for bandwidth in (None, 0.1):
        want = akjax.histogram(np.array([0.2, 0.7]), [0.0, 0.5, 1.0], bandwidth=bandwidth)[0]
        np.testing.assert_allclose(jitted(values, bins=[0.0, 0.5, 1.0], bandwidth=bandwidth), want)


def test_large_inputs_take_little_memory() -> None:
    """Neither the values nor the gradient hold entries times bins."""
    entries, bins = 200_000, 100
    x = np.zeros(entries)

    def total(x: Any, w: Any, h: Any) -> Any:
        return jnp.sum(akjax.histogram(x, bins, (-3, 3), weights=w, bandwidth=h)[0] ** 2)

    compiled = jax.jit(jax.grad(total, argnums=(0, 1, 2))).lower(x, x, 0.1).compile()
    memory = compiled.memory_analysis()
    assert memory.temp_size_in_bytes < entries * bins * 8 / 4


def test_chunks_make_no_difference() -> None:
    from akjax.kernels.smooth import smooth_histogram

    every = smooth_histogram([X, Y], [EDGES, EDGES], [0.2, 0.3], weights=W)
    few = jax.jit(lambda x, y, w: smooth_histogram([x, y], [EDGES, EDGES], [0.2, 0.3], weights=w, chunk=64))(X, Y, W)
    np.testing.assert_allclose(few, every, rtol=1e-12)
    gradients = [
        jax.jit(jax.grad(lambda h, n=n: jnp.sum(smooth_histogram([X], [EDGES], [h], weights=W, chunk=n) ** 2)))(0.3)
        for n in (64, 10_000)
    ]
    np.testing.assert_allclose(*gradients, rtol=1e-12)


AXES = {
    "regular": (hist.axis.Regular(4, -1, 1, name="x"),),
    "no flow": (hist.axis.Regular(4, -1, 1, flow=False),),
    "variable": (hist.axis.Variable([-1.0, 0.1, 2.0], underflow=False),),
    "integer": (hist.axis.Integer(-1, 3),),
    "two": (hist.axis.Regular(4, -1, 1), hist.axis.Variable([-1.0, 0.1, 2.0], overflow=False)),
}


@pytest.mark.parametrize("name", AXES)
def test_hists(name: str) -> None:
    axes = AXES[name]
    filled = hist.Hist(*axes, storage=hist.storage.Weight())
    edge = np.array([-1.0, 1.0, 2.0, -5.0, 9.0])  # on the edges, and outside
    columns = [np.concatenate([part, edge]) for part in (X, Y)][: len(axes)]
    if name == "integer":
        columns = [np.floor(columns[0]).astype(int)]
    weights = np.concatenate([W, np.ones(5)])
    filled.fill(*columns, weight=weights)
    for flow in (False, True):
        counts, variances = (
            akjax.histogram(tuple(columns), filled, weights=w, flow=flow)[0] for w in (weights, weights**2)
        )
        np.testing.assert_allclose(counts, filled.view(flow=flow).value, rtol=1e-12)
        made = akjax.to_hist(counts, filled, variances=variances)
        np.testing.assert_allclose(made.view(flow=flow).variance, filled.view(flow=flow).variance, rtol=1e-12)
        assert made.axes == filled.axes
        np.testing.assert_allclose(akjax.to_hist(counts, list(axes)).values(flow=flow), counts)


def test_hist_of_edges() -> None:
    counts, edges = akjax.histogram((X, Y), [EDGES, 3], [None, (-1, 1)], flow=True)
    made = akjax.to_hist(counts, edges)
    np.testing.assert_array_equal(made.values(flow=True), counts)
    np.testing.assert_array_equal(made.axes[0].edges, EDGES)
    with pytest.raises(ValueError, match="do not fit axes"):
        akjax.to_hist(counts[:2], edges)


@pytest.mark.parametrize(
    ("sample", "options", "error", "text"),
    [
        (X, {"bins": 5}, TypeError, "range="),
        (X, {"bins": "auto"}, TypeError, "auto"),
        (X, {"bins": [1.0, 0.0]}, ValueError, "monotonically"),
        (X, {"bins": [EDGES, EDGES]}, ValueError, "2 dimensions"),
        ((X, Y), {"bins": [EDGES]}, ValueError, "2"),
        ((X, Y), {"bins": 2, "range": [(0, 1)]}, ValueError, "range has 1"),
        ((X, Y[:3]), {"bins": EDGES}, ValueError, "as many"),
        (X, {"bins": EDGES, "weights": W[:3]}, ValueError, "as many"),
        (X, {"bins": EDGES, "bandwidth": -1.0}, ValueError, "negative"),
        (X, {"bins": EDGES, "bandwidth": (0.1, 0.1)}, ValueError, "2 bandwidths"),
        (X, {"bins": EDGES, "flow": True, "density": True}, ValueError, "exclude"),
        (X, {"bins": hist.axis.Regular(3, 0, 1, circular=True)}, TypeError, "fixed edges"),
        (X, {"bins": hist.axis.StrCategory(["a"])}, TypeError, "fixed edges"),
    ],
)
def test_errors(sample: Any, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        akjax.histogram(sample, **options)


def test_a_negative_bandwidth_at_run_time() -> None:
    def counts(h: Any) -> Any:
        return akjax.histogram(X, EDGES, bandwidth=h)[0]

    assert np.isnan(jax.jit(counts)(-0.1)).all()
    with pytest.raises(ValueError, match=r"bandwidth must not be negative: -0\.1"):
        akjax.checked(counts)(-0.1)
    np.testing.assert_allclose(jax.jit(counts)(0.0), np.histogram(X, EDGES)[0])
