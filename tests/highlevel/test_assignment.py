"""Assigning fields: on traced arrays, and on others while a transformation runs, only there."""

from __future__ import annotations

import threading
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import akjax

akjax.register()


def records() -> Any:
    return ak.Array({"pt": [1.0, 2.0, 3.0], "n": [1, 2, 3]})


def untouched(array: Any) -> bool:
    return bool(
        array.fields == ["pt", "n"]
        and array.to_list() == records().to_list()
        and jax.tree.structure(array) == jax.tree.structure(records())
        and "new" not in dir(array)
    )


def test_traced_arguments() -> None:
    array = records()

    @jax.jit
    def f(x: Any, s: Any) -> Any:
        x["new"] = x.pt * s
        assert x.fields == ["pt", "n", "new"]
        x["n"] = x.n + 1
        del x["pt"]
        return x

    assert f(array, 2.0).to_list() == [{"n": n + 1, "new": 2.0 * n} for n in (1, 2, 3)]
    assert untouched(array)


def test_nested_fields() -> None:
    array = ak.Array([{"jet": {"pt": 1.0}}, {"jet": {"pt": 2.0}}])

    @jax.jit
    def f(x: Any, s: Any) -> Any:
        x["jet", "new"] = x.jet.pt * s
        x["jet", "n"] = 7
        return x

    expected = [{"jet": {"pt": 1.0, "new": 2.0, "n": 7}}, {"jet": {"pt": 2.0, "new": 4.0, "n": 7}}]
    assert f(array, 2.0).to_list() == expected
    assert array.fields == ["jet"]
    assert array.jet.fields == ["pt"]


def fresh() -> Any:
    return records()


def flattened() -> Any:
    array = records()
    jax.tree.structure(array)
    return array


def result() -> Any:
    return jax.jit(lambda x: x)(records())


def touched_result() -> Any:
    array = result()
    array.to_list()
    return array


ORIGINS = pytest.mark.parametrize("make", [fresh, flattened, result, touched_result])


@ORIGINS
@pytest.mark.parametrize("transform", [jax.jit, jax.grad, jax.value_and_grad, jax.checkpoint, jax.jacfwd, jax.jacrev])
def test_closed_over_arrays_are_what_they_were(make: Any, transform: Any) -> None:
    array = make()

    def f(s: Any) -> Any:
        array["new"] = array.pt * s
        assert array.fields == ["pt", "n", "new"]
        assert ak.fields(array.new) == []
        return ak.sum(array["new"]) + ak.sum(array.new)

    value = transform(f)(2.0)
    assert jax.tree.leaves(value)[0] in (24.0, 12.0)
    assert untouched(array)
    transform(f)(2.0)
    assert untouched(array)


@ORIGINS
def test_arguments_without_derivative(make: Any) -> None:
    array = make()

    def loss(s: Any, x: Any) -> Any:
        x["new"] = x.pt * s
        return ak.sum(x.new)

    assert jax.value_and_grad(loss)(2.0, array) == (12.0, 6.0)
    assert untouched(array)
    assert jax.jit(jax.value_and_grad(loss))(2.0, array) == (12.0, 6.0)
    assert untouched(array)


@ORIGINS
def test_deleting(make: Any) -> None:
    array = make()

    def f(s: Any) -> Any:
        array["pt"] = array.pt * s
        del array["n"]
        assert array.fields == ["pt"]
        return ak.sum(array.pt)

    assert jax.grad(f)(1.0) == 6.0
    assert untouched(array)


def test_transformations_in_transformations() -> None:
    array = records()
    seen = []

    def outer(s: Any) -> Any:
        array["a"] = array.pt * s

        def inner(t: Any) -> Any:
            seen.append(array.fields)
            array["b"] = array.a * t
            seen.append(array.fields)
            return ak.sum(array.b)

        gradient = jax.grad(inner)(3.0)
        seen.append(array.fields)
        return gradient + jax.jit(inner)(1.0) + ak.sum(array.a)

    assert jax.jit(outer)(2.0) == 36.0
    base = ["pt", "n"]
    assert seen == [[*base, "a"], [*base, "a", "b"], [*base, "a"], [*base, "a"], [*base, "a", "b"]]
    assert untouched(array)


def test_traced_array_assigned_in_an_inner_transformation() -> None:
    @jax.jit
    def outer(x: Any, s: Any) -> Any:
        def inner(t: Any) -> Any:
            x["new"] = x.pt * t
            return ak.sum(x.new)

        gradient = jax.grad(inner)(s)
        assert x.fields == ["pt", "n"]
        return gradient, x

    gradient, array = outer(records(), 3.0)
    assert gradient == 6.0
    assert untouched(array)


def test_every_inner_transformation_sees_it() -> None:
    array = records()

    def f(s: Any) -> Any:
        array["new"] = array.pt * s
        scanned = jax.lax.scan(lambda c, _: (c + ak.sum(array.new), None), 0.0, None, length=2)[0]
        branch = jax.lax.cond(s > 0, lambda: ak.sum(array.new), lambda: 0.0)
        kept = jax.checkpoint(lambda q: ak.sum(array.new * q))(s)
        mapped = jax.vmap(lambda q: ak.sum(array.new * q))(jnp.arange(2.0)).sum()
        with jax.ensure_compile_time_eval():
            assert array.pt.to_list() == [1.0, 2.0, 3.0]
        return scanned + branch + kept + mapped

    assert f.__name__ == "f"
    assert jax.value_and_grad(f)(1.0) == (30.0, 36.0)
    assert jax.jit(jax.grad(f))(1.0) == 36.0
    assert untouched(array)


def test_exceptions_undo_it() -> None:
    array = records()

    def f(s: Any) -> Any:
        array["new"] = array.pt * s
        message = "no"
        raise KeyError(message)

    for transform in (jax.jit, jax.grad):
        with pytest.raises(KeyError):
            transform(f)(1.0)
        assert untouched(array)


def test_other_threads_do_not_see_it_and_do_not_undo_it() -> None:
    array = records()
    seen = []

    def f(s: Any) -> Any:
        array["new"] = array.pt * s
        thread = threading.Thread(target=lambda: seen.append(untouched(array)))
        thread.start()
        thread.join()
        return ak.sum(array.new)

    assert jax.jit(f)(2.0) == 12.0
    assert seen == [True]
    assert untouched(array)


def test_eager_assignment_of_results() -> None:
    array = result()
    array["new"] = array.pt * 2
    array["pt"] = jnp.asarray([3.0, 4.0, 5.0])
    assert array.to_list() == [{"pt": n + 2.0, "n": n, "new": 2.0 * n} for n in (1, 2, 3)]
    assert jax.jit(lambda x: ak.sum(x.new))(array) == 12.0
    del array["new"]
    assert jax.jit(lambda x: x.fields and ak.sum(x.pt))(array) == 12.0
    array.layout = records().layout
    assert untouched(array)


def test_assigning_static_values() -> None:
    @jax.jit
    def f(x: Any) -> Any:
        x["name"] = ak.Array(["a", "b", "c"])
        x["one"] = 1
        x["list"] = [1, 2, 3]
        return x

    assert f(records())[["name", "one", "list"]].to_list() == [
        {"name": name, "one": 1, "list": n} for name, n in zip("abc", (1, 2, 3), strict=True)
    ]


def test_only_fields_are_assigned() -> None:
    def assign(x: Any) -> None:
        x[0] = 1

    def delete(x: Any) -> None:
        del x[0]

    def attribute(x: Any) -> None:
        x.pt = 1

    for f in (assign, delete):
        with pytest.raises(TypeError, match="only fields"):
            jax.jit(f)(records())
    with pytest.raises(AttributeError, match="fields cannot be set as attributes"):
        jax.jit(attribute)(records())


def test_records() -> None:
    record = records()[1]

    @jax.jit
    def f(x: Any, s: Any) -> Any:
        x["new"] = x.pt * s
        return x

    assert f(record, 2.0).to_list() == {"pt": 2.0, "n": 2, "new": 4.0}
    assert record.fields == ["pt", "n"]


@pytest.mark.parametrize("value", [7, np.array(7), np.float64(7), True, None, "text"], ids=repr)
def test_one_value_for_all(value: Any) -> None:
    def f(x: Any) -> Any:
        x["new"] = value
        return x

    assert jax.jit(f)(records()).to_list() == f(records()).to_list()
    record = jax.jit(lambda x: f(x[1]) if not isinstance(value, str) else x[1])(records())
    assert record.pt == 2.0


def test_fields_of_a_record() -> None:
    seen = []

    @jax.jit
    def f(x: Any) -> Any:
        seen.append((x.fields, x.is_tuple, "pt" in dir(x), "new" in x.fields))
        return x.pt

    assert f(records()[1]) == 2.0
    assert seen == [(["pt", "n"], False, True, False)]


def test_failed_assignments_say_what_awkward_says() -> None:
    """And leave the array as it was."""
    wrong = {
        "lengths": lambda x: x.__setitem__("new", [1, 2]),
        "no such record": lambda x: x.__setitem__(("nope", "new", "deep"), 1),
        "an integer": lambda x: x.__setitem__(0, 1),
        "a list": lambda x: x.__setitem__(["pt"], 1),
        "nothing to delete": lambda x: x.__delitem__("nope"),
        "an attribute": lambda x: setattr(x, "pt", 1),
        "a new attribute": lambda x: setattr(x, "other", 1),
        "no field": lambda x: x.nope,
    }

    def failed(x: Any) -> dict[str, str]:
        found = {}
        for name, change in wrong.items():
            try:
                change(x)
            except Exception as error:
                found[name] = type(error).__name__
        return found

    seen = []
    jax.jit(lambda x: (seen.append(failed(x)), x.pt)[1])(records())
    assert seen == [failed(records())]
    assert untouched(records())
