from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.test_util import check_grads

from akjax.kernels._index import facts_of
from akjax.kernels.gather import take, take_mask

from . import cases  # noqa: F401  (switches 64-bit types on)

INDICES = {
    "contiguous": [2, 3, 4],
    "whole": [0, 1, 2, 3, 4, 5],
    "rising": [0, 2, 5],
    "repeated": [1, 1, 4, 4],
    "any": [5, 0, 3, 0],
    "one": [3],
    "none": [],
}


def jaxpr_of(index, **options) -> str:
    return str(jax.make_jaxpr(lambda x: take(x, index, **options))(jnp.arange(6.0)))


@given(st.lists(st.integers(0, 5), max_size=10), st.sampled_from([(), (2,)]), st.booleans(), st.booleans())
@settings(max_examples=20)
def test_as_numpy(index, inner, static, barrier):
    data = np.arange(6.0 * np.prod(inner, dtype=int)).reshape(6, *inner)
    ix = np.array(index, dtype=np.int64)
    got = jax.jit(lambda x, i: take(x, ix if static else i, barrier=barrier))(data, ix)
    np.testing.assert_array_equal(got, data[ix])


@pytest.mark.slow
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("barrier", [True, False])
def test_gradients_and_vmap(index, static, barrier):
    ix = np.array(index, dtype=np.int64)
    ix = ix if static else jnp.asarray(ix)
    data = np.random.default_rng(0).normal(size=(6, 2))

    def f(x):
        return jnp.sin(take(jnp.cos(x), ix, barrier=barrier))

    check_grads(f, (data,), 2, modes=("fwd", "rev"))
    check_grads(jax.jit(f), (data,), 2, modes=("fwd", "rev"))
    batch = np.stack([data, data + 1])
    np.testing.assert_allclose(jax.vmap(f)(batch), [f(b) for b in batch])
    rows = jax.vmap(jax.grad(lambda x: f(x).sum()))(batch)
    np.testing.assert_allclose(rows[1], jax.grad(lambda x: f(x).sum())(batch[1]))


def test_numpy_stays_numpy():
    got = take(np.arange(3.0), np.array([2, 0]))
    assert isinstance(got, np.ndarray)
    np.testing.assert_array_equal(got, [2, 0])


@pytest.mark.parametrize("index", [np.array([2, 0, 2]), jnp.array([1, 1, 0])])
@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray])
def test_masks(kind, index):
    mask = np.array([0.0, 1.0, 0.0], np.float32)
    found = take_mask(kind(mask), index)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, mask[np.asarray(index)])


def test_a_whole_mask_is_the_same_one():
    mask = jnp.array([0.0, 1.0, 0.0])
    assert take_mask(mask, np.arange(3)) is mask


def test_hints():
    assert "slice" in jaxpr_of(np.array([2, 3]))
    assert "gather" not in jaxpr_of(np.array([2, 3]))
    rising, repeated, other = (jaxpr_of(np.array(i)) for i in ([0, 2, 5], [1, 1, 4], [5, 0]))
    assert "indices_are_sorted=True" in rising
    assert "unique_indices=True" in rising
    assert "indices_are_sorted=True" in repeated
    assert "unique_indices=False" in repeated
    assert "indices_are_sorted=False" in other
    assert all("PROMISE_IN_BOUNDS" in text and "i32[" in text for text in (rising, repeated, other))
    assert "scatter-add" in jaxpr_of(np.array([5, 0]), barrier=True)
    assert "scatter" not in other


def test_out_of_bounds():
    data = jnp.array([1.0, 2.0])
    for bad in ([0, 2], [-1, 0]):
        with pytest.raises(IndexError, match="2 rows"):
            take(data, np.array(bad))
    np.testing.assert_array_equal(take(data, np.array([0, 2]), in_bounds=False), [1, np.nan])
    np.testing.assert_array_equal(take(data, jnp.array([0, 2]), in_bounds=False), [1, np.nan])
    grad = jax.grad(lambda x: jnp.nansum(take(x, np.array([0, 2]), in_bounds=False)))(data)
    np.testing.assert_array_equal(grad, [1, 0])


def test_empty_buffer():
    empty = jnp.zeros((0, 2))
    assert take(empty, np.zeros(0, dtype=np.int64)).shape == (0, 2)
    assert take(empty, jnp.zeros(0, dtype=np.int32)).shape == (0, 2)
    with pytest.raises(IndexError, match="0 rows"):
        take(empty, np.array([0]))
    with pytest.raises(IndexError, match="empty"):
        take(empty, jnp.array([0]))
    for index in (np.array([0, 1]), jnp.array([0, 1])):
        np.testing.assert_array_equal(take(empty, index, in_bounds=False), np.full((2, 2), np.nan))


@pytest.mark.parametrize("size", [1, 2, 100, 40_000])
def test_facts(size):
    """Also of an index longer than what is looked at at a time."""
    rising = np.arange(size)
    assert facts_of(rising)[1:] == (0, size - 1, True, True, True)
    if size > 1:
        assert facts_of(rising[::-1])[1:] == (0, size - 1, False, False, False)
        for at in {1, size // 2, size - 1}:
            again = rising.copy()
            again[at] -= 1
            assert facts_of(again)[3:] == (False, True, False)
            gap = rising.copy()
            gap[at:] += 1
            assert facts_of(gap)[1:] == (0, size, False, True, True)
            falls = rising.copy()
            falls[at] = -1
            assert facts_of(falls)[1:] == (-1, max(size - 2, 0) if at == size - 1 else size - 1, False, False, False)
