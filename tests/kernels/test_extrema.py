from __future__ import annotations

import functools
import itertools

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jax.test_util import check_grads

from akjax.kernels.extrema import segment_argmax, segment_argmin, segment_max, segment_min
from akjax.kernels.segment import Segments

from .cases import CASES, COUNTS, KINDS, keep, lists, make, ranks

VALUES = [(segment_min, ak.min), (segment_max, ak.max)]
ARGUMENTS = [(segment_argmin, ak.argmin), (segment_argmax, ak.argmax)]
NAN, INF = np.nan, np.inf
ALPHABETS = {
    "bool": [True, False],
    "int": [1, 2, -3],
    "float": [NAN, 1.0, -INF, INF, 2.0],
    "complex": [complex(a, b) for a in (NAN, 1, -INF, INF) for b in (NAN, 0, -1, 2)],
}


@functools.cache
def every_list(name: str) -> tuple[list[int], np.ndarray]:
    """All lists of up to three values."""
    found = [t for k in range(4) for t in itertools.product(ALPHABETS[name], repeat=k)]
    return [len(t) for t in found], np.asarray([v for t in found for v in t])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALPHABETS)
def test_every_short_list(name, kind):
    counts, data = every_list(name)
    segments, order = make(counts, kind)
    rank = ranks(counts)[order]
    live = (np.arange(data.size) * 7 % 5 < 3) if name != "complex" else np.ones(data.size, dtype=bool)
    for mask in (None, live):
        kept = keep(data, counts, np.ones(data.size, dtype=bool) if mask is None else mask)
        m = None if mask is None else mask[order]
        for kernel, oracle in VALUES:
            want = np.asarray(oracle(kept, axis=1, mask_identity=False))
            got = jax.jit(lambda x, k=kernel, m=m: k(x, segments, m))(data[order])
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
        for kernel, oracle in ARGUMENTS:
            # a position is the element's slot, so ask eager Awkward where the kept element was
            best = oracle(kept, axis=1, keepdims=True, mask_identity=True)
            slots = keep(ranks(counts), counts, np.ones(data.size, dtype=bool) if mask is None else mask)
            want = ak.to_numpy(ak.fill_none(ak.firsts(slots[best]), -1))
            got = jax.jit(lambda x, k=kernel, m=m: k(x, segments, rank, m))(data[order])
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("few", [0, 1, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("kernel", "oracle"), ARGUMENTS)
def test_long_lists(kernel, oracle, dtype, few, traced):
    """Looked at in blocks: whatever is at the ends of them, ties, and NaN in front, behind and nowhere."""
    rng = np.random.default_rng(few)
    counts = rng.integers(0, 80, 50)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    size = int(offsets[-1])
    data = rng.choice(np.array([-2.0, -0.0, 0.0, 1.0, INF, -INF][few > 1 :], dtype), size)
    data[rng.integers(0, size, few)] = NAN
    parents = np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    def arguments(data, live):
        segments = Segments(parents, len(counts))
        if traced:
            starts = jnp.asarray(offsets[:-1], np.int32)
            segments = Segments(jnp.asarray(parents), len(counts), bound=80, starts=starts)
        return kernel(data, segments, np.arange(size) - offsets[:-1][parents], live)

    for live in (None, rng.random(size) < 0.5):
        slots = keep(np.arange(size) - offsets[:-1][parents], counts, np.ones(size, bool) if live is None else live)
        kept = keep(data, counts, np.ones(size, bool) if live is None else live)
        want = ak.fill_none(ak.firsts(slots[oracle(kept, axis=1, keepdims=True)]), -1)
        np.testing.assert_array_equal(jax.jit(arguments)(data, live), ak.to_numpy(want))


@pytest.mark.parametrize(("counts", "dtype"), CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_dtypes(kind, counts, dtype):
    segments, order = make(counts, kind)
    data = np.random.default_rng(1).integers(0, 4, sum(counts)).astype(dtype)
    for kernel, oracle in VALUES:
        got = kernel(data[order], segments)
        assert got.dtype == dtype
        want = oracle(lists(data, counts), axis=1, mask_identity=False)
        np.testing.assert_array_equal(got, np.asarray(want))
    for kernel, oracle in ARGUMENTS:
        got = kernel(data[order], segments, ranks(counts)[order])
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, np.asarray(oracle(lists(data, counts), axis=1, mask_identity=False)))


@pytest.mark.slow
@given(
    st.lists(st.integers(0, 5), max_size=8).flatmap(
        lambda c: st.tuples(
            st.just(c),
            hnp.arrays(np.float32, sum(c), elements=st.floats(width=32, allow_subnormal=False)),
            hnp.arrays(np.bool_, sum(c)),
        )
    ),
    st.sampled_from(KINDS),
)
@settings(max_examples=10)  # every length compiles anew
def test_any_lists(case, kind):
    counts, data, live = case
    segments, order = make(counts, kind)
    for kernel, oracle in VALUES:
        want = np.asarray(oracle(keep(data, counts, live), axis=1, mask_identity=False))
        np.testing.assert_array_equal(kernel(data[order], segments, live[order]), want)
    for kernel, oracle in ARGUMENTS:
        want = np.asarray(oracle(lists(data, counts), axis=1, mask_identity=False))
        np.testing.assert_array_equal(kernel(data[order], segments, ranks(counts)[order]), want)


@pytest.mark.parametrize("kind", KINDS)
def test_inner_dimensions(kind):
    counts = [2, 0, 3]
    segments, order = make(counts, kind)
    data = np.random.default_rng(0).normal(size=(5, 2, 3))
    for kernel, oracle, empty in ((segment_min, np.min, INF), (segment_max, np.max, -INF)):
        want = np.stack([oracle(data[:2], axis=0), np.full((2, 3), empty), oracle(data[2:], axis=0)])
        np.testing.assert_array_equal(kernel(data[order], segments), want)
    got = segment_argmax(data[order], segments, ranks(counts)[order])
    np.testing.assert_array_equal(got[2], np.argmax(data[2:], axis=0))
    np.testing.assert_array_equal(got[1], -1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("kernel", [segment_min, segment_max])
def test_gradients(kernel, counts, kind):
    segments, order = make(counts, kind)
    data = np.random.default_rng(2).permutation(sum(counts)).astype(float)[order]
    live = (np.arange(sum(counts)) % 4 != 1)[order]

    def finite(x, live=None):  # finite differences of the identity are NaN
        best = kernel(x, segments, live)
        return jnp.where(jnp.isinf(best), 0, best) ** 2

    check_grads(jax.jit(lambda x: finite(x, live)), (data,), 2, modes=("fwd", "rev"))
    check_grads(jax.jit(finite), (data[:, None] * [1, -2],), 2, modes=("fwd", "rev"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("kernel", [segment_min, segment_max])
def test_ties_share(kernel, dtype, kind):
    counts = [3, 0, 2]
    segments, order = make(counts, kind)
    data = np.array([1, 1, 1, 5, 5]).astype(dtype)[order]
    live = np.array([True, False, True, True, True])[order]
    _, pull = jax.vjp(lambda x: kernel(x, segments, live), data)
    (got,) = pull(jnp.ones(3, dtype=dtype))
    np.testing.assert_array_equal(got[np.argsort(order)], [0.5, 0, 0.5, 0.5, 0.5])
    want = jax.grad(jnp.max)(jnp.array([5.0, 5.0]))
    np.testing.assert_array_equal(got[np.argsort(order)][3:].real, want)


def test_gradient_passes_over_nan():
    segments = Segments(np.array([0, 0, 0, 2]), 3)
    data = jnp.array([NAN, 1.0, 0.0, NAN])
    jacobian = jax.jacrev(lambda x: segment_max(x, segments))(data)
    np.testing.assert_array_equal(jacobian, [[0, 1, 0, 0], [0] * 4, [0] * 4])
    first = jax.jvp(lambda x: segment_max(x, segments), (data + 0j,), (jnp.ones(4) + 0j,))[1]
    np.testing.assert_array_equal(first, [1, 0, 1])  # complex keeps the first NaN, and its derivative


@pytest.mark.parametrize("dead", [0.0, NAN, INF, -INF])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", [segment_min, segment_max])
def test_dead_slots(kernel, kind, dead):
    counts = [2, 0, 2, 1]
    segments, order = make(counts, kind)
    data = jnp.array([2.0, dead, 3.0, 5.0, dead])[order]
    live = np.array([True, False, True, True, False])[order]

    def finite(x):
        best = kernel(x, segments, live)
        return jnp.sum(jnp.where(jnp.isinf(best), 0, best) ** 2)

    with jax.debug_nans(True):
        grad = jax.grad(finite)(data)
        hessian = jax.hessian(finite)(data)
    want = [4, 0, 6, 0, 0] if kernel is segment_min else [4, 0, 0, 10, 0]
    np.testing.assert_array_equal(grad[np.argsort(order)], want)
    np.testing.assert_array_equal(hessian, np.diag(np.asarray(grad) != 0) * 2.0)


def test_dead_infinity_does_not_tie():
    segments = Segments(np.array([0, 0]), 1)
    got = jax.grad(lambda x: segment_max(x, segments, jnp.array([False, True]))[0])(jnp.array([-INF, -INF]))
    np.testing.assert_array_equal(got, [0, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_vmap(kind):
    counts = [2, 0, 3]
    segments, order = make(counts, kind)
    rng = np.random.default_rng(3)
    data, live = rng.normal(size=(4, 5))[:, order], rng.random((4, 5)) < 0.5
    rank = ranks(counts)[order]
    for kernel in (segment_min, segment_max, lambda x, s, m: segment_argmax(x, s, rank, m)):
        got = jax.jit(jax.vmap(lambda x, m, k=kernel: k(x, segments, m)))(data, live)
        want = [kernel(x, segments, m) for x, m in zip(data, live, strict=True)]
        np.testing.assert_array_equal(got, want)
    got = jax.vmap(jax.jacrev(lambda x, m: segment_max(x, segments, m)))(data, live)
    want = [jax.jacfwd(lambda x, m=m: segment_max(x, segments, m))(x) for x, m in zip(data, live, strict=True)]
    np.testing.assert_array_equal(got, want)


def test_vmap_over_traced_parents():
    parents = jnp.array([[0, 0, 1, 2], [0, 1, 1, 1]])
    data = jnp.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    jacobian = jax.vmap(jax.jacrev(lambda x, p: segment_max(x, Segments(p, 3))))(data, parents)
    np.testing.assert_array_equal(jacobian[0], [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(jacobian[1], [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])


def test_arguments_have_no_gradient():
    segments = Segments(np.array([0, 0, 1]), 2)
    x = jnp.array([1.0, 2.0, 3.0])
    got = jax.grad(lambda x: jnp.sum(segment_argmax(x, segments, np.array([0, 1, 0])) * 2.0 + x[:2]))(x)
    np.testing.assert_array_equal(got, [1, 1, 0])
