"""What Awkward's own JAX backend cannot do, one case each: the reasons for this library to exist."""

from __future__ import annotations

import subprocess
import sys

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import check, check_gradient, plain, same

X = ak.Array([[1.0, 2.0, 3.0], [], [4.0, 5.0]])
MIXED = ak.zip({"pt": X, "charge": ak.values_astype(X * 0 + 1, "int64")})


def test_plain_jit() -> None:
    check(lambda x: x * 2, X)


def test_grad_with_an_integer_field() -> None:
    gradient = jax.grad(lambda m: ak.sum(m.pt**2 * m.charge), allow_int=True)(MIXED)
    same(plain(gradient.pt), plain(2 * X))
    assert plain(gradient.charge) == [[None, None, None], [], [None, None]]
    assert "charge" in repr(gradient.type)


@pytest.mark.parametrize("transform", [jax.jacfwd, jax.jacrev])
def test_jacobians(transform: object) -> None:
    jacobian = transform(lambda x: ak.to_jax(ak.sum(x**2, axis=1)))(X)  # type: ignore[operator]
    (leaf,) = jax.tree.leaves(jacobian)
    same(plain(leaf), [[2.0, 4.0, 6.0, 0.0, 0.0], [0.0] * 5, [0.0, 0.0, 0.0, 8.0, 10.0]])


def test_hessian() -> None:
    (leaf,) = jax.tree.leaves(jax.hessian(lambda x: ak.sum(x**3))(X))
    same(plain(leaf), np.diag(6 * np.arange(1.0, 6.0)).tolist())


def _scan(x: ak.Array) -> ak.Array:
    return jax.lax.scan(lambda carry, _: (carry * 0.5, None), x, None, length=2)[0]


LOOPS = {
    "checkpoint": jax.checkpoint(lambda x: x * 0.25),
    "scan": _scan,
    "while": lambda x: jax.lax.while_loop(lambda c: ak.max(c) > 1.3, lambda c: c * 0.5, x),
    "cond": lambda x: jax.lax.cond(ak.sum(x) > 0, lambda c: c * 0.25, lambda c: c, x),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_and_branches_carry_it(name: str) -> None:
    same(plain(jax.jit(LOOPS[name])(X)), plain(X * 0.25))


def test_vmap_with_the_array_mapped() -> None:
    regular = ak.Array(np.arange(6.0).reshape(3, 2))
    same(plain(jax.vmap(lambda row: ak.sum(row * 2))(regular)), [2.0, 10.0, 18.0])


def test_vmap_over_a_ragged_axis_says_why_not() -> None:
    with pytest.raises(TypeError, match="ragged"):
        jax.vmap(lambda row: ak.sum(row))(X)


def test_grad_of_a_union() -> None:
    union = ak.Array([1.0, [2.0, 3.0], 4.0])
    value, pull = jax.vjp(lambda u: u * u, union)
    same(plain(pull(value)[0]), [2.0, [16.0, 54.0], 128.0])


def test_grad_of_a_record_with_text() -> None:
    array = ak.Array([{"s": "one", "x": 2.0}, {"s": "", "x": 3.0}])
    assert plain(jax.grad(lambda a: ak.sum(a.x**2))(array).x) == [4.0, 6.0]


def test_a_shared_buffer_is_one_leaf() -> None:
    assert len(jax.tree.leaves(ak.zip({"a": X, "b": X}))) == 1


def test_prod_is_exact_and_its_gradient_too() -> None:
    assert float(jax.jit(ak.prod)(X)) == 120.0
    zero = ak.Array([[0.0, 3.0], [2.0]])
    same(plain(jax.grad(lambda x: ak.sum(ak.prod(x, axis=1)))(zero)), [[3.0, 0.0], [1.0]])


def test_sort_under_grad() -> None:
    weights = ak.Array([[1.0, 2.0, 3.0], [], [4.0, 5.0]])
    check_gradient(lambda x: ak.sum(ak.sort(x, axis=1) * weights * x), ak.Array([[3.0, 1.0, 2.0], [], [5.0, 4.0]]))


def test_concatenate_over_the_inner_axis() -> None:
    check(lambda x: ak.concatenate([x, x * 2], axis=1), X)


def test_structure_is_compared_by_value() -> None:
    other = ak.Array([[1.0], [2.0, 3.0, 4.0, 5.0], []])
    assert jax.tree.structure(X) != jax.tree.structure(other)
    with pytest.raises(ValueError, match=r"pytree metadata|custom node data"):
        jax.tree.map(jnp.add, X, other)


def test_gradients_at_singular_places_are_finite() -> None:
    one = ak.Array([[1.0], [2.0, 4.0]])
    gradient = plain(jax.grad(lambda x: ak.sum(ak.std(x, axis=1)))(one))
    same(gradient, [[0.0], [-0.5, 0.5]])


@pytest.mark.parametrize("leaf", [object(), None, np.zeros((), jax.dtypes.float0), 3])
def test_any_leaf_is_tolerated(leaf: object) -> None:
    structure = jax.tree.structure(X)
    array = jax.tree.unflatten(structure, [leaf])
    assert isinstance(repr(array), str)
    if leaf is not None:
        assert jax.tree.leaves(array)[0] is leaf


def test_key_paths() -> None:
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(MIXED)[0]]
    assert paths == [".pt", ".charge"]


def test_registration_changes_no_configuration() -> None:
    code = (
        "import jax; before = jax.config.values.copy(); import akjax; akjax.register(); "
        "assert jax.config.values == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
