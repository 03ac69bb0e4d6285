from __future__ import annotations

import warnings

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jax.test_util import check_grads

from akjax.kernels.segment import (
    Segments,
    segment_all,
    segment_any,
    segment_count,
    segment_count_nonzero,
    segment_prod,
    segment_sum,
)

from .cases import CASES, COUNTS, KINDS, keep, make, x64_off

REDUCERS = [
    (segment_sum, ak.sum),
    (segment_prod, ak.prod),
    (segment_any, ak.any),
    (segment_all, ak.all),
    (segment_count_nonzero, ak.count_nonzero),
]


@pytest.mark.parametrize(("counts", "dtype"), CASES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("kernel", "oracle"), REDUCERS)
def test_as_awkward(kernel, oracle, kind, counts, dtype):
    segments, order = make(counts, kind)
    data = np.random.default_rng(1).integers(0, 4, sum(counts)).astype(dtype)
    live = np.arange(sum(counts)) % 3 != 0
    for mask in (None, live):
        want = np.asarray(oracle(keep(data, counts, np.ones_like(live) if mask is None else mask), axis=1))
        got = kernel(data[order], segments, None if mask is None else mask[order])
        assert got.dtype == want.dtype or len(counts) == 0
        np.testing.assert_allclose(got, want)


@given(
    st.lists(st.integers(0, 5), max_size=8).flatmap(
        lambda c: st.tuples(
            st.just(c),
            hnp.arrays(np.float64, sum(c), elements=st.floats(-1e3, 1e3, allow_subnormal=False)),
            hnp.arrays(np.bool_, sum(c)),
        )
    ),
    st.sampled_from(KINDS),
)
@settings(max_examples=10)  # every length compiles anew
def test_sum_and_prod_of_any_lists(case, kind):
    counts, data, live = case
    segments, order = make(counts, kind)
    kept = keep(data, counts, live)
    got = segment_sum(data[order], segments, live[order])
    np.testing.assert_allclose(got, np.asarray(ak.sum(kept, axis=1)), rtol=1e-12, atol=1e-9)
    got = segment_prod(data[order], segments, live[order])
    tiny = np.finfo(float).tiny  # what is smaller is zero to XLA
    np.testing.assert_allclose(got, np.asarray(ak.prod(kept, axis=1)), rtol=1e-12, atol=tiny)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("counts", COUNTS)
def test_count(kind, counts):
    segments, order = make(counts, kind)
    got = segment_count(segments)
    assert isinstance(got, np.ndarray) == ("static" in kind)
    np.testing.assert_array_equal(got, counts)
    live = np.arange(sum(counts)) % 2 == 0
    want = np.asarray(ak.num(keep(live, counts, live)))
    np.testing.assert_array_equal(segment_count(segments, live[order]), want)
    assert segment_count(segments, dtype=np.int32).dtype == np.int32


@pytest.mark.parametrize("kind", KINDS)
def test_inner_dimensions(kind):
    counts = [2, 0, 3]
    segments, order = make(counts, kind)
    data = np.random.default_rng(0).normal(size=(5, 2, 3))
    live = np.array([True, False, True, True, True])
    for kernel, oracle in ((segment_sum, np.sum), (segment_prod, np.prod), (segment_any, np.any)):
        parts = [data[:1], data[2:2], data[2:]]
        want = np.stack([oracle(p, axis=0) for p in parts])
        np.testing.assert_allclose(kernel(data[order], segments, live[order]), want)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("kernel", [segment_sum, segment_prod])
def test_gradients(kernel, counts, kind):
    segments, order = make(counts, kind)
    data = np.random.default_rng(2).uniform(0.5, 1.5, sum(counts))[order]
    live = (np.arange(sum(counts)) % 4 != 1)[order]
    check_grads(jax.jit(lambda x: kernel(x, segments, live)), (data,), 2, modes=("fwd", "rev"))
    check_grads(jax.jit(lambda x: kernel(x, segments)), (data[:, None] * [1, 2],), 2, modes=("fwd", "rev"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_of_products_with_zeros(kind):
    counts = [2, 3, 0, 4]
    segments, order = make(counts, kind)
    data = np.array([0.0, 3.0, 0.0, 0.0, 5.0, 1.0, 0.0, 2.0, 4.0])
    back = np.argsort(order)

    def total(x):
        return jnp.sum(segment_prod(x, segments))

    got = jax.grad(total)(data[order])[back]
    np.testing.assert_array_equal(got, [3, 0, 0, 0, 0, 0, 8, 0, 0])
    hessian = jax.jit(jax.hessian(total))(data[order])[back][:, back]
    assert hessian[0, 1] == 1
    assert hessian[2, 3] == 5  # two zeros: only their mixed derivative is left
    assert (hessian[6, 5], hessian[6, 7], hessian[5, 7]) == (8, 4, 0)
    third = jax.jit(jax.jacfwd(jax.hessian(total)))(data[order])
    assert third[back][:, back][:, :, back][2, 3, 4] == 1


def test_traced_segments_that_start_at_known_places_are_counted_by_these():
    def count(starts, parents):
        return segment_count(Segments(parents, 4, starts=starts))

    starts, parents = np.array([0, 2, 2, 5]), np.array([0, 0, 2, 2, 2, 3])
    np.testing.assert_array_equal(jax.jit(count)(starts, parents), [2, 0, 3, 1])
    assert "scatter" not in str(jax.make_jaxpr(count)(starts, parents))


def test_bounded_traced_segments_are_summed_at_once():
    """No list is long enough for partial sums, but for the last one, which stands for nothing."""
    counts = np.array([500, 0, 512, 3000])
    parents = np.repeat(np.arange(4), counts)
    data = np.random.default_rng(0).random(parents.size).astype(np.float32)

    def total(data, parents):
        return segment_sum(data, Segments(parents, 4, bound=512))

    assert "cond" not in str(jax.make_jaxpr(total)(data, parents))
    np.testing.assert_allclose(jax.jit(total)(data, parents), np.bincount(parents, data), rtol=1e-5)


@pytest.mark.parametrize(("kind", "size"), [("static", 256), ("static", 257), ("traced", 600)])
def test_gradient_of_long_products(kind, size):
    counts = [size, 1, 0, 7]  # static: shifts below the threshold, a scan above it
    segments, _ = make(counts, kind)
    data = np.random.default_rng(0).uniform(0.9, 1.1, sum(counts))
    got = jax.jit(jax.grad(lambda x: segment_prod(x, segments).sum()))(data)
    want = np.concatenate([np.prod(p) / p for p in np.split(data, np.cumsum(counts)[:-1])])
    np.testing.assert_allclose(got, want, rtol=1e-11)


@pytest.mark.slow
def test_infinities_do_not_leak_between_segments():
    segments = Segments(np.array([0, 0, 1, 1]), 2)
    data = np.array([np.inf, 2.0, 3.0, 4.0])
    for s in (segments, Segments(jnp.asarray(segments.parents), 2)):
        grads = jax.grad(lambda x, s=s: segment_prod(x, s)[1])(data)
        np.testing.assert_array_equal(grads[2:], [4, 3])
        twice = jax.jit(jax.jacrev(jax.grad(lambda x, s=s: segment_prod(x, s)[1])))(data)
        assert twice[2, 3] == 1


@pytest.mark.slow
@pytest.mark.parametrize("dead", [0.0, np.nan, np.inf])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", [segment_sum, segment_prod])
def test_dead_slots_have_no_gradient(kernel, kind, dead):
    counts = [2, 0, 2, 1]
    segments, order = make(counts, kind)
    data = jnp.array([2.0, dead, 3.0, 5.0, dead])[order]
    live = np.array([True, False, True, True, False])[order]
    back = np.argsort(order)
    with jax.debug_nans(True):
        value = kernel(data, segments, live)
        grad = jax.grad(lambda x: jnp.sum(kernel(x, segments, live)))(data)[back]
        hessian = jax.hessian(lambda x: jnp.sum(kernel(x, segments, live)))(data)
    np.testing.assert_array_equal(value, [2, 0, 8, 0] if kernel is segment_sum else [2, 1, 15, 1])
    np.testing.assert_array_equal(grad, [1, 0, 1, 1, 0] if kernel is segment_sum else [1, 0, 5, 3, 0])
    assert np.isfinite(hessian).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", [segment_sum, segment_prod, segment_any, segment_count_nonzero])
def test_vmap(kernel, kind):
    counts = [2, 0, 3]
    segments, order = make(counts, kind)
    rng = np.random.default_rng(3)
    data, live = rng.integers(0, 3, (4, 5)).astype(float)[:, order], rng.random((4, 5)) < 0.5
    for axes in ((0, 0), (0, None), (None, 0)):
        a, b = (v if ax == 0 else v[0] for v, ax in zip((data, live), axes, strict=True))
        got = jax.vmap(lambda x, m: kernel(x, segments, m), in_axes=axes)(a, b)
        for k in range(4):
            want = kernel(a[k] if a.ndim == 2 else a, segments, b[k] if b.ndim == 2 else b)
            np.testing.assert_array_equal(got[k], want)
    if kernel in (segment_sum, segment_prod):
        grads = jax.vmap(jax.grad(lambda x, m: kernel(x, segments, m).sum()))(data, live)
        assert grads.shape == data.shape


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [segment_sum, segment_prod, segment_count_nonzero])
def test_vmap_over_traced_parents(kernel):
    parents = jnp.array([[0, 0, 1, 2], [0, 1, 1, 1]])
    data = jnp.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])

    def total(x, p):
        return kernel(x, Segments(p, 3))

    got = jax.jit(jax.vmap(total))(data, parents)
    np.testing.assert_array_equal(got, [total(x, p) for x, p in zip(data, parents, strict=True)])
    if kernel is not segment_count_nonzero:
        jacobian = jax.vmap(jax.jacrev(total))(data, parents)
        np.testing.assert_array_equal(jacobian[1], jax.jacfwd(total)(data[1], parents[1]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_float32_sums_do_not_saturate(kind):
    n = 20_000_000  # added one by one, ones would stop at 2^24 = 16_777_216
    counts = [10, n, 5]
    parents = np.repeat(np.arange(3, dtype=np.int32), counts)
    if "unsorted" in kind:
        parents = np.roll(parents, 7)
    chosen = parents if "static" in kind else jnp.asarray(parents)
    segments = Segments(chosen, 3, sorted="unsorted" not in kind)
    got = jax.jit(lambda x: segment_sum(x, segments))(jnp.ones(parents.size, dtype=np.float32))
    np.testing.assert_array_equal(got, np.asarray(counts, dtype=np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_partial_sums(kind):
    counts = [3, 900, 0, 2049, 1, 5000, 0]
    segments, order = make(counts, kind)
    data = np.random.default_rng(0).uniform(size=(sum(counts), 2)).astype(np.float32)
    want = [p.sum(axis=0, dtype=np.float64) for p in np.split(data, np.cumsum(counts)[:-1])]
    got = jax.jit(lambda x: segment_sum(x, segments))(data[order])
    np.testing.assert_allclose(got, want, rtol=1e-5)
    grads = jax.grad(lambda x: segment_sum(x, segments)[1, 0])(data[order])
    want = np.zeros_like(data)
    want[3:903, 0] = 1
    np.testing.assert_array_equal(grads[np.argsort(order)], want)
    alive = data[:, 0] < 0.5
    got = jax.vmap(lambda m: segment_sum(data[order], segments, m))(np.stack([alive, ~alive])[:, order])
    np.testing.assert_allclose(got.sum(axis=0), segment_sum(data[order], segments), rtol=1e-5)


def test_without_x64():
    segments = Segments(np.array([0, 0, 1]), 2)
    with x64_off(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert segment_sum(np.array([1, 2, 3]), segments).dtype == np.int32
        assert segment_prod(np.array([1, 2, 3], dtype=np.uint8), segments).dtype == np.uint32
        assert segment_count(segments).dtype == np.int32
        assert segment_count_nonzero(np.array([1.0, 2.0, 0.0]), segments).dtype == np.int32


def test_half_precision_accumulates_in_single():
    x = jnp.ones(5000, dtype=jnp.bfloat16)  # bfloat16 alone would stop at 256
    got = segment_sum(x, Segments(np.repeat([0, 1], 2500), 2))
    assert got.dtype == jnp.bfloat16
    np.testing.assert_array_equal(got.astype(np.float32), np.float32(jnp.bfloat16(2500)))


def test_parents_out_of_range():
    with pytest.raises(ValueError, match="2 segments"):
        Segments(np.array([0, 2]), 2)
    with pytest.raises(ValueError, match="between -1 and 1"):
        Segments(np.array([1, -1]), 2, sorted=False)


def test_regular_is_detected():
    assert Segments(np.repeat(np.arange(5), 3), 5).regular_size == 3
    assert Segments(np.array([0, 0, 0, 1]), 2).regular_size is None
    assert Segments(np.array([0, 0, 1, 1, 1, 3, 3, 3]), 4).regular_size is None
    assert Segments(np.array([0, 1, 0, 1]), 2, sorted=False).regular_size is None
    probed = np.repeat(np.arange(1000), 2)
    probed[61] = 31  # between the probes
    assert Segments(probed, 1000).regular_size is None


@pytest.mark.parametrize("counts", [[], [0, 0], [1, 0, 2], [20, 0, 30], [0, 100, 0, 0, 1], [0]])
def test_counts_of_known_segments(counts):
    parents = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    segments = Segments(parents, len(counts))
    assert segments.counts.tolist() == counts
    assert segments.longest == max(counts, default=0)
    if parents.size:
        assert Segments(parents[::-1], len(counts), sorted=False).counts.tolist() == counts


@pytest.mark.parametrize("longest", [127, 128, 32767, 32768])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kernel", [segment_count_nonzero, segment_sum, segment_any, segment_all])
def test_counts_of_many_do_not_wrap(kernel, traced, longest):
    """Small integers count them where no segment is longer than they reach."""
    counts = np.array([longest, 0, 1, 2 * 65536, 3] if longest > 32767 else [longest, 0, 1] + [longest] * 600)
    parents = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    true = np.ones(len(parents), bool)
    bound = int(counts.max())

    def reduced(truth, parents):
        return kernel(truth, Segments(parents, len(counts), bound=bound if traced else None))

    found = jax.jit(reduced)(true, parents) if traced else jax.jit(lambda truth: reduced(truth, parents))(true)
    expected = {segment_any: counts > 0, segment_all: np.ones(len(counts), bool)}.get(kernel, counts)
    np.testing.assert_array_equal(found, expected)


def test_counts_of_many_without_memory_for_words():
    """Neither the elements nor the segments take four bytes each."""
    parents = jnp.repeat(jnp.arange(40_000, dtype=np.int32), 2)
    program = jax.jit(lambda x, parents: segment_count_nonzero(x, Segments(parents, 40_000, bound=2)) > 1)
    memory = program.lower(jnp.ones(80_000, np.float32), parents).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 4 * 80_000
