"""`akjax.like` and `akjax.unshare`: gradients with the structure, and in the parts, that one wants."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import pytest
from oracle import plain, same

import akjax

akjax.register()

x = ak.Array([[1.5, 2.0, 3.0], [], [4.0, 0.5], [6.0], [0.7, 0.9]])
rec = ak.zip({"a": x, "n": ak.local_index(x)})


def square(a: ak.Array) -> ak.Array:
    return a[a > 1] ** 2


def total(a: ak.Array) -> Any:
    return ak.sum(square(a))


def test_a_tangent() -> None:
    value, tangent = jax.jit(lambda a: jax.jvp(square, (a,), (ak.ones_like(a),)))(x)
    assert plain(tangent) != plain(2 * x[x > 1])  # on the envelope
    assert plain(akjax.like(tangent, value)) == plain(2 * x[x > 1])


def test_inside_a_program() -> None:
    @jax.jit
    def slopes(a: ak.Array) -> Any:
        value, tangent = jax.jvp(square, (a,), (ak.ones_like(a),))
        same_structure = akjax.like(tangent, value)
        gradient = akjax.like(jax.grad(total)(a), a[a > 1])
        return same_structure, gradient, ak.num(gradient), ak.sum(gradient * a[a > 1])

    tangent, gradient, number, product = slopes(x)
    want = 2 * x[x > 1]
    assert plain(tangent) == plain(gradient) == plain(want)
    assert plain(number) == plain(ak.num(want))
    same(float(product), float(ak.sum(want * x[x > 1])))


def test_rows_and_missing_values() -> None:
    def f(a: ak.Array) -> ak.Array:
        return ak.max(a[a > 1][ak.sum(a, axis=1) > 0.1], axis=1)

    @jax.jit
    def both(a: ak.Array) -> Any:
        value, back = jax.vjp(f, a)
        (cotangent,) = back(jax.tree.map(jnp.ones_like, value))
        value, tangent = jax.jvp(f, (a,), (ak.ones_like(a),))
        return value, akjax.like(tangent, value), akjax.like(cotangent, a[a > 1][ak.sum(a, axis=1) > 0.1])

    value, tangent, cotangent = both(x)
    assert plain(value) == [3.0, 4.0, 6.0, None]
    assert plain(tangent) == [1.0, 1.0, 1.0, None]
    assert plain(cotangent) == [[0.0, 0.0, 1.0], [1.0], [1.0], []]


def test_records_with_integers() -> None:
    def f(r: ak.Array) -> Any:
        return ak.sum(r[r.a > 1].a ** 2)

    @jax.jit
    def slopes(r: ak.Array) -> ak.Array:
        floating, rest = akjax.partition(r)
        gradient = jax.grad(lambda part: f(akjax.combine(part, rest)))(floating)
        return akjax.like(gradient, r[r.a > 1]).a

    assert plain(slopes(rec)) == plain(2 * x[x > 1])


def test_jacobians_and_hessians() -> None:
    def f(s: Any) -> ak.Array:
        return square(x * s)

    want = 2 * 2.0 * x[x * 2 > 1] ** 2
    for derivative in (jax.jacfwd, jax.jacrev):
        same(plain(akjax.like(jax.jit(derivative(f))(2.0), jax.jit(f)(2.0))), plain(want))
    same(plain(akjax.like(jax.jit(jax.hessian(f))(2.0), jax.jit(f)(2.0))), plain(2 * x[x * 2 > 1] ** 2))


def test_akjax_traced() -> None:
    several = akjax.traced(x)
    floating, rest = akjax.partition(several)
    gradient = jax.jit(jax.grad(lambda part: total(akjax.combine(part, rest))))(floating)
    same(plain(akjax.like(gradient, several)), plain(ak.where(x > 1, 2 * x, 0.0)))


def test_lists_that_are_not_there() -> None:
    """Where the lists of `akjax.traced` begin is data: a gradient has no such data, and says so."""
    several = akjax.traced(ak.zip({"r": rec, "w": ak.num(x) * 1.0}, depth_limit=1))

    def loss(part: ak.Array, rest: ak.Array) -> Any:
        return total(akjax.combine(part, rest).r.a)

    floating, rest = akjax.partition(several)
    gradient = jax.grad(loss)(floating, rest)
    for part in (floating, gradient):
        assert "numbers without their lists" in repr(part)
        for use in (lambda g: g.r.a, lambda g: g + 1, ak.to_list, len):
            with pytest.raises(akjax.StructureError, match=r"akjax\.like\(gradient, array\)"):
                use(part)
        with pytest.raises(akjax.StructureError, match=r"akjax\.like\(gradient, array\)"):
            jax.jit(lambda g: g.r.a)(part)
    want = ak.where(x > 1, 2 * x, 0.0)
    same(plain(akjax.like(gradient, several).r.a), plain(want))

    @jax.jit
    def under_a_selection(several: ak.Array) -> Any:
        jets = several.r
        floating, rest = akjax.partition(jets)
        gradient = jax.grad(lambda part: total(akjax.combine(part, rest).a))(floating)
        return akjax.like(gradient, jets[jets.a > 1]).a

    same(plain(under_a_selection(several)), plain(want[x > 1]))
    with pytest.raises(akjax.StructureError, match="is not like"):
        akjax.like(gradient, akjax.traced(ak.concatenate([several] * 4)))


def test_conditions_outside_jit() -> None:
    """They are known there, and still belong to the padded array; what needs their values says so."""
    floating, rest = akjax.partition(akjax.traced(rec))

    def loss(part: ak.Array) -> Any:
        r = akjax.combine(part, rest)
        good = (r.a > 1) & (r.n < 2)
        with pytest.raises(akjax.ConcreteValueError):
            ak.to_list(good)
        with pytest.raises(akjax.ConcreteValueError):
            good.to_list()
        return ak.sum(r.a[good] ** 2), good

    gradient, good = jax.grad(loss, has_aux=True)(floating)
    want = (x > 1) & (rec.n < 2)
    assert plain(good) == plain(want)
    same(plain(akjax.like(gradient, akjax.traced(rec)).a), plain(ak.where(want, 2 * x, 0.0)))


def test_masks_that_are_not_there() -> None:
    """A part of a selected array without its mask has a number for every slot."""
    selected = jax.jit(lambda a: a[a > 1])(x)
    floating, rest = akjax.partition(selected)
    gradient = jax.grad(lambda part: ak.sum(akjax.combine(part, rest) ** 2))(floating)
    assert plain(ak.num(gradient)) == plain(ak.num(x))
    same(plain(akjax.like(gradient, selected)), plain(2 * x[x > 1]))


def test_other_lists() -> None:
    with pytest.raises(akjax.StructureError, match=r"var \* float64 is not like"):
        akjax.like(x, x[:, :1])
    with pytest.raises(akjax.StructureError, match="is not like"):
        akjax.like(x, rec)


def test_unshare() -> None:
    both = ak.zip({"a": x, "b": x, "c": ak.Array({"d": x})}, depth_limit=1)
    alone = akjax.unshare(both)
    assert len(jax.tree.leaves(both)) == 1
    assert len(jax.tree.leaves(alone)) == 3
    assert plain(alone) == plain(both)
    assert alone.type == both.type

    def loss(r: ak.Array) -> Any:
        return ak.sum(2 * r.a + 3 * r.b)

    for grad in (jax.grad(loss), jax.jit(jax.grad(loss))):
        gradient = grad(alone)
        assert set(plain(ak.flatten(gradient.a))) == {2.0}
        assert set(plain(ak.flatten(gradient.b))) == {3.0}
        assert set(plain(ak.flatten(gradient.c.d))) == {0.0}
    assert len(jax.tree.leaves(jax.jit(akjax.unshare)(both))) == 3
    assert len(jax.tree.leaves(akjax.unshare(alone))) == 3


def test_unshare_keeps_selections() -> None:
    def f(a: ak.Array) -> ak.Array:
        good = a[a > 1]
        return akjax.unshare(ak.zip({"one": good, "two": good}))

    assert plain(jax.jit(f)(x)) == plain(f(x))
