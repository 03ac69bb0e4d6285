"""What an array carries besides its numbers, and every dtype, through a compiled function."""

from __future__ import annotations

import pickle
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import akjax

akjax.register()

NARROW = ["?", "i1", "i2", "i4", "u1", "u2", "u4", "f2", "f4", "c8"]
WIDE = ["i8", "u8", "f8", "c16"]
TIMES = ["M8[s]", "M8[ns]", "m8[us]"]
identity = jax.jit(lambda x: x)


def numbers(dtype: str) -> Any:
    if dtype in TIMES:
        return np.arange(8).astype("i8").astype(dtype)
    return np.arange(8).astype(dtype)


VIEWS = {
    "whole": lambda data: data,
    "strided": lambda data: data[::2],
    "reversed": lambda data: data[::-1],
    "part": lambda data: data[3:5],
    "empty": lambda data: data[:0],
    "matrix": lambda data: data.reshape(4, 2),
    "transposed": lambda data: data.reshape(4, 2).T,
    "no columns": lambda data: np.zeros((3, 0), data.dtype),
    "one number": lambda data: np.broadcast_to(data[1], (4,)),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [*NARROW, *WIDE, *TIMES])
def test_dtypes_and_views(dtype: str, view: str) -> None:
    array = ak.Array(ak.contents.NumpyArray(VIEWS[view](numbers(dtype))))
    result = identity(array)
    assert result.to_list() == array.to_list()
    assert jax.tree.structure(result) == jax.tree.structure(array)
    if dtype in (*NARROW, *TIMES) or jax.config.read("jax_enable_x64"):
        assert str(result.type) == str(array.type)


@pytest.mark.parametrize("dtype", ["f16", "c32"])
def test_what_jax_has_no_type_for(dtype: str) -> None:
    if np.dtype(dtype.replace("16", "8").replace("32", "16")).itemsize == np.dtype(dtype).itemsize:
        pytest.skip("long double is double here")
    with pytest.raises(TypeError, match=r"JAX has no .*values_astype"):
        identity(ak.Array({"a": numbers(dtype)}))


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float8_e4m3fn])
def test_what_awkward_has_no_type_for(dtype: Any) -> None:
    array = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), ak.Array([[1.0, 2.0], [], [3.0]]))
    assert array.to_list() == [[1.0, 2.0], [], [3.0]]
    assert str(array.type) == "3 * var * float32"
    assert repr(array)
    result = identity(array)
    assert jax.tree.leaves(result)[0].dtype == dtype
    assert jax.jit(lambda x: repr(x) and x[1:])(array).to_list() == [[], [3.0]]


def test_gradients_in_half_precision() -> None:
    array = ak.values_astype(ak.Array([[1.0, 2.0], [], [3.0]]), "float16")
    gradient = jax.grad(lambda x: jnp.sum(jax.tree.leaves(x * x)[0].astype("float32")))(array)
    assert gradient.to_list() == [[2.0, 4.0], [], [6.0]]
    assert str(gradient.type) == "3 * var * float16"


def test_attributes() -> None:
    note = object()
    array = ak.Array([[1.0], []], attrs={"source": {"file": "a", "runs": [1, (2,)]}, "@cache": note, "note": note})
    result = identity(array)
    assert dict(result.attrs) == {"source": {"file": "a", "runs": [1, (2,)]}, "note": note}
    before = jax.tree.structure(array)
    assert jax.tree.structure(result) == before
    array.attrs["@cache"] = None
    assert jax.tree.structure(array) == before
    array.attrs["more"] = 1
    assert jax.tree.structure(array) != before
    assert identity(array).attrs["more"] == 1
    result.attrs["more"] = 1
    assert jax.tree.structure(result) == jax.tree.structure(array)
    assert jax.tree.leaves(result)[0] is jax.tree.leaves(result)[0]


def test_attributes_are_compared_by_value_and_type() -> None:
    def structure(value: Any) -> Any:
        return jax.tree.structure(ak.Array([1.0], attrs={"k": value}))

    assert structure([1, {"a": 2}]) == structure([1, {"a": 2}])
    assert structure({"a": 1, "b": 2}) == structure({"b": 2, "a": 1})
    for one, two in [(1, True), (1, 1.0), ([1], (1,)), ("1", 1), (None, "None"), ({"a": 1}, {"a": 2})]:
        assert structure(one) != structure(two)
    assert structure(np.float64(1)) == structure(np.float64(1))
    assert structure({1: 2, "b": 3}) == structure({1: 2, "b": 3})
    unhashable = np.arange(3)
    assert structure(unhashable) == structure(unhashable)
    assert structure(unhashable) != structure(np.arange(3))
    assert identity(ak.Array([1.0], attrs={"k": unhashable})).attrs["k"] is unhashable


def test_changing_an_attribute_in_place_does_not_change_others() -> None:
    runs = [1]
    identity(ak.Array([1.0], attrs={"runs": runs}))
    runs.append(2)
    assert identity(ak.Array([1.0], attrs={"runs": [1]})).attrs["runs"] == [1]
    assert identity(ak.Array([1.0], attrs={"runs": runs})).attrs["runs"] == [1, 2]


class TwiceArray(ak.Array):  # type: ignore[misc]
    @property
    def twice(self) -> Any:
        return self.x * 2


class TwiceRecord(ak.Record):  # type: ignore[misc]
    pass


def test_behaviors() -> None:
    behavior = {("*", "Twice"): TwiceArray, "Twice": TwiceRecord}
    array = ak.Array(ak.zip({"x": [[1.0, 2.0], []]}, with_name="Twice").layout, behavior=behavior)
    result = identity(array)
    assert type(result) is TwiceArray
    assert result.behavior is behavior
    assert type(result[0, 0]) is TwiceRecord
    assert jax.jit(lambda x: x.twice)(array).to_list() == [[2.0, 4.0], []]
    assert jax.tree.structure(result) == jax.tree.structure(array)
    equal = ak.Array(array.layout, behavior=dict(behavior))
    assert jax.tree.structure(equal) == jax.tree.structure(array)
    assert hash(jax.tree.structure(equal)) == hash(jax.tree.structure(array))
    assert identity(equal).behavior is equal.behavior or identity(equal).behavior == behavior
    other = ak.Array(array.layout, behavior={**behavior, "more": 1})
    assert jax.tree.structure(other) != jax.tree.structure(array)
    array.behavior = None
    assert type(identity(array)) is ak.Array
    assert identity(array).behavior is None


def test_behavior_of_a_result_set_later() -> None:
    result = identity(ak.zip({"x": [[1.0, 2.0], []]}, with_name="Twice"))
    result.behavior = {("*", "Twice"): TwiceArray}
    assert type(result) is TwiceArray
    assert type(identity(result)) is TwiceArray


def test_parameters() -> None:
    array = ak.with_parameter(ak.Array([[1.0, 2.0], [3.0]]), "units", {"a": {"b": [1, None]}})
    assert ak.parameters(identity(array)) == {"units": {"a": {"b": [1, None]}}}
    assert jax.tree.structure(array) == jax.tree.structure(identity(array))
    assert jax.tree.structure(array) != jax.tree.structure(ak.Array([[1.0, 2.0], [3.0]]))
    inner = ak.Array(
        ak.contents.ListOffsetArray(
            ak.index.Index64(np.array([0, 2, 3])),
            ak.contents.NumpyArray(np.arange(3.0), parameters={"unit": "GeV"}),
        )
    )
    assert identity(inner).layout.content.parameters == {"unit": "GeV"}
    codes = ak.index.Index64(np.array([0, 1, 0]))
    words = ak.Array(["a", "b"]).layout
    categories = ak.Array(ak.contents.IndexedArray(codes, words, parameters={"__array__": "categorical"}))
    assert str(identity(categories).type) == str(categories.type)
    assert identity(categories).to_list() == ["a", "b", "a"]


def test_named_axes() -> None:
    array = ak.with_named_axis(ak.Array([[1.0, 2.0], [3.0]]), ("event", "jet"))
    assert identity(array).named_axis == array.named_axis
    assert jax.tree.structure(identity(array)) == jax.tree.structure(array)
    result = jax.jit(lambda x: ak.sum(x, axis="jet"))(array)
    assert result.named_axis == ak.sum(array, axis="jet").named_axis
    assert result.to_list() == [3.0, 3.0]


def test_spec_pickles_with_its_facts() -> None:
    array = ak.with_parameter(ak.Array([[1.0, 2.0], [3.0]], attrs={"k": [1]}), "p", (1, 2))
    structure = jax.tree.structure(array)
    assert pickle.loads(pickle.dumps(structure)) == structure


def test_definitions_read_like_types() -> None:
    array = ak.zip({"pt": [[1.0], []], "n": [[1], []]}, with_name="Jet")
    text = str(jax.tree.structure(array))
    assert "2 * var[0,1,1] * Jet{pt: #0, n: #1}" in text
    assert "\n" not in text
    long = ak.Array(np.arange(10_000.0)[:, None].tolist())
    assert len(str(jax.tree.structure(long))) < 200
