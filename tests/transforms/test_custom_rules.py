"""Derivative rules of users, of what a selection left and of traced lists."""

from __future__ import annotations

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import akjax

jax.config.update("jax_enable_x64", True)
akjax.register()

X = ak.Array([[1.0, 2.0], [], [3.0], [0.5, 1.5, 1.0], [0.25]])


@jax.custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (cube(x), x), lambda x, g: (akjax.like(3 * x**2 * akjax.like(g, x), x),))


@jax.custom_jvp
def square(x):
    return x**2


square.defjvps(lambda tangent, out, x: akjax.like(2 * x * akjax.like(tangent, x), x))

CALLS = {
    "cube of selected": lambda k, x: ak.sum(cube((k * x)[x > 1])),
    "cube of selected rows": lambda k, x: ak.sum(cube((k * x)[ak.sum(x, axis=1) > 2])),
    "cube of masked": lambda k, x: ak.sum(cube(ak.mask(k * x, x > 1))),
    "cube": lambda k, x: ak.sum(cube(k * x)),
    "cube of a record": lambda k, x: ak.sum(cube(ak.zip({"a": k * x, "b": x})[x > 1].a)),
    "square of selected": lambda k, x: ak.sum(square((k * x)[x > 1])),
    "square of selected rows": lambda k, x: ak.sum(square((k * x)[ak.sum(x, axis=1) > 2])),
}


@pytest.mark.parametrize("name", CALLS)
def test_custom_rules(name):
    function = CALLS[name]
    want = jax.grad(function)(1.2, X)
    assert jnp.isclose(jax.jit(jax.grad(function))(1.2, X), want)
    assert jnp.isclose(jax.jit(jax.grad(lambda k: function(k, X)))(1.2), want)
    check_grads(lambda k: function(k, X), (1.2,), 1, modes=["rev"])


@pytest.mark.parametrize("name", [name for name in CALLS if name.startswith("cube")])
def test_custom_vjp_of_traced_lists(name):
    function = CALLS[name]
    assert jnp.isclose(jax.jit(jax.grad(function))(1.2, akjax.traced(X)), jax.grad(function)(1.2, X))


def test_gradient_of_the_array():
    found = jax.jit(jax.grad(lambda x: ak.sum(cube(x[x > 1]))))(X)
    np.testing.assert_allclose(ak.flatten(found), ak.flatten(ak.where(X > 1, 3 * X**2, 0)))
