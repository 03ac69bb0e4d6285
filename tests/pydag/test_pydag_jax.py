"""Registered classes as JAX pytrees: every transformation, placeholders of every kind, no leaks."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from pydag.graphs import JAX_KINDS, Frozen, M, Point, Slots, T, Tagged, fillings, graphs

from akjax.pydag import register_with_jax


def array() -> jax.Array:
    return jnp.linspace(0.1, 1.0, 3)


def examples() -> dict[str, Any]:
    a, m = array(), M(array())
    return {
        "node": T(m, m),
        "branches": T(T(m, m), T(m, m)),
        "leaf": T(a, a),
        "slots": Slots(m, [m, {"a": m, "b": array()}]),
        "frozen": Frozen(Point(a, m), (m, a), "name"),
        "none": T(M(None), (a, None)),
        "tagged": Tagged(T(m, (m, m)), ("static", 3)),
        "unshared": T(M(array()), M(array())),
    }


EXAMPLES = list(examples())


@pytest.fixture(params=EXAMPLES)
def x(request: pytest.FixtureRequest) -> Any:
    return examples()[request.param]


def double(x: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf * 2, x)


def total(x: Any) -> jax.Array:
    return sum((jnp.sum(leaf**3) for leaf in jax.tree.leaves(x)), jnp.zeros(()))


def test_identities_before_inside_and_after_jit() -> None:
    def f(t: T) -> T:
        assert t.left.left is t.left.right is t.right.left is t.right.right
        t.left.left.x = t.left.left.x + 1
        return t

    m = M(array())
    t = T(T(m, m), T(m, m))
    out = jax.jit(f)(t)
    assert out.left.left is out.left.right is out.right.left is out.right.right
    assert out.left.left is not m
    np.testing.assert_array_equal(out.left.left.x, m.x + 1)
    assert t.left.left is m


def test_two_arguments_are_independent() -> None:
    m = M(array())
    structure = jax.tree.structure(T(m, m))
    one, two = (jax.tree.unflatten(structure, [leaf]) for leaf in (1, 2))
    assert one.left is one.right
    assert two.left is two.right
    assert one.left is not two.left
    assert structure.flatten_up_to(T(m, m)) == [m.x]
    assert structure.flatten_up_to(jax.tree.unflatten(structure, [[1, 2]])) == [[1, 2]]
    with pytest.raises(ValueError, match=r"T\(&0=M\(\*\), &0\)"):
        structure.flatten_up_to(T(M(1), M(2)))


def test_transformations_keep_the_structure(x: Any) -> None:
    structure = jax.tree.structure(x)
    outs = [
        double(x),
        jax.jit(double)(x),
        jax.grad(total)(x),
        jax.vmap(double)(x),
        jax.vmap(lambda x, y: jax.tree.map(lambda leaf: leaf + y, x), in_axes=(None, 0))(x, jnp.arange(2.0)),
        jax.vmap(double, in_axes=(jax.tree.map(lambda _: 0, x),), out_axes=jax.tree.map(lambda _: 0, x))(x),
        jax.jvp(double, (x,), (x,))[1],
        jax.vjp(double, x)[1](x)[0],
        jax.linearize(double, x)[1](x),
        jax.eval_shape(double, x),
        jax.lax.scan(lambda c, _: (double(c), c), x, None, length=2)[0],
        jax.lax.scan(lambda c, _: (double(c), c), x, None, length=2)[1],
        jax.lax.cond(True, double, lambda x: x, x),
        jax.checkpoint(double)(x),
        jax.device_put(x),
    ]
    for out in outs:
        assert jax.tree.structure(out) == structure


@pytest.mark.parametrize("derivative", [jax.jacfwd, jax.jacrev])
def test_trees_in_leaf_places(x: Any, derivative: Any) -> None:
    out = derivative(double)(x)
    structure = jax.tree.structure(x)
    inner = structure.flatten_up_to(out)
    assert all(jax.tree.structure(tree) == structure for tree in inner)
    assert jax.tree.structure(jax.tree.map(jnp.sin, out)) == jax.tree.structure(out)
    hessian = jax.hessian(total)(x)
    assert jax.tree.structure(hessian) == jax.tree.structure(out)


def test_gradient_is_the_sum_over_uses() -> None:
    m = M(array())
    grad = jax.grad(lambda t: jnp.sum(t.left.x * 2 + t.right.x * 3))(T(m, m))
    assert grad.left is grad.right
    np.testing.assert_array_equal(grad.left.x, np.full(3, 5.0))


def test_float0() -> None:
    t = T(jnp.arange(3), M(jnp.arange(3)))
    grad = jax.grad(lambda t: jnp.sum(t.left * 1.0), allow_int=True)(t)
    assert grad.left.dtype == jax.dtypes.float0
    assert jax.tree.structure(grad) == jax.tree.structure(t)


def test_same_tracer_in_every_leaf(x: Any) -> None:
    def fill(x: Any) -> Any:
        one = total(x)
        return jax.tree.map(lambda _: one, x)

    with jax.checking_leaks():
        out = jax.jit(fill)(x)
        again, _ = jax.lax.scan(lambda c, _: (fill(c), None), fill(x), None, length=2)
    assert jax.tree.structure(out) == jax.tree.structure(again) == jax.tree.structure(x)


def test_no_leaks(x: Any) -> None:
    with jax.checking_leaks():
        jax.jit(jax.grad(lambda x: total(double(x))))(x)
        jax.jit(jax.vmap(double))(x)
        jax.jit(lambda x: jax.tree.leaves(jax.tree.map(lambda leaf: [leaf, None], x)))(x)


def test_no_retrace(x: Any) -> None:
    traces = []

    @jax.jit
    def f(x: Any) -> Any:
        traces.append(x)
        return double(x)

    f(f(f(x)))
    assert len(traces) == 1
    traces.clear()


@settings(max_examples=25)
@given(graphs(leaf=array, root=JAX_KINDS))
def test_any_graph_any_leaves(graph: Any) -> None:
    leaves, structure = jax.tree.flatten(graph)
    for filling in fillings(len(leaves)).values():
        new = jax.tree.unflatten(structure, filling)
        assert all(a is b for a, b in zip(jax.tree.leaves(new), jax.tree.leaves(filling), strict=True))
        assert all(a is b for a, b in zip(structure.flatten_up_to(new), filling, strict=True))
        again = jax.tree.unflatten(jax.tree.structure(new), jax.tree.leaves(new))
        assert jax.tree.structure(again) == jax.tree.structure(new)
    if leaves:
        assert jax.tree.structure(jax.vmap(double)(graph)) == structure


def test_equinox(x: Any) -> None:
    structure = jax.tree.structure(x)
    for keep in (eqx.is_array, lambda _: False, lambda leaf: leaf is jax.tree.leaves(x)[0]):
        dynamic, static = eqx.partition(x, keep)
        joined = eqx.combine(dynamic, static)
        assert jax.tree.structure(joined) == structure
        assert all(a is b for a, b in zip(jax.tree.leaves(joined), jax.tree.leaves(x), strict=True))
    assert jax.tree.structure(eqx.filter_jit(double)(x)) == structure


def test_optax(x: Any) -> None:
    optimizer = optax.adam(0.1)
    state = optimizer.init(x)
    start = total(x)
    for _ in range(3):
        updates, state = jax.jit(optimizer.update)(jax.grad(total)(x), state, x)
        x = optax.apply_updates(x, updates)
    assert total(x) < start


def test_key_paths() -> None:
    m = M(array())
    tree = Frozen(T(m, m), [{"a": m, "b": array()}, Point(1, 2)])
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
    assert paths == [".left.left.x", ".right[0]['b']", ".right[1].x", ".right[1].y"]
    out = jax.tree_util.tree_map_with_path(lambda path, leaf: leaf, tree)
    assert jax.tree.structure(out) == jax.tree.structure(tree)


def test_registered_with_jax_already() -> None:
    class Known:
        pass

    jax.tree_util.register_pytree_node(Known, lambda _: ((), None), lambda *_: Known())
    with pytest.raises(ValueError, match="Duplicate"):
        register_with_jax(Known, lambda f, _: (None, []), lambda u, aux, names: Known())
    from akjax.pydag import dag_flatten

    assert repr(dag_flatten(Known())[1]) == "*"
