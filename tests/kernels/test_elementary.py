"""Elementary functions of many numbers: to a few units in the last place, and NumPy's answers at the edges."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from akjax.kernels import elementary

jax.config.update("jax_enable_x64", True)

MANY = 5000
RNG = np.random.default_rng(0)
# for each dtype one that has more digits
EXACT = {np.float32: np.float64, np.float64: np.longdouble}
# units in the last place
ALLOWED = {np.sin: 2, np.cos: 2, np.arctan: 3, np.arctan2: 3, np.sinh: 6}


def arguments(ufunc, dtype, scale):
    x = RNG.uniform(-scale, scale, (ufunc.nin, MANY)).astype(dtype)
    if ufunc is np.arctan2:
        x[1] = RNG.normal(size=MANY)
    elif ufunc in (np.sin, np.cos):  # and next to where they are 0, and 1
        quarters = np.arange(-50, 50) * np.longdouble(np.pi) / 2
        x[0, :100] = quarters[abs(quarters) <= max(scale, 100)].astype(dtype)
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-3, 0.4, 1.0, 4.0, 80.0, 1000.0])
@pytest.mark.parametrize("ufunc", elementary.FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_units_in_the_last_place(ufunc, scale, dtype):
    if np.finfo(EXACT[dtype]).eps == np.finfo(dtype).eps:
        pytest.skip("there is no dtype with more digits on this machine")
    x = arguments(ufunc, dtype, min(scale, 80.0) if ufunc is np.sinh else scale)
    expected = ufunc(*x.astype(EXACT[dtype]))
    found = np.asarray(jax.jit(elementary.FUNCTIONS[ufunc])(*x))
    assert found.dtype == dtype
    unit = np.spacing(abs(expected).astype(dtype)).astype(EXACT[dtype])
    assert (abs(found.astype(EXACT[dtype]) - expected) / unit).max() < ALLOWED[ufunc]


EDGES = np.array([0.0, -0.0, 1.0, -1.0, 3.0, -1e-30, 1e30, -1e30, 2000.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ufunc", elementary.FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("edges", [EDGES, EDGES[~(abs(EDGES) > 1000)]], ids=["all", "small"])
def test_edges(ufunc, dtype, edges):
    """Zeros with their signs, infinities, NaN, and numbers that are too large for the short way."""
    values = np.stack([part.ravel() for part in np.meshgrid(*[edges] * ufunc.nin)]).astype(dtype)
    x = np.tile(values, -(-MANY // values.shape[1]))
    with np.errstate(all="ignore"):
        expected = ufunc(*x)
    found = np.asarray(elementary.FUNCTIONS[ufunc](*map(jnp.asarray, x)))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    real = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found)[real], np.signbit(expected)[real])


@pytest.mark.parametrize(("dtype", "tiny"), [(np.float32, 1e-40), (np.float64, 1e-310)])
def test_direction_of_subnormal_numbers(dtype, tiny):
    """They count as zero in sums and products, and not where there is nothing else."""
    y, zero = np.full(MANY, tiny, dtype), np.zeros(MANY, dtype)
    np.testing.assert_allclose(elementary.arctan2(jnp.asarray(y), jnp.asarray(zero)), np.pi / 2, rtol=1e-6)
    np.testing.assert_allclose(elementary.arctan2(jnp.asarray(-y), jnp.asarray(-zero)), -np.pi / 2, rtol=1e-6)


@pytest.mark.parametrize("largest", [3.0, 5000.0])
@pytest.mark.parametrize("ufunc", elementary.FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_derivatives(ufunc, largest):
    """Also where one number is too large for the short way."""
    x = RNG.uniform(0.3, 3.0, (ufunc.nin, 1100))
    if ufunc is not np.sinh:
        x[:, 7] = largest
    check_grads(elementary.FUNCTIONS[ufunc], tuple(x), order=2, modes=["fwd", "rev"])


@pytest.mark.parametrize("ufunc", elementary.FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_mapped(ufunc):
    x = RNG.uniform(-3.0, 3.0, (ufunc.nin, 3, MANY))
    found = jax.jit(jax.vmap(elementary.FUNCTIONS[ufunc]))(*x)
    np.testing.assert_allclose(found, ufunc(*x), rtol=1e-12, atol=1e-15)
    inside = jax.jit(lambda *y: jax.vmap(lambda k: elementary.FUNCTIONS[ufunc](*(one * k for one in y)))(jnp.ones(2)))
    np.testing.assert_allclose(inside(*x[:, 0])[1], ufunc(*x[:, 0]), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("x", [np.float32(0.5), np.ones(3), np.ones(MANY, np.complex64), np.ones(MANY, np.float16)])
@pytest.mark.parametrize("ufunc", [np.sin, np.cos, np.arctan, np.sinh], ids=lambda ufunc: ufunc.__name__)
def test_what_is_left_to_jax(ufunc, x):
    found = elementary.FUNCTIONS[ufunc](jnp.asarray(x))
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, ufunc(x), rtol=2e-3)


def test_one_direction_with_many():
    many = jnp.asarray(RNG.normal(size=MANY))
    np.testing.assert_allclose(elementary.arctan2(many, 1.0), np.arctan2(many, 1.0), rtol=1e-12)
    np.testing.assert_allclose(elementary.arctan2(-1.0, many), np.arctan2(-1.0, many), rtol=1e-12)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="the functions are JAX's own there")
@pytest.mark.parametrize("ufunc", elementary.FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
def test_nothing_of_jax_is_computed(ufunc):
    """The C library is not called for numbers that are small enough: what calls it is in another branch, if there."""
    x = [jnp.ones(MANY, np.float32)] * ufunc.nin
    program = jax.jit(elementary.FUNCTIONS[ufunc]).lower(*x).compile().as_text()
    outside = program[program.index("ENTRY") :]
    assert not any(f" {name}(" in outside for name in ("sine", "cosine", "atan2", "sinh", "exponential-minus-one"))
