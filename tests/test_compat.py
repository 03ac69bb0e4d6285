"""Every private name that `_compat` touches: this fails loudly when one moves or changes its meaning."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from awkward._backends.dispatch import backend_of_obj  # noqa: TID251

import akjax
from akjax import _compat

akjax.register()


class SomeArray(ak.Array):  # type: ignore[misc]
    pass


class SomeRecord(ak.Record):  # type: ignore[misc]
    pass


def test_the_table_is_complete() -> None:
    """Each private import and attribute of the module is in the table of its docstring."""
    source = Path(_compat.__file__).read_text("utf-8")
    table = source.split('"""')[1]
    code = source.split('"""', 2)[2]
    for module in re.findall(r"from (awkward\._\w+(?:\.\w+)*|jax\._src)", code):
        assert module in table, module
    for name in re.findall(r"^    ak\.jax\.(\w+)", code, re.MULTILINE):
        assert name in table, name
    for row in re.findall(r"^\| .*\|$", table, re.MULTILINE)[2:]:
        assert "tests/test_compat.py" in row, row


def test_classes_of_results() -> None:
    behavior = {("*", "Some"): SomeArray, "Some": SomeRecord}
    layout = ak.zip({"x": [[1.0]]}, with_name="Some").layout
    assert _compat.high_level_class(layout, behavior) is SomeArray
    assert _compat.high_level_class(layout.content[0], behavior) is SomeRecord
    assert _compat.high_level_class(layout, None) is ak.Array
    assert _compat.high_level_class(layout.content[0], None) is ak.Record


def test_overloads_are_found_as_awkward_finds_them() -> None:
    def add(one: Any, two: Any) -> Any:
        return "added"

    behavior = {(np.add, "Some", "Some"): add}
    assert _compat.find_ufunc(behavior, (np.add, "Some", "Some")) is add
    assert _compat.find_ufunc(behavior, (np.add, "Some", "Other")) is None
    layout = ak.zip({"x": [1.0]}, with_name="Some").layout
    generic = {(np.ufunc, "Some"): add}
    assert _compat.find_ufunc_generic(np.add, layout, generic) is add
    assert _compat.find_ufunc_generic(np.add, layout, {}) is None

    class Foreign:
        pass

    assert _compat.find_custom_cast(Foreign(), {("__cast__", Foreign): add}) is add
    assert _compat.find_custom_cast(Foreign(), {}) is None
    assert _compat.record_reducer(ak.sum, "Some", {(ak.sum, "Some"): add}) is add
    assert _compat.record_reducer(ak.sum, "Some", None) is None


def test_attributes_are_kept_in_the_same_class() -> None:
    array = ak.Array([1.0], attrs={"k": [1]})
    made = _compat.make_attrs({"k": [1]})
    assert type(made) is type(array.__dict__["_attrs"])
    assert made == array.attrs
    assert _compat.make_attrs(None) is None


@pytest.mark.parametrize("array", [ak.Array([{"x": 1.0}]), ak.Array([{"x": 1.0}])[0]])
def test_instances_have_what_init_sets(array: Any) -> None:
    """An array made without `__init__` has every attribute that one made by it has."""
    made = jax.tree.map(lambda leaf: leaf, array)
    made.to_list()
    expected = {key for key in array.__dict__ if key != "_akjax"}
    assert {key for key in made.__dict__ if key != "_akjax"} >= expected
    for key, value in _compat.INSTANCE_DEFAULTS.items():
        if key in expected:
            assert array.__dict__[key] is value


def test_layout_is_looked_up_on_the_instance_first() -> None:
    array = ak.Array([1.0])
    assert array._layout is array.__dict__["_layout"]
    assert array.layout is array.__dict__["_layout"]
    result = jax.jit(lambda x: x)(array)
    assert "_layout" not in result.__dict__
    assert result.layout is result.__dict__["_layout"]


def test_running_traces() -> None:
    seen: list[Any] = []
    outside = _compat.current_trace()
    assert _compat.is_running(outside)

    def check() -> None:
        assert _compat.is_running(outside)
        for trace in seen:
            assert _compat.is_running(trace)

    def inner(x: Any) -> Any:
        check()
        seen.append(_compat.current_trace())
        assert _compat.is_running(seen[-1])
        return x * 2

    transformations = [
        jax.jit,
        jax.grad,
        jax.checkpoint,
        jax.vmap,
        lambda f: lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0],
        lambda f: lambda x: jax.lax.cond(True, f, f, x),
        lambda f: lambda x: jax.linearize(f, x)[0],
        lambda f: lambda x: jax.jvp(f, (x,), (x,))[1],
    ]

    def outer(x: Any) -> Any:
        own = _compat.current_trace()
        seen[:] = [own]
        assert _compat.is_running(own)
        for transformation in transformations:
            transformation(inner)(jnp.ones(2) if transformation is jax.vmap else x)
            assert _compat.is_running(own)
            for other in seen[1:]:
                assert not _compat.is_running(other)
            seen[:] = [own]
        return x

    for transformation in (jax.jit, jax.grad, jax.checkpoint):
        transformation(outer)(1.0)
        assert not _compat.is_running(seen[0])


def test_operators_of_tracers_reach_the_array() -> None:
    array = ak.Array([1.0, 2.0])

    @jax.jit
    def f(s: Any) -> Any:
        results = (s + array, s - array, s * array, s / array, s**array, s < array, s == array)
        assert all(isinstance(result, ak.Array) for result in results)
        assert isinstance(jnp.sin(array), jax.Array)
        assert isinstance(jnp.stack([array, array]), jax.Array)
        return results

    results = f(2.0)
    eager = (2.0 + array, 2.0 - array, 2.0 * array, 2.0 / array, 2.0**array, array > 2.0, array == 2.0)
    assert [result.to_list() for result in results] == [result.to_list() for result in eager]
    concrete = jnp.asarray(2.0)
    assert isinstance(concrete * array, ak.Array)
    assert (jnp.asarray([2.0, 3.0]) * array).to_list() == [2.0, 6.0]


def test_jax_arrays_count_as_numpy() -> None:
    assert backend_of_obj(jnp.zeros(2)).name == "cpu"
    assert backend_of_obj(np.zeros(2)).name == "cpu"
    names: list[str] = []
    jax.jit(lambda x: names.append(backend_of_obj(x).name) or x)(1.0)
    jax.vmap(lambda x: names.append(backend_of_obj(x).name) or x)(jnp.zeros(2))
    assert names == ["cpu", "cpu"]


@pytest.mark.parametrize("value", [2.0, np.arange(1000.0)])
def test_errors_show_jax_arrays(value: Any) -> None:
    """Awkward would ask a JAX scalar for its length, and that error would hide the true one."""
    array = ak.Array([[1.0, 2.0], [], [3.0]])
    bad = ak.Array([1, 2])
    for f in (lambda s: ak.zip([array, s, bad]), jax.jit(lambda s: ak.zip([array, s, bad]))):
        with pytest.raises(ValueError, match="cannot broadcast"):
            f(jnp.asarray(value))
    with pytest.raises(ValueError, match="cannot broadcast") as caught:
        ak.broadcast_arrays(array, jnp.asarray(value), bad)
    assert "Array(" in "".join(caught.value.__notes__)


def test_tracers() -> None:
    found: list[bool] = []
    jax.jit(lambda x: found.append(_compat.is_tracer(x)) or x)(1.0)
    assert found == [True]
    assert not _compat.is_tracer(jnp.ones(1))


def test_traced_function() -> None:
    found = []

    def function(x: Any) -> Any:
        return x + 1

    def unflatten(_: Any, children: Any) -> Any:
        found.append(_compat.traced_function())
        return Node(children[0])

    class Node:
        def __init__(self, x: Any) -> None:
            self.x = x

        def __add__(self, other: Any) -> Any:
            return self.x + other

    jax.tree_util.register_pytree_node(Node, lambda node: ((node.x,), None), unflatten)
    jax.jit(function)(Node(1.0))
    assert found == [function]
    jax.tree.map(lambda x: x, Node(1.0))
    assert found[1] is None


def test_awkwards_jax_backend_is_seen_when_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _compat.awkward_jax_is_running()
    assert isinstance(ak.contents.NumpyArray(jnp.arange(3.0)).data, np.ndarray)
    monkeypatch.setattr(_compat.JaxBackend, "_instance", object(), raising=False)
    assert _compat.awkward_jax_is_running()


def test_whether_something_is_traced() -> None:
    seen = []
    for transform in (jax.jit, jax.grad, jax.vmap):
        transform(lambda x: (seen.append(_compat.is_tracing()), x)[1])(jnp.ones(2) if transform is jax.vmap else 1.0)
    assert seen == [True, True, True]
    assert not _compat.is_tracing()


def test_types_of_jax_among_the_arguments_are_no_arrays() -> None:
    x = ak.Array([[1.0, 2.0], []])
    for to in (jnp.float32, jnp.bfloat16, jnp.dtype("int8")):
        assert jax.jit(lambda x, to=to: ak.values_astype(x, to))(x).to_list() == x.to_list()
    assert not _compat.awkward_jax_is_running()


@pytest.mark.parametrize("use", [lambda i: [1.0, 2.0][i], lambda i: "ab"[i], range], ids=["list", "str", "range"])
@pytest.mark.parametrize(("name", "dtype"), [("max", "float"), ("argmax", "int")])
def test_a_traced_number_as_an_index(use: Any, name: str, dtype: str) -> None:
    """What is no integer is explained as traced integers are, and is a `TypeError` as without a transformation."""
    array = ak.Array([[1.0, 2.0], []])
    with pytest.raises(jax.errors.TracerIntegerConversionError, match=f"traced array with shape {dtype}"):
        jax.jit(lambda x: use(getattr(ak, name)(x)))(array)
    assert issubclass(jax.errors.TracerIntegerConversionError, TypeError)
    with pytest.raises(TypeError):
        use(ak.max(array))


def test_several_traced_numbers_are_no_index() -> None:
    with pytest.raises(TypeError, match="Only integer scalar arrays"):
        jax.jit(lambda x: [1.0, 2.0][x])(jnp.arange(2.0))
