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
MANY = 2000
"""Of fewer numbers the C library takes the remainders."""


def many(x):
    return jnp.asarray(np.resize(x, MANY))


@given(st.data(), FLOATS, st.floats(0.5, 8.0, width=32), st.booleans())
def test_near(data, dtype, size, negative):
    """Numbers up to twice the divisor, and next to it and to its multiples."""
    y = dtype(-size if negative else size)
    width = np.dtype(dtype).itemsize * 8
    most = float(np.nextafter(2 * abs(y), 0))
    x = data.draw(hnp.arrays(dtype, 8, elements=st.floats(-most, most, width=width, allow_subnormal=False)))
    edges = np.array([size, -size, 0, np.nextafter(dtype(size), dtype(0)), np.nan, most, -0.0], dtype)
    every = many(np.concatenate([x, edges]))
    with np.errstate(all="ignore"):
        assert np.array_equal(rem(every, jnp.asarray(y)), np.fmod(every, y), equal_nan=True)
        assert np.array_equal(remainder(every, jnp.asarray(y)), np.remainder(every, y), equal_nan=True)


@given(st.data(), FLOATS)
def test_any(data, dtype):
    width = np.dtype(dtype).itemsize * 8
    numbers = hnp.arrays(dtype, 5, elements=st.floats(-1e6, 1e6, width=width, allow_subnormal=False))
    x, y = many(data.draw(numbers)), many(data.draw(numbers))
    assert np.array_equal(rem(x, y), lax.rem(x, y), equal_nan=True)
    assert np.array_equal(remainder(x, y), jnp.remainder(x, y), equal_nan=True)


def same(one, other):
    """To the last bit and the sign of zero, where a result is no subnormal number."""
    least = np.finfo(other.dtype).tiny
    hidden = (np.abs(other) < least) & (np.abs(one) < least)
    return bool(
        np.all(hidden | np.isnan(one) & np.isnan(other) | (one == other) & (np.signbit(one) == np.signbit(other)))
    )


DIVISORS = [
    *(2 * np.pi, -2 * np.pi, np.pi, 1.0, 0.1, 360.0, np.nextafter(np.float32(2), np.float32(0)), 2.0**23, 2.0**24 - 1),
    *(1e-37, 2.0**-100, np.nextafter(np.float32(2.0**-100), np.float32(0)), 1e-12, 1e12, 1e38, 2.0**127, 3.4e38),
]


@pytest.mark.parametrize("known", [True, False], ids=["known", "traced"])
@pytest.mark.parametrize("y", DIVISORS)
def test_one_divisor_of_32_bits(y, known):
    """Numbers of all sizes, and those next to halves of multiples, which quotients are rounded at."""
    rng, y = np.random.default_rng(0), np.float32(y)
    bits = rng.integers(0, 2**32, 100_000, dtype=np.uint32)
    with np.errstate(all="ignore"):
        size = 2.0 ** rng.uniform(0, 25, 20_000)
        halves = (np.round(size) / 2 * float(y)).astype(np.float32)
        large = (rng.integers(1, 9, 1000) * 2.0 ** rng.integers(-1, 200, 1000) * float(y)).astype(np.float32)
        edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, y, -y, 2 * y, np.finfo(np.float32).max], np.float32)
        beside = [np.nextafter(halves, np.float32(to)) for to in (-np.inf, np.inf)]
        x = np.concatenate([bits.view(np.float32), halves, *beside, large, edges])
        x = x[~(np.abs(x) < np.finfo(np.float32).tiny) | (x == 0)]
        found = jax.jit(lambda x: rem(x, jnp.asarray(y)))(x) if known else jax.jit(rem)(x, y)
        assert same(np.asarray(found), np.fmod(x, y))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("y", [np.nan, 0.0, np.inf, -np.inf])
def test_divisors_that_are_none(y, dtype):
    x = np.resize(np.array([1.0, -0.0, np.nan, np.inf, 1e30], dtype), MANY)
    with np.errstate(all="ignore"):
        assert np.array_equal(rem(jnp.asarray(x), jnp.asarray(y, dtype)), np.fmod(x, dtype(y)), equal_nan=True)


def test_integers():
    assert remainder(jnp.array([7, -7]), jnp.array(3)).tolist() == [1, 2]


@pytest.mark.parametrize("size", [3, MANY])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("x", [[0.5, -1.5, 3.0], [0.5, 40.0, -17.0]])
def test_gradient(x, dtype, size):
    x, y = jnp.asarray(np.resize(x, size), dtype), jnp.asarray(1.9, dtype)
    both = lambda x, y: rem(x, y) + remainder(x, y)  # noqa: E731
    check_grads(both, (x, y), order=2, atol=0.02, rtol=0.02)
    check_grads(lambda x: both(x, y), (x,), order=2, atol=0.02, rtol=0.02)
    several = jnp.asarray([1.9, 0.7], dtype)
    expected = np.fmod(np.asarray(x), np.asarray(several)[:, None])
    assert same(jax.vmap(lambda y: rem(x, y))(several), expected)
    one = jax.vmap(lambda x: remainder(x, jnp.broadcast_to(y, x.shape)))(jnp.array([x, x]))
    assert one.shape == (2, size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_of_many(dtype):
    x, y = many(np.array([0.5, 40.8, -16.2, 3.0], dtype)), jnp.asarray(1.9, dtype)

    def f(x, y):
        return (rem(x, y) + remainder(x, y))[:4]

    check_grads(f, (x, y), order=2, rtol=1e-2, eps=1e-2)
    check_grads(lambda y: f(x, y), (y,), order=2, rtol=1e-2, eps=1e-2)
    assert jax.grad(lambda x: f(x, y).sum())(x)[:5].tolist() == [2, 2, 2, 2, 0]


def test_many_by_vmap():
    x, y = many(np.float32([0.5, 40.0, -17.0])), np.float32([1.9, -3.0])
    rows = jax.vmap(remainder, (None, 0))(x, jnp.asarray(y))
    assert np.array_equal(rows, np.remainder(np.asarray(x), y[:, None]))
    rows = jax.vmap(remainder, (0, None))(jnp.stack([x, 2 * x]), jnp.asarray(y[0]))
    assert np.array_equal(rows, np.remainder(np.stack([x, 2 * x]), y[0]))
