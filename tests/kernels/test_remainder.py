"""Remainders of floats, to the last bit. XLA takes subnormal numbers for zero."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jax import lax
from jax.test_util import check_grads

from akjax.kernels.remainder import rem, remainder

jax.config.update("jax_enable_x64", True)

FLOATS = st.sampled_from([np.float32, np.float64])


@given(st.data(), FLOATS, st.floats(0.5, 8.0, width=32), st.booleans())
def test_near(data, dtype, size, negative):
    """Numbers up to twice the divisor, and next to it and to its multiples."""
    y = dtype(-size if negative else size)
    width = np.dtype(dtype).itemsize * 8
    most = float(np.nextafter(2 * abs(y), 0))
    x = data.draw(hnp.arrays(dtype, 8, elements=st.floats(-most, most, width=width, allow_subnormal=False)))
    edges = np.array([size, -size, 0, np.nextafter(dtype(size), dtype(0)), np.nan, most, -0.0], dtype)
    every = np.concatenate([x, edges])
    with np.errstate(all="ignore"):
        assert np.array_equal(rem(jnp.asarray(every), jnp.asarray(y)), np.fmod(every, y), equal_nan=True)
        assert np.array_equal(remainder(jnp.asarray(every), jnp.asarray(y)), np.remainder(every, y), equal_nan=True)


@given(st.data(), FLOATS)
def test_any(data, dtype):
    width = np.dtype(dtype).itemsize * 8
    numbers = hnp.arrays(dtype, 5, elements=st.floats(-1e6, 1e6, width=width, allow_subnormal=False))
    x, y = data.draw(numbers), data.draw(numbers)
    assert np.array_equal(rem(jnp.asarray(x), jnp.asarray(y)), lax.rem(x, y), equal_nan=True)
    expected = jnp.remainder(jnp.asarray(x), jnp.asarray(y))
    assert np.array_equal(remainder(jnp.asarray(x), jnp.asarray(y)), expected, equal_nan=True)


@pytest.mark.parametrize("y", [np.nan, 0.0, np.inf, -np.inf])
def test_divisors_that_are_none(y):
    x = np.array([1.0, -0.0, np.nan, np.inf])
    with np.errstate(all="ignore"):
        assert np.array_equal(rem(jnp.asarray(x), jnp.asarray(y)), np.fmod(x, y), equal_nan=True)


def test_integers():
    assert remainder(jnp.array([7, -7]), jnp.array(3)).tolist() == [1, 2]


@pytest.mark.parametrize("x", [[0.5, -1.5, 3.0], [0.5, 40.0, -17.0]])
def test_gradient(x):
    check_grads(lambda x, y: rem(x, y) + remainder(x, y), (jnp.array(x), jnp.array(1.9)), order=2)
    one = jax.vmap(lambda x: remainder(x, jnp.broadcast_to(1.9, x.shape)))(jnp.array([x, x]))
    assert one.shape == (2, 3)
