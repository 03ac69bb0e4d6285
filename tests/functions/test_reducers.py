"""Reducers against eager Awkward: every axis, every layout kind, every option."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrays import NUMBERS
from known_issues import nothing_but_nan
from many import check_many
from oracle import check, check_gradient, plain

import akjax

akjax.register()

PLAIN = ("sum", "prod", "any", "all", "count", "count_nonzero", "min", "max", "argmin", "argmax")
NAN = ("nansum", "nanprod", "nanmin", "nanmax", "nanargmin", "nanargmax")
AXES = (None, 0, 1, 2, -1, -2, -3, 4, -5)
FLAGS: tuple[dict[str, Any], ...] = (
    {},
    {"keepdims": True},
    {"mask_identity": True},
    {"mask_identity": False, "keepdims": True},
)
nan, inf = np.nan, np.inf

MORE = {
    "NaN": ak.Array([[1.5, nan, -2.0], [], [nan], [nan, 3.0]]),
    "NaN first": ak.Array([[nan, 1.5, -2.0], [inf, -inf], [nan, nan]]),
    "NaN and None": ak.Array([[1.5, nan, None], [], [nan], None, [None]]),
    "NaN only": ak.Array([[nan], [nan, nan]]),
    "flat NaN": ak.Array([1.0, nan, 3.0]),
    "regular NaN": ak.Array(np.array([[1.0, nan, 2.0], [nan, nan, nan]])),
    "cube of NaN": ak.Array(np.array([[[1.0, nan], [2.0, 0.0]], [[nan, nan], [3.0, nan]]])),
    "complex": ak.Array([[1 + 2j, 0.5j], [], [3 - 1j]]),
    "regular without columns": ak.Array(np.zeros((3, 0))),
    "regular without rows": ak.Array(np.zeros((0, 3))),
    "regular of None": ak.to_regular(ak.Array([[1.0, None], [None, None]])),
    "missing lists of lists": ak.Array([[[1.0, None], []], None, [[3.0], None]]),
    "a parameter": ak.with_parameter(ak.Array([[1.0, 2.0], []]), "units", "m"),
    "unknown": ak.Array([[], [], []]),
    "nothing": ak.Array([]),
    "union": ak.Array([1.0, [2.0, 3.0], 4.0, []]),
    "record": ak.zip({"b": [[1.0, 2.0], [], [3.0]], "a": [[1, 2], [], [3]]}),
}
DTYPES = (
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float16",
    "bool",
)


def calls(names: tuple[str, ...], array: Any, axes: Any = AXES, flags: Any = FLAGS) -> dict[Any, Callable[..., Any]]:
    """Every call of these functions whose answer a number can be."""
    found: dict[Any, Callable[..., Any]] = {}
    for name in names:
        for axis in axes:
            if "nan" in name and nothing_but_nan(array, axis):
                continue
            for options in flags:
                found[name, axis, *options.items()] = lambda x, name=name, axis=axis, options=options: getattr(
                    ak, name
                )(x, axis=axis, **options)
    return found


@pytest.mark.parametrize("key", NUMBERS)
def test_every_axis(key: str) -> None:
    check_many(calls(PLAIN + NAN, NUMBERS[key]), NUMBERS[key])


@pytest.mark.parametrize("key", MORE)
def test_every_axis_of_odd_arrays(key: str) -> None:
    array = MORE[key]
    axes = (None, 0, 1, -1, -2, 3)
    check_many(calls(PLAIN, array, axes), array)
    if key not in ("union", "record"):
        check_many(calls(NAN, array, axes), array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str) -> None:
    array = ak.values_astype(ak.Array([[100, 100, 1], [], [0, 5, 5], [1]]), dtype)
    check_many(calls(PLAIN, array, (None, 0, -1), ({}, {"mask_identity": False})), array, rtol=1e-3)


def test_integers_at_the_limits() -> None:
    array = ak.Array([[2**62, 2**62], [-(2**63)]])
    check_many(calls(PLAIN, array, (None, -1), ({},)), array)
    unsigned = ak.unflatten(np.array([2**63, 2**63], np.uint64), [2, 0])
    check_many(calls(PLAIN, unsigned, (None, -1), ({},)), unsigned)


@pytest.mark.parametrize("key", ["lists", "flat", "options", "regular", "all empty"])
def test_numpys_names(key: str) -> None:
    array = NUMBERS[key]
    functions: dict[Any, Callable[..., Any]] = {}
    for name in (*PLAIN, *NAN):
        if name == "count":
            continue
        function = getattr(np, name)
        functions[name] = function
        functions[name, "keepdims"] = lambda x, f=function: f(x, -1, keepdims=True)
        functions[name, "out"] = lambda x, f=function: f(x, axis=-1, out=None)
        functions[name, "dtype"] = lambda x, f=function: f(x, axis=-1, dtype=np.float32)
    functions["amax"] = lambda x: np.amax(x, axis=-1, initial=100.0)
    check_many(functions, array)


def test_named_axes() -> None:
    array = ak.with_named_axis(ak.Array([[1.0, 2.0], [], [3.0]]), ("event", "jet"))
    check_many(calls(PLAIN, array, ("event", "jet", "muon"), ({},)), array)
    kept = jax.jit(lambda x: ak.sum(x, axis="jet", keepdims=True))(array)
    assert kept.named_axis == ak.sum(array, axis="jet", keepdims=True).named_axis


def test_behavior_of_the_result() -> None:
    behavior: dict[Any, Any] = {}
    array = ak.Array([[1.0], []], behavior=behavior, attrs={"a": 1})
    seen = []
    jax.jit(lambda x: seen.append(ak.sum(x, axis=1)) or 0.0)(array)
    assert seen[0].behavior == behavior
    assert dict(seen[0].attrs) == {"a": 1}


# ------------------------------------------------------------------------------- records, strings


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_overload_of_records(axis: int, keepdims: bool) -> None:
    def add(array: Any, mask_identity: bool) -> Any:
        return ak.zip({"x": ak.sum(array.x, axis=-1), "y": ak.max(array.y, axis=-1)}, with_name="P")

    points = ak.zip({"x": [[1.0, 2.0], [], [3.0]], "y": [[1.0, 5.0], [], [2.0]]}, with_name="P")
    points = ak.Array(points, behavior={(ak.sum, "P"): add})
    check(lambda p: ak.sum(p, axis=axis, keepdims=keepdims).x, points)


def test_records_without_overload() -> None:
    points = ak.zip({"x": [[1.0, 2.0], [], [3.0]]}, with_name="Q")
    for axis in (0, 1, None):
        check(lambda p, axis=axis: ak.sum(p, axis=axis), points)


def test_single_record() -> None:
    record = ak.Record({"x": 1.0})
    check(ak.sum, record)


# ------------------------------------------------------------------------------- gradients


def squared(value: Any) -> Any:
    """A scalar that depends on everything in a result, with a second derivative."""
    value = ak.fill_none(value, 0.0) if isinstance(value, ak.Array) else value
    total = value * value * 0.5 + value
    return ak.sum(total) if isinstance(total, ak.Array) else total


SMOOTH = {
    "lists": ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]]),
    "three levels": ak.Array([[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]]]),
    "missing": ak.Array([[1.0, None, 2.0], [], None, [3.0]]),
    "regular": ak.Array(np.arange(6.0).reshape(2, 3) + 0.5),
}


@pytest.mark.parametrize("key", SMOOTH)
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "nanprod"])
def test_gradient(key: str, axis: Any, name: str) -> None:
    check_gradient(lambda x: squared(getattr(ak, name)(x, axis=axis)), SMOOTH[key])


def test_gradient_of_prod_with_zeros() -> None:
    array = ak.Array([[0.0, 2.0, 3.0], [], [0.0, 3.0, 0.0], [5.0], [0.0]])
    check_gradient(lambda x: squared(ak.prod(x, axis=1)), array)
    gradient = jax.grad(lambda x: ak.sum(ak.prod(x, axis=1)))(array)
    assert plain(gradient) == [[6.0, 0.0, 0.0], [], [0.0, 0.0, 0.0], [1.0], [1.0]]


@pytest.mark.parametrize("name", [*PLAIN, *NAN, "mean", "std", "var", "ptp", "softmax"])
def test_nothing_is_nan_where_the_result_is_not(name: str) -> None:
    array = ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]])
    masked = {"mask_identity": True} if name not in ("softmax",) else {}
    with jax.debug_nans(True):
        result = jax.jit(lambda x: getattr(ak, name)(x, axis=-1, **masked))(array)
        jax.block_until_ready(jax.tree.leaves(result))


# ------------------------------------------------------------------------------- cost


def test_structure_is_held_once() -> None:
    array = ak.unflatten(np.arange(3000.0), np.full(1000, 3) + np.tile([1, -1], 500))

    def several(x: Any) -> Any:
        return (ak.sum(x, axis=1), ak.mean(x, axis=1), ak.any(x, axis=1), ak.sum(x * 2, axis=1))

    constants = jax.make_jaxpr(several)(array).consts
    assert sum(np.size(constant) == 3000 for constant in constants) == 1


def test_a_whole_sum_holds_no_structure() -> None:
    array = ak.unflatten(np.arange(3000.0), [1000, 2000])
    assert not any(np.size(constant) > 1 for constant in jax.make_jaxpr(lambda x: ak.sum(x))(array).consts)


def test_awkward_is_not_asked_for_every_element(monkeypatch: pytest.MonkeyPatch) -> None:
    from akjax.functions import reducers

    asked = []
    original = reducers.like
    monkeypatch.setattr(reducers, "like", lambda array, node: asked.append(node.length) or original(array, node))
    array = ak.unflatten(np.arange(3000.0), [1000, 2000])
    for axis in (None, 1, -1):
        jax.make_jaxpr(lambda x, axis=axis: ak.max(x, axis=axis))(array)
    assert set(asked) == {1}


def test_without_x64() -> None:
    with jax.enable_x64(False):
        array = ak.values_astype(ak.Array([[1, 2], [], [3]]), "int32")
        result = jax.jit(lambda x: ak.sum(x, axis=1))(array)
        assert jax.tree.leaves(result)[0].dtype == jnp.int32
        assert plain(result) == [3, 0, 3]


@pytest.mark.parametrize("name", ["sum", "min", "max", "count"])
def test_text(name: str) -> None:
    """Awkward reduces the bytes; with keepdims=True its lists end beyond their content, and it shows what is there."""
    array = ak.Array([{"s": ["one", "two"], "x": 1.0}, {"s": [], "x": 2.0}])
    options: list[dict[str, Any]] = [{}, {"keepdims": True}, {"mask_identity": False, "keepdims": True}]
    calls = {
        (axis, *given): lambda x, a=axis, g=given: getattr(ak, name)(x.s, axis=a, **g)
        for axis in (None, 0, 1, -1)
        for given in options
    }
    check_many(calls, array)
    for given in options:
        check(lambda x, g=given: getattr(ak, name)(x, axis=-1, **g), ak.Array(["one", "two"]))


def test_nan_reducers_of_no_numbers() -> None:
    """That there are none is known while tracing."""
    for array in (ak.Array([1.0, None])[1:], ak.Array([[None], [1.0]])[:1], ak.Array([1.0])[:0]):
        for name in ("nanmax", "nanmin", "nanargmax", "nansum"):
            check(getattr(ak, name), array)
            check(lambda x, n=name: getattr(ak, n)(x, axis=-1), array)


def test_regular_columns_of_no_rows() -> None:
    """The length of a regular dimension is part of the type, whatever is selected."""
    calls = {
        (name, axis): lambda x, m, n=name, a=axis: getattr(ak, n)(x[m], axis=a)
        for name in ("sum", "max", "argmin")
        for axis in (0, 1, 2)
    }
    array = ak.Array(np.arange(12.0).reshape(2, 3, 2))
    check_many(calls, array, ak.Array([False, False]))
    check_many(calls, array, ak.Array([False, True]))
    pairs = ak.to_regular(ak.Array([[[1, 2], [3, 4]], [[5, 6]]]), axis=2)
    check_many({name: call for name, call in calls.items() if name[1] < 2}, pairs, ak.Array([[False, True], [False]]))


@pytest.mark.parametrize("level", [1, 2, 3])
def test_lists_missing_at_run_time_have_no_columns(level: int) -> None:
    """Over an outer axis there are as many columns as the lists that are there have, not those that are missing."""
    array = ak.Array([[[1.0]], [[]], [[3.0], [1.0, 1.0]], [], [[5.0], [7.0]], [[], [9.0, 0.0, 2.0]]])

    def hidden(x: Any, most: float) -> Any:
        sums = x
        while sums.ndim > level:
            sums = ak.sum(sums, axis=-1)
        return ak.mask(x, sums < most)

    check_many(
        {
            (name, axis, most, keepdims): lambda x, n=name, a=axis, m=most, k=keepdims: getattr(ak, n)(
                hidden(x, m), axis=a, keepdims=k
            )
            for name in ("sum", "max", "count")
            for axis in (0, 1, 2)
            for most in (-1.0, 2.0, 8.0)
            for keepdims in (False, True)
        },
        array,
    )


@pytest.mark.parametrize("name", ["max", "argmin", "ptp", "sum"])
def test_nothing_in_lists_that_may_be_missing(name: str) -> None:
    """A missing list and one with nothing to reduce are missing in one way, also where both are known at run time."""
    functions = {
        "is_none": lambda x: ak.is_none(getattr(ak, name)(x, axis=-1), axis=-1),
        "drop_none": lambda x: ak.drop_none(getattr(ak, name)(x, axis=-1)),
        "singletons": lambda x: ak.singletons(getattr(ak, name)(x, axis=-1), axis=-1),
        "fill_none": lambda x: ak.fill_none(getattr(ak, name)(x, axis=-1), 9),
        "masked": lambda x: ak.num(ak.drop_none(getattr(ak, name)(ak.mask(x, ak.num(x) < 9), axis=-1)), axis=0),
    }
    for array in (
        ak.Array([[1.0], None, [], [3.0, 2.0]]),
        ak.Array([[[1.0], None, []], [], [[], [3.0]]]),
    ):
        for key, function in functions.items():
            got, want = jax.jit(function)(akjax.traced(array)), function(array)
            assert plain(got) == plain(want), key


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_false_times_nan(dtype: str) -> None:
    """XLA makes zero of false times NaN or infinity; to NumPy it is NaN."""
    numbers = ak.Array(np.array([np.nan, 2.0, np.inf, -np.inf, -1.0, 0.0, 3.0], dtype))
    chosen = ak.Array([False, True, False, False, False, False, True])
    with np.errstate(invalid="ignore"):
        check_many(
            {
                "left": lambda x, c: c * x,
                "right": lambda x, c: x * c,
                "sum": lambda x, c: ak.sum(c * x),
                "scalar": lambda x, c: ~ak.any(c) * x,
            },
            numbers,
            chosen,
        )


OF_NUMBERS = [*PLAIN, *NAN, "mean", "nanmean", "var", "std", "ptp", "softmax", "sort", "argsort", "num", "flatten"]


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_of_a_single_number(name):
    """A row of a flat array is a number, of which Awkward makes no array."""
    function = getattr(ak, name)
    if name == "softmax":  # without an axis it takes no array either on older versions of Awkward
        function = functools.partial(function, axis=-1)
    with pytest.raises(TypeError):
        function(1.0)
    for call in (
        lambda x: jax.vmap(function)(x),
        lambda x: jax.lax.scan(lambda total, row: (total + function(row), None), 0.0, x),
        jax.jit(lambda x: jax.vmap(lambda row: function(row, axis=0))(x)),
    ):
        with pytest.raises(TypeError, match="array, not a single number"):
            call(ak.Array([1.0, 2.0]))
    with pytest.raises(TypeError):
        jax.jit(lambda x: function(ak.sum(x)))(ak.Array([1.0, 2.0]))


def test_rows_of_a_flat_array_are_added_as_numbers():
    total, _ = jax.lax.scan(lambda total, row: (total + row, None), 0.0, ak.Array([1.0, 2.0]))
    assert plain(total) == 3.0
