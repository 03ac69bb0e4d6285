"""Arrays made of traced pieces, JAX arrays and other types."""

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrays import ALL
from many import check_many
from oracle import check, outcome, plain

import akjax

jax.config.update("jax_enable_x64", True)

X = ak.Array([[1.5, 2.0, -3.0], [], [4.0]])

PIECES = {
    "numbers": lambda x, s: ak.Array([s, 1, s]),
    "nested numbers": lambda x, s: ak.Array([[s], [], [1, s]]),
    "with missing ones": lambda x, s: ak.Array([[s, None], None]),
    "records": lambda x, s: ak.Array([{"a": s, "b": [s, 2]}, {"a": 1, "b": []}]),
    "tuples": lambda x, s: ak.Array([(s, [s]), (1, [])]),
    "text beside": lambda x, s: ak.Array([{"a": s, "t": "one"}, {"a": 2.5, "t": "two"}]),
    "arrays": lambda x, s: ak.Array([x, x[:1]]),
    "rows": lambda x, s: ak.Array([x[0], x[2]]),
    "an array in a record in a list": lambda x, s: ak.Array([{"a": x[0]}, {"a": x[2]}]),
    "unlike": lambda x, s: ak.Array([s, [s], x]),
    "one record": lambda x, s: ak.Record({"a": s, "b": x, "c": [1, s], "d": {"e": s}}),
    "from_iter": lambda x, s: ak.from_iter([x, [[s]]]),
    "from_iter of a record": lambda x, s: ak.from_iter({"a": s, "b": x}),
    "from_iter of a dict": lambda x, s: ak.from_iter({"a": s}, allow_record=False),
    "columns": lambda x, s: ak.Array({"a": x, "b": [s, s, s]}),
    "named": lambda x, s: ak.Array([{"x": s}], with_name="Point"),
    "large": lambda x, s: ak.Array([1e13, s, -(2**50)]),
}


if isinstance(outcome(lambda: ak.Record({"a": {"b": 1.0}})), Exception):
    del PIECES["one record"]  # older Awkward makes no records of records


def test_pieces():
    check_many(PIECES, X, 2.5)
    check_many(PIECES, X, 2)


@pytest.mark.parametrize("value", [True, np.float32(0.5), np.int8(-3), 1 + 2j, 3, 2.5])
def test_dtypes_of_pieces(value):
    check(lambda s: ak.Array([s, s]), value)
    check(lambda s: ak.Array([[s], []]), value)
    check(lambda s: ak.Array([s, 1.5]), value)


def test_gradient_of_pieces():
    assert jax.grad(lambda s: ak.sum(ak.Array([[s, 1.0], [s * s]])))(3.0) == 7.0


def test_jax_arrays():
    def there_and_back(x):
        return ak.from_jax(jnp.sin(ak.to_jax(ak.flatten(x))))

    assert plain(jax.jit(there_and_back)(X)) == pytest.approx(np.sin([1.5, 2.0, -3.0, 4.0]).tolist())
    check(lambda x: ak.from_numpy(x), np.arange(6.0).reshape(2, 3))
    check(lambda x: ak.Array(x), np.arange(6.0).reshape(2, 3))
    assert jax.jit(ak.from_dlpack)(np.arange(2.0)).to_list() == [0.0, 1.0]
    assert isinstance(ak.from_jax(jnp.arange(3)), ak.Array)
    with pytest.raises(ValueError, match="convert"):
        jax.jit(ak.to_jax)(X)


def test_to_jax_of_empty_lists():
    array = ak.values_astype(ak.Array([[], []]), "int64", including_unknown=True)
    for lists in (array, ak.unflatten(array, [2])):
        assert jax.jit(ak.to_jax)(lists).shape == ak.to_numpy(lists).shape


TYPES = {
    "itself": lambda x: ak.enforce_type(x, ak.type(x).content),
    "float32": lambda x: ak.enforce_type(x, "var * float32"),
    "option": lambda x: ak.enforce_type(x, "var * ?float64"),
    "flat option": lambda x: ak.enforce_type(x, "?int8"),
    "complex": lambda x: ak.enforce_type(x, "var * complex128"),
    "union": lambda x: ak.enforce_type(x, "var * union[float64, string]"),
    "regular": lambda x: ak.enforce_type(x, "2 * float64"),
    "record": lambda x: ak.enforce_type(x, "{x: float32, y: var * int64}"),
    "fewer fields": lambda x: ak.enforce_type(x, "var * {a: int8}"),
}


@pytest.mark.parametrize("name", ALL)
def test_enforce_type(name):
    functions = dict(TYPES)
    if name == "all empty":
        del functions["float32"]  # Awkward loses the row: ak.enforce_type(ak.Array([[1.0]])[:, :0], "var * float32")
        del functions["complex"]
    check_many(functions, ALL[name])


def test_enforce_type_of_no_booleans():
    array = ak.values_astype(ak.Array([[], [], [[]]]), bool, including_unknown=True)
    check(lambda x: ak.enforce_type(x, "option[var * var * bool]"), array)


def test_text_stays_and_is_not_made():
    array = ak.Array([{"s": "one", "x": 1}, {"s": "", "x": 2}])
    check(lambda x: ak.enforce_type(x, "{s: string, x: float32}"), array)
    check(lambda x: ak.enforce_type(x, "{s: ?bytes, x: ?float32}"), array)
    with pytest.raises(akjax.StructureError, match="text"):
        jax.jit(lambda x: ak.enforce_type(x, "string"))(X)


def test_enforce_type_of_values_that_may_be_missing():
    with pytest.raises(akjax.StructureError):
        jax.jit(lambda x: ak.enforce_type(ak.mask(x, x > 2), "var * ?float32"))(X)
