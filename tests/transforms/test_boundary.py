"""Arrays as pytrees: whatever JAX puts into the leaves, the structure stays, and the values come back."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrays import ALL, NUMBERS
from jax.flatten_util import ravel_pytree
from oracle import plain, same

FLOATING = {name: array for name, array in ALL.items() if jax.tree.leaves(array)}
EVERY = pytest.mark.parametrize("array", ALL.values(), ids=ALL.keys())
WITH_LEAVES = pytest.mark.parametrize("array", FLOATING.values(), ids=FLOATING.keys())


def assert_same(got: Any, want: Any) -> None:
    """Same class, same structure, same values, same type (up to x64)."""
    assert type(got) is type(want)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    same(plain(got), plain(want))
    if jax.config.read("jax_enable_x64"):
        assert str(ak.type(got)) == str(ak.type(want))


# ------------------------------------------------------------------------------- placeholders

SENTINEL = object()
PLACEHOLDERS: dict[str, Callable[[int, Any], Any]] = {
    "object": lambda i, leaf: SENTINEL,
    "number": lambda i, leaf: i,
    "zero": lambda i, leaf: 0,
    "boolean": lambda i, leaf: True,
    "string": lambda i, leaf: "axis",
    "function": lambda i, leaf: len,
    "shape": lambda i, leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype),
    "other shape": lambda i, leaf: jax.ShapeDtypeStruct((3, 4, 5), np.float32),
    "float0": lambda i, leaf: np.zeros(leaf.shape, jax.dtypes.float0),
    "scalar": lambda i, leaf: jnp.zeros(()),
    "too long": lambda i, leaf: np.zeros(77),
    "too short": lambda i, leaf: np.zeros(0),
    "too many axes": lambda i, leaf: np.zeros((1, 2, 3, 4)),
    "no axes": lambda i, leaf: np.float32(1),
    "key": lambda i, leaf: jax.random.key(0),
    "spec": lambda i, leaf: jax.sharding.PartitionSpec(),
}


@WITH_LEAVES
@pytest.mark.parametrize("kind", PLACEHOLDERS)
def test_placeholders(array: Any, kind: str) -> None:
    leaves, structure = jax.tree.flatten(array)
    new = [PLACEHOLDERS[kind](i, leaf) for i, leaf in enumerate(leaves)]
    made = jax.tree.unflatten(structure, new)
    back, again = jax.tree.flatten(made, is_leaf=lambda x: any(x is leaf for leaf in new))
    assert type(made) is type(array)
    assert again == structure
    assert hash(again) == hash(structure)
    assert all(one is two for one, two in zip(back, new, strict=True))
    assert repr(made)
    assert str(made)


@WITH_LEAVES
def test_none_and_trees_as_leaves(array: Any) -> None:
    leaves, structure = jax.tree.flatten(array)
    nothing = jax.tree.unflatten(structure, [None] * len(leaves))
    assert repr(nothing)
    assert jax.tree.leaves(nothing) == []
    assert jax.tree.structure(nothing, is_leaf=lambda x: x is None) == structure
    inner = NUMBERS["lists"]
    nested = jax.tree.unflatten(structure, [inner] * len(leaves))
    assert repr(nested)
    assert jax.tree.leaves(nested) == [leaf for _ in leaves for leaf in jax.tree.leaves(inner)]
    assert jax.tree.structure(nested, is_leaf=lambda x: x is inner) == structure
    itself = jax.tree.unflatten(structure, [array] * len(leaves))
    assert jax.tree.structure(itself, is_leaf=lambda x: x is array) == structure


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: x[0], ak.sum, ak.to_list, len, list, pickle.dumps])
def test_what_holds_no_data_says_so(use: Any) -> None:
    made = jax.tree.map(lambda leaf: "axis", NUMBERS["lists"])
    with pytest.raises(TypeError, match="holds no data"):
        use(made)


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: x[0], ak.sum, ak.to_list, len, list, pickle.dumps])
def test_leaves_that_do_not_fit_say_so(use: Any) -> None:
    made = jax.tree.map(lambda leaf: leaf[:-1], NUMBERS["lists"])
    with pytest.raises(TypeError, match="do not fit"):
        use(made)


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: x[0], ak.sum, len])
def test_traced_leaves_that_do_not_fit_say_so(use: Any) -> None:
    made = jax.tree.map(lambda leaf: leaf[:-1], NUMBERS["lists"])
    with pytest.raises(TypeError, match="do not fit"):
        jax.jit(use)(made)


# ------------------------------------------------------------------------------- transformations

IDENTITIES: dict[str, Callable[[Any], Any]] = {
    "flatten": lambda x: jax.tree.unflatten(*reversed(jax.tree.flatten(x))),
    "map": lambda x: jax.tree.map(lambda leaf: leaf, x),
    "jit": jax.jit(lambda x: x),
    "jit twice": lambda x: jax.jit(lambda y: y)(jax.jit(lambda y: y)(x)),
    "vmap of another": lambda x: jax.vmap(lambda s, y: y, in_axes=(0, None), out_axes=None)(jnp.arange(2), x),
    "scan": lambda x: jax.lax.scan(lambda c, _: (c, None), x, None, length=2)[0],
    "while": lambda x: jax.lax.while_loop(lambda c: c[1] < 2, lambda c: (c[0], c[1] + 1), (x, 0))[0],
    "fori": lambda x: jax.lax.fori_loop(0, 2, lambda i, c: c, x),
    "cond": lambda x: jax.lax.cond(True, lambda y: y, lambda y: y, x),
    "switch": lambda x: jax.lax.switch(1, [lambda y: y, lambda y: y], x),
    "checkpoint": jax.checkpoint(lambda x: x),
    "jvp": lambda x: jax.jvp(lambda s: x, (1.0,), (1.0,))[0],
    "vjp": lambda x: jax.vjp(lambda s: x, 1.0)[0],
    "linearize": lambda x: jax.linearize(lambda s: x, 1.0)[0],
    "value and aux": lambda x: jax.value_and_grad(lambda s: (s, x), has_aux=True)(1.0)[0][1],
    "custom_jvp": lambda x: _custom_jvp(x),
    "custom_vjp": lambda x: _custom_vjp(x),
    "device": lambda x: jax.device_put(x, jax.devices()[-1]),
    "ready": lambda x: jax.block_until_ready(jax.jit(lambda y: y)(x)),
    "copy": lambda x: copy.copy(jax.jit(lambda y: y)(x)),
    "deepcopy": lambda x: copy.deepcopy(jax.jit(lambda y: y)(x)),
    "deepcopy, touched": lambda x: copy.deepcopy(_touched(jax.jit(lambda y: y)(x))),
    "copy in jit": jax.jit(lambda x: copy.copy(x)),
    "ak.Array in jit": jax.jit(lambda x: ak.Array(x)),
}


def _touched(x: Any) -> Any:
    ak.to_list(x)
    return x


@jax.custom_jvp
def _custom_jvp(x: Any) -> Any:
    return x


_custom_jvp.defjvp(lambda primals, tangents: (primals[0], tangents[0]))


@jax.custom_vjp
def _custom_vjp(x: Any) -> Any:
    return x


_custom_vjp.defvjp(lambda x: (x, None), lambda residuals, cotangent: (cotangent,))


@EVERY
@pytest.mark.parametrize("name", IDENTITIES)
def test_identities(array: Any, name: str) -> None:
    assert_same(IDENTITIES[name](array), array)


@EVERY
def test_abstract_evaluation(array: Any) -> None:
    shapes = jax.eval_shape(lambda x: x, array)
    assert jax.tree.structure(shapes) == jax.tree.structure(array)
    assert repr(shapes)
    jaxpr, out = jax.make_jaxpr(lambda x: x, return_shape=True)(array)
    assert len(jaxpr.in_avals) == len(jax.tree.leaves(array))
    assert jax.tree.structure(out) == jax.tree.structure(array)
    compiled = jax.jit(lambda x: x).lower(shapes).compile()
    assert_same(compiled(array), array)


@EVERY
def test_results_pickle_as_arrays_do(array: Any) -> None:
    result = jax.jit(lambda x: x)(array)
    assert_same(pickle.loads(pickle.dumps(result)), pickle.loads(pickle.dumps(array)))


@EVERY
def test_treedefs_pickle_and_copy(array: Any) -> None:
    structure = jax.tree.structure(array)
    assert pickle.loads(pickle.dumps(structure)) == structure
    assert hash(pickle.loads(pickle.dumps(structure))) == hash(structure)
    assert copy.deepcopy(structure) == structure


@EVERY
def test_gradients_of_every_leaf(array: Any) -> None:
    """Integers have gradients of no type (float0): they map, print and pickle all the same."""

    def loss(x: Any) -> Any:
        floats = [leaf for leaf in jax.tree.leaves(x) if jnp.issubdtype(leaf.dtype, jnp.floating)]
        return sum((jnp.sum(leaf**2) for leaf in floats), jnp.zeros(()))

    for gradient in (jax.grad(loss, allow_int=True)(array), jax.jit(jax.grad(loss, allow_int=True))(array)):
        assert type(gradient) is type(array)
        assert jax.tree.structure(gradient) == jax.tree.structure(array)
        mapped = jax.tree.map(lambda leaf: leaf, gradient)
        for value in (gradient, mapped, copy.deepcopy(gradient), pickle.loads(pickle.dumps(gradient))):
            assert repr(value)
            assert str(value)
            assert len(ak.to_list(value)) == len(array)


def test_gradient_of_integers_is_missing_and_of_numbers_is_not() -> None:
    array = ak.Array([{"x": 1.0, "n": 1}, {"x": 2.0, "n": 2}])
    gradient = jax.grad(lambda a: ak.sum(a.x**2 * a.n), allow_int=True)(array)
    assert gradient.to_list() == [{"x": 2.0, "n": None}, {"x": 8.0, "n": None}]
    union = ak.Array([1, [2, 3], 4, []])
    assert repr(jax.grad(lambda a: 1.0 * ak.num(a, axis=0), allow_int=True)(union))


@pytest.mark.parametrize("transform", [jax.jacfwd, jax.jacrev, jax.hessian])
def test_jacobians(transform: Any) -> None:
    array = NUMBERS["lists"]
    result = transform(lambda x: ak.sum(x**3, axis=1))(array)
    assert repr(result)
    (jacobian,) = jax.tree.leaves(result)
    (flat,) = jax.tree.leaves(array)
    rows = np.repeat(np.arange(4), [3, 0, 2, 1])
    first = (rows == np.arange(4)[:, None]) * 3 * flat**2
    second = (rows == np.arange(4)[:, None])[:, :, None] * np.diag(6 * flat)
    np.testing.assert_allclose(jacobian, second if transform is jax.hessian else first, rtol=1e-6)
    whole = transform(lambda x: x**2)(array)
    assert repr(whole)
    assert jax.tree.leaves(whole)[0].shape == (6,) * (3 if transform is jax.hessian else 2)


@pytest.mark.parametrize("name", ["lists", "regular", "options", "union", "record", "missing lists"])
def test_derivatives_agree(name: str) -> None:
    array = ALL[name]

    def f(x: Any) -> Any:
        return sum(jnp.sum(leaf * leaf) for leaf in jax.tree.leaves(x) if jnp.issubdtype(leaf.dtype, jnp.floating))

    def ones(leaf: Any) -> Any:
        floating = jnp.issubdtype(leaf.dtype, jnp.floating)
        return np.ones_like(leaf) if floating else np.zeros(np.shape(leaf), jax.dtypes.float0)

    tangent = jax.tree.map(ones, array)
    forward = jax.jvp(f, (array,), (tangent,))[1]
    linear = jax.linearize(f, array)[1](tangent)
    reverse = jax.grad(f, allow_int=True)(array)
    leaves = [leaf for leaf in jax.tree.leaves(reverse) if leaf.dtype != jax.dtypes.float0]
    np.testing.assert_allclose(forward, sum(np.sum(leaf) for leaf in leaves), rtol=1e-6)
    np.testing.assert_allclose(linear, forward, rtol=1e-6)
    checkpointed = jax.grad(jax.checkpoint(f), allow_int=True)(array)
    same(plain(checkpointed), plain(reverse))


def test_custom_rules_see_arrays() -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return ak.sum(x.pt**2)

    def backward(x: Any, g: Any) -> Any:
        return (jax.tree.map(lambda leaf: leaf * g * 10, x),)

    f.defvjp(lambda x: (f(x), x), backward)
    array = ak.zip({"pt": [[1.0, 2.0], []]})
    assert jax.grad(f)(array).pt.to_list() == [[10.0, 20.0], []]
    assert jax.jit(jax.grad(f))(array).pt.to_list() == [[10.0, 20.0], []]

    @jax.custom_jvp
    def g(x: Any) -> Any:
        return ak.sum(x**2)

    g.defjvp(lambda primals, tangents: (g(primals[0]), ak.sum(30 * primals[0] * tangents[0])))
    assert jax.grad(g)(ak.Array([[1.0, 2.0], []])).to_list() == [[30.0, 60.0], []]


def test_mapping_over_concrete_and_traced() -> None:
    array = NUMBERS["lists"]

    @jax.jit
    def f(x: Any) -> Any:
        mixed = jax.tree.map(lambda a, b: a + b, array, x)
        assert jax.tree.structure(mixed) == jax.tree.structure(array)
        return mixed

    same(plain(f(array)), plain(array + array))


@EVERY
def test_ravel(array: Any) -> None:
    vector, unravel = ravel_pytree(array)
    assert_same(unravel(vector), array)


def test_key_paths_read_like_fields() -> None:
    events = ak.Array({"jets": ak.zip({"pt": [[1.0], []], "n": [[1], []]}), "met": [1.0, 2.0]})
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path({"e": events})[0]]
    assert names == ["['e'].jets.pt", "['e'].jets.n", "['e'].met"]
    with pytest.raises(ValueError, match=r"(?s)x\.jets\.pt.*x\.met"):
        jax.vmap(lambda x: x)(events)
    assert [jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_flatten_with_path(ak.Array([1.0]))[0]] == [".data"]


# ------------------------------------------------------------------------------- structure by value


def test_other_lists_are_another_structure() -> None:
    one, two = ak.Array([[1.0, 2.0], [3.0]]), ak.Array([[1.0], [2.0, 3.0]])
    assert jax.tree.structure(one) != jax.tree.structure(two)
    f = jax.jit(lambda x: ak.sum(x, axis=1))
    assert f(one).to_list() == [3.0, 3.0]
    assert f(two).to_list() == [1.0, 5.0]
    assert f(one).to_list() == [3.0, 3.0]
    with pytest.raises(ValueError, match=r"(?s)var.*var"):
        jax.tree.map(lambda a, b: a, one, two)


@EVERY
def test_equal_arrays_compile_once(array: Any) -> None:
    traces = []

    @jax.jit
    def f(x: Any) -> Any:
        traces.append(1)
        return x

    rebuilt = copy.deepcopy(array)
    assert jax.tree.structure(rebuilt) == jax.tree.structure(array)
    f(array)
    f(rebuilt)
    f(f(array))
    f(pickle.loads(pickle.dumps(array)))
    assert len(traces) == 1 + (jax.tree.structure(pickle.loads(pickle.dumps(array))) != jax.tree.structure(array))


ARITHMETIC = {
    name: array
    for name, array in ALL.items()
    if name not in {"booleans", "strings", "unknown", "no fields", "named", "tuple"} and not ak.fields(array)
}


@pytest.mark.parametrize("array", ARITHMETIC.values(), ids=ARITHMETIC.keys())
def test_results_are_partners_of_their_inputs(array: Any) -> None:
    result = jax.jit(lambda x: x + 1)(array)
    assert jax.tree.structure(result) == jax.tree.structure(array)
    same(plain(result), plain(array + 1))
    carried = jax.lax.fori_loop(0, 3, lambda i, x: jax.tree.map(lambda a, b: a.astype(b.dtype), x + 1, x), array)
    same(plain(carried), plain(array + 3))
    jax.tree.map(lambda a, b: a, array, result)


# ------------------------------------------------------------------------------- sharing


def test_one_buffer_is_one_leaf_and_its_gradient_the_sum() -> None:
    buffer = np.array([1.0, 2.0])
    array = ak.Array({"a": buffer, "b": buffer})
    assert len(jax.tree.leaves(array)) == 1
    assert jax.grad(lambda x: ak.sum(2 * x.a + 3 * x.b))(array).a.to_list() == [5.0, 5.0]
    lists = ak.Array([[1.0, 2.0], [], [3.0]])
    both = ak.zip({"a": lists, "b": lists})
    assert len(jax.tree.leaves(both)) == 1
    result = jax.jit(lambda x: x)(both)
    assert jax.tree.structure(result) == jax.tree.structure(both)


def test_equal_views_are_one_leaf() -> None:
    buffer = np.arange(6.0)

    def pairs(data: Any) -> Any:
        return ak.Array(ak.contents.RegularArray(ak.contents.NumpyArray(data), 2))

    assert len(jax.tree.leaves(ak.Array({"a": buffer[:3], "b": buffer[:3]}))) == 1
    assert len(jax.tree.leaves(ak.Array({"a": buffer[:3], "b": buffer[3:]}))) == 2
    assert len(jax.tree.leaves(ak.Array({"a": pairs(buffer), "b": pairs(buffer)}))) == 1
    assert len(jax.tree.leaves(ak.Array({"a": buffer[::2], "b": buffer[:3]}))) == 2


def test_nothing_is_not_shared() -> None:
    """Views of no elements may have any address: sharing must not depend on it."""
    buffer = np.arange(6.0)
    one = ak.Array({"a": buffer[:3], "b": buffer[3:]})[:0]
    two = ak.Array({"a": buffer[:0], "b": buffer[:0]})
    assert jax.tree.structure(one) == jax.tree.structure(two)


def test_record() -> None:
    record = ak.Array([{"x": 1.0, "y": [1, 2]}, {"x": 2.0, "y": []}])[0]
    assert_same(jax.jit(lambda r: r)(record), record)
    assert type(jax.tree.map(lambda leaf: leaf, record)) is type(record)
    assert jax.grad(lambda r: r.x**2, allow_int=True)(record).x == 2.0
    assert pickle.loads(pickle.dumps(jax.jit(lambda r: r)(record))).to_list() == record.to_list()


def test_leaf_objects_come_back() -> None:
    result = jax.jit(lambda x: x + 1)(NUMBERS["lists"])
    before = jax.tree.leaves(result)
    result.to_list()
    assert all(one is two for one, two in zip(before, jax.tree.leaves(result), strict=True))
