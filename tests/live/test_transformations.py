"""Arrays selected by traced conditions through JAX's transformations."""

from __future__ import annotations

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from oracle import plain, same

pytestmark = pytest.mark.skipif(not jax.config.jax_enable_x64, reason="compares in 64 bits")

x = ak.Array([[1.5, 2.0, 3.0], [], [4.0, 0.5], [6.0], [0.7, 0.9]])
rec = ak.zip({"pt": x, "eta": x * 0.5})
ones = ak.ones_like(x)
THRESHOLDS = [0.0, 1.0, 2.0, 100.0]


def square(a: ak.Array) -> ak.Array:
    return a[a > 1] ** 2


def test_jvp() -> None:
    value, tangent = jax.jvp(square, (x,), (ones,))
    assert plain(value) == plain(square(x))
    assert plain(tangent) == plain(2 * x[x > 1])
    value, tangent = jax.jit(lambda a, t: jax.jvp(square, (a,), (t,)))(x, ones)
    assert plain(value) == plain(square(x))
    # a tangent inside jit lives on the envelope, zero where there is nothing
    assert plain(tangent) == plain(ak.where(x > 1, 2 * x, 0.0))


def test_vjp() -> None:
    value, back = jax.vjp(jax.jit(square), x)
    assert plain(value) == plain(square(x))
    (cotangent,) = back(jax.tree.map(jnp.ones_like, value))
    assert plain(cotangent) == plain(ak.where(x > 1, 2 * x, 0.0))


def test_linearize() -> None:
    value, linear = jax.linearize(square, x)
    assert plain(value) == plain(square(x))
    assert plain(linear(ones)) == plain(2 * x[x > 1])


@pytest.mark.parametrize(
    ("f", "derivative"),
    [
        (lambda s: (x * s)[x * s > 1], x[x * 2 > 1]),
        (lambda s: ak.sum((x * s)[x * s > 1], axis=1), ak.sum(x[x * 2 > 1], axis=1)),
        (lambda s: ak.max((x * s)[x * s > 1], axis=1), ak.max(x[x * 2 > 1], axis=1)),
        (lambda s: (x * s)[ak.any(x * s > 3, axis=1)], x[ak.any(x * 2 > 3, axis=1)]),
        (lambda s: ak.flatten((x * s)[x * s > 1]), ak.flatten(x[x * 2 > 1])),
    ],
)
def test_jacobians(f, derivative) -> None:
    want = plain(derivative)
    same(plain(jax.jacfwd(f)(2.0)), want)
    same(plain(jax.jacrev(f)(2.0)), want)
    same(plain(jax.hessian(lambda s: f(s) * s)(2.0)), plain(2 * derivative))


def test_auxiliary_results() -> None:
    def f(scale: float, a: ak.Array) -> tuple[jax.Array, ak.Array]:
        good = a[a > 1]
        return ak.sum(good * scale), good

    for argnums in (0, 1):
        for g in (jax.value_and_grad(f, argnums, has_aux=True), jax.grad(f, argnums, has_aux=True)):
            for h in (g, jax.jit(g)):
                first, second = h(2.0, x)
                aux = first[1] if isinstance(first, tuple) else second
                assert plain(aux) == plain(x[x > 1])


def test_inner_jit() -> None:
    select = jax.jit(lambda a: a[a.pt > 1])

    def f(a: ak.Array) -> ak.Array:
        good = select(a)
        return good.pt * good.eta

    assert plain(jax.jit(f)(rec)) == plain((rec.pt * rec.eta)[rec.pt > 1])
    assert plain(f(rec)) == plain((rec.pt * rec.eta)[rec.pt > 1])


def test_a_result_is_an_argument_again() -> None:
    select = jax.jit(lambda a: a[a.pt > 1])
    good = select(rec)
    assert plain(select(good)) == plain(rec[rec.pt > 1])  # never looked at in between
    assert plain(jax.jit(lambda g: g.pt * g.eta)(good)) == plain((rec.pt * rec.eta)[rec.pt > 1])
    assert plain(good) == plain(rec[rec.pt > 1])


def test_cond() -> None:
    @jax.jit
    def f(a: ak.Array, s: float) -> ak.Array:
        good = a[a > 1]
        return lax.cond(s > 0, lambda g: g[g > 2] * 2, lambda g: (g * g)[g < 3], good)

    assert plain(f(x, 1.0)) == plain(x[x > 2] * 2)
    assert plain(f(x, -1.0)) == plain((x * x)[(x > 1) & (x < 3)])


def test_scan() -> None:
    def collect(a: ak.Array) -> tuple[object, ...]:
        def body(carry: ak.Array, t: jax.Array) -> tuple[object, ...]:
            return carry * (t + 1), (ak.num(a[a > t]), a[a > t], ak.max(carry, axis=1))

        return lax.scan(body, a[a > 1], jnp.array([0.0, 1.0, 2.0]))

    carry, (numbers, stacked, largest) = jax.jit(collect)(x)
    assert plain(carry) == plain(x[x > 1] * 6)
    assert plain(numbers) == [plain(ak.num(x[x > t])) for t in (0, 1, 2)]
    assert plain(stacked) == [plain(x[x > t]) for t in (0, 1, 2)]
    assert plain(largest) == [plain(ak.max(x[x > 1] * k, axis=1)) for k in (1, 1, 2)]


def test_loops() -> None:
    assert plain(jax.jit(lambda a: lax.fori_loop(0, 3, lambda i, g: g + 1, a[a > 1]))(x)) == plain(x[x > 1] + 3)
    longest = jax.jit(lambda a: lax.while_loop(lambda g: ak.sum(g) < 100, lambda g: g * 2, a[a > 1]))(x)
    assert plain(longest) == plain(x[x > 1] * 8)


def test_checkpoint() -> None:
    def f(s: float, a: ak.Array) -> jax.Array:
        return ak.sum(jax.checkpoint(lambda b: np.sqrt(b[b > 1] * s))(a))

    got = jax.jit(jax.grad(f))(2.0, x)
    assert np.isclose(got, ak.sum(np.sqrt(x[x > 1] / 2) / 2))


@pytest.mark.parametrize(
    "f",
    [
        lambda t, a: a[a > t],
        lambda t, a: ak.num(a[a > t]),
        lambda t, a: ak.num(a[a > t], axis=1) + ak.num(a[a > t], axis=1),
        lambda t, a: ak.sum(a[a > t], axis=1),
        lambda t, a: ak.max(a[a > t], axis=1),
        lambda t, a: ak.argmax(a[a > t], axis=1),
        lambda t, a: ak.std(a[a > t], axis=1),
        lambda t, a: ak.sum(a[a > t]),
        lambda t, a: a[ak.sum(a[a > t], axis=1) > 2],
        lambda t, a: ak.combinations(a[a > t], 2)["0"] * 2,
        lambda t, a: ak.firsts(a[a > t]),
        lambda t, a: a[a > t][:, :1],
        lambda t, a: ak.flatten(a[a > t]),
        lambda t, a: ak.fill_none(ak.max(a[a > t], axis=1), -1.0),
    ],
)
def test_vmap_over_thresholds(f) -> None:
    got = jax.jit(jax.vmap(f, in_axes=(0, None)))(jnp.array(THRESHOLDS), x)
    same(plain(got), [plain(f(t, x)) for t in THRESHOLDS])


def test_thresholds_have_no_gradient() -> None:
    def f(t: jax.Array, a: ak.Array) -> jax.Array:
        return ak.sum(a[a > t] ** 2)

    assert jax.grad(f)(1.0, x) == 0
    assert not np.any(jax.vmap(jax.grad(f), in_axes=(0, None))(jnp.array(THRESHOLDS), x))
    by_array = jax.vmap(jax.grad(f, argnums=1), in_axes=(0, None))(jnp.array(THRESHOLDS), x)
    assert plain(by_array) == [plain(ak.where(x > t, 2 * x, 0.0)) for t in THRESHOLDS]


def test_custom_rules() -> None:
    @jax.custom_jvp
    def twice(a: ak.Array) -> ak.Array:
        return a * 2

    twice.defjvp(lambda primals, tangents: (twice(primals[0]), jax.tree.map(lambda t: t * 2, tangents[0])))

    @jax.custom_vjp
    def thrice(a: ak.Array) -> ak.Array:
        return a * 3

    thrice.defvjp(lambda a: (thrice(a), None), lambda _, g: (jax.tree.map(lambda t: t * 3, g),))
    for f, factor in ((twice, 2.0), (thrice, 3.0)):
        got = jax.jit(jax.grad(lambda a, f=f: ak.sum(f(a[a > 1]))))(x)
        assert plain(got) == plain(ak.where(x > 1, factor, 0.0))
