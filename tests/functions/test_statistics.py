"""Statistics against eager Awkward, and what happens to gradients where a statistic is undefined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest
from arrays import NUMBERS
from known_issues import OLD_STATISTICS, nothing_but_nan
from many import check_many
from oracle import check, check_gradient, plain

import akjax

akjax.register()

ONE = ("mean", "var", "std", "ptp", "nanmean", "nanvar", "nanstd")
FLAGS: tuple[dict[str, Any], ...] = ({}, {"keepdims": True}, {"mask_identity": True})


@pytest.mark.parametrize("key", [*NUMBERS, "NaN", "complex"])
def test_of_one_array(key: str) -> None:
    if OLD_STATISTICS and key in ("int8", "uint8", "complex"):
        pytest.skip("not what newer Awkward answers")
    odd = {
        "NaN": ak.Array([[1.5, np.nan, -2.0], [], [np.nan]]),
        "complex": ak.Array([[1 + 2j, 0.5j], [], [3 - 1j]]),
    }
    array = odd[key] if key in odd else NUMBERS[key]
    functions: dict[Any, Callable[..., Any]] = {}
    for axis in (None, 0, 1, -1, -2, 4):
        for flags in (*FLAGS, {"mask_identity": False, "keepdims": True}):
            for name in ONE:
                if not nothing_but_nan(array, axis):
                    functions[name, axis, *flags.items()] = lambda x, n=name, a=axis, f=flags: getattr(ak, n)(
                        x, axis=a, **f
                    )
    if key == "complex":
        functions = {name: f for name, f in functions.items() if name[0] in ("mean", "var", "std")}
    check_many(functions, array, rtol=1e-6 if key == "float32" else 1e-9)


@pytest.mark.parametrize(
    "key",
    [
        "lists",
        "first empty",
        "all empty",
        "flat",
        "integers",
        "int8",
        "float32",
        "regular",
        "options",
        "missing lists",
    ],
)
def test_weights_and_pairs(key: str) -> None:
    if OLD_STATISTICS and key == "int8":
        pytest.skip("not what newer Awkward answers")
    x = NUMBERS[key]
    y, w = x * x + 1.0, abs(x * 1.0) + 0.5
    functions: dict[Any, Callable[..., Any]] = {}
    for axis in (None, 0, -1, 5):
        for flags in FLAGS:
            options = {"axis": axis, **flags}
            at = tuple(options.items())
            for name in ("mean", "var", "std", "nanmean", "nanstd"):
                function = getattr(ak, name)
                functions[name, "weight", at] = lambda x, y, w, f=function, o=options: f(x, weight=w, **o)
                if x.ndim > 1:
                    row = np.arange(len(x)) + 1
                    functions[name, "a weight a row", at] = lambda x, y, w, f=function, o=options, r=row: f(x, r, **o)
                if "mean" not in name:
                    functions[name, "ddof", at] = lambda x, y, w, f=function, o=options: f(x, ddof=1, **o)
                    functions[name, "both", at] = lambda x, y, w, f=function, o=options: f(x, w, ddof=1, **o)
            for n in (0, 1, 2, 3):
                functions["moment", n, at] = lambda x, y, w, n=n, o=options: ak.moment(x, n, **o)
            for name in ("covar", "corr", "linear_fit"):
                function = getattr(ak, name)
                functions[name, at] = lambda x, y, w, f=function, o=options: f(x, y, **o)
                functions[name, "weight", at] = lambda x, y, w, f=function, o=options: f(x, y, weight=w, **o)
    check_many(functions, x, y, w, rtol=1e-5 if key == "float32" else 1e-9)


def test_scalar_weight() -> None:
    array = NUMBERS["lists"]
    for axis in (None, 1, 7):
        check(lambda x, axis=axis: ak.mean(x, 2.0, axis=axis), array)
        check(lambda x, axis=axis: ak.linear_fit(x, x, 2.0, axis=axis), array)


def test_traced_weights_of_concrete_values() -> None:
    array = NUMBERS["lists"]
    check(lambda w: ak.mean(array, weight=w, axis=1), array * array + 1)
    check(lambda w: ak.covar(array, array, weight=w, axis=1), array * array + 1)


@pytest.mark.skipif(OLD_STATISTICS, reason="not what newer Awkward answers")
def test_weights_that_sum_to_nothing() -> None:
    weights = ak.Array([[1.0, -1.0, 0.0], [], [0.0, 0.0], [-1.0]])
    functions = {name: lambda x, w, n=name: getattr(ak, n)(x, weight=w, axis=1) for name in ("mean", "var", "std")}
    check_many(functions, NUMBERS["lists"], weights)


@pytest.mark.parametrize("key", ["lists", "flat", "regular", "integers"])
def test_numpys_names(key: str) -> None:
    functions: dict[Any, Callable[..., Any]] = {}
    for name in ("mean", "std", "var", "ptp", "nanmean", "nanstd", "nanvar"):
        function = getattr(np, name)
        functions[name] = function
        functions[name, "axis"] = lambda x, f=function: f(x, axis=-1, keepdims=True)
        functions[name, "dtype"] = lambda x, f=function: f(x, dtype=np.float32)
        if "std" in name or "var" in name:
            functions[name, "ddof"] = lambda x, f=function: f(x, axis=-1, ddof=1)
    check_many(functions, NUMBERS[key])


@pytest.mark.parametrize("key", ["lists", "integers", "flat", "three levels", "regular", "options", "all empty"])
def test_softmax(key: str) -> None:
    functions = {
        (axis, keepdims): lambda x, a=axis, k=keepdims: ak.softmax(x, axis=a, keepdims=k)
        for axis in (None, 0, 1, 2, -1, -2)
        for keepdims in (False, True)
    }
    check_many(functions, NUMBERS[key])


@pytest.mark.skipif(OLD_STATISTICS, reason="not what newer Awkward answers")
def test_named_axis() -> None:
    array = ak.with_named_axis(NUMBERS["lists"], ("event", "jet"))
    check_many({(n, a): lambda x, n=n, a=a: getattr(ak, n)(x, axis=a) for n in ONE for a in ("event", "jet")}, array)


# ------------------------------------------------------------------------------- gradients

X = ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]])
Y = ak.Array([[1.0, 0.3, 2.0], [], [-1.0, 2.5], [3.0]])
W = ak.Array([[1.0, 2.0, 0.5], [], [1.0, 1.0], [2.0]])


def squared(value: Any) -> Any:
    """A scalar with a second derivative."""
    value = ak.fill_none(value, 0.0) if isinstance(value, ak.Array) else value
    total = value * value * 0.5 + value
    return ak.sum(total) if isinstance(total, ak.Array) else total


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["mean", "var", "ptp"])
def test_gradient(name: str, axis: Any) -> None:
    check_gradient(lambda x: squared(getattr(ak, name)(x, axis=axis, mask_identity=True)), X)


def test_gradient_of_std() -> None:
    check_gradient(lambda x: squared(ak.std(x)), X)
    check_gradient(lambda x: squared(ak.std(x, axis=1)[::2]), X)
    check_gradient(lambda x, w: squared(ak.std(x, weight=w, axis=1)[:1]), X, W)


@pytest.mark.parametrize("name", ["covar", "corr", "linear_fit"])
def test_gradient_of_pairs(name: str) -> None:
    def total(x: Any, y: Any, w: Any) -> Any:
        value = getattr(ak, name)(x, y, weight=w)
        return squared(value.slope if name == "linear_fit" else value)

    check_gradient(total, X, Y, W)


def test_gradient_of_softmax() -> None:
    check_gradient(lambda x: squared(ak.softmax(x, axis=-1)), X)


@pytest.mark.parametrize("array", [[[5.0], [1.0, 2.0], []], [[2.0, 2.0, 2.0], [1.0, 4.0]]])
def test_std_of_one_element_and_of_equal_ones(array: Any) -> None:
    gradient = jax.grad(lambda x: ak.sum(ak.std(x, axis=1, mask_identity=True)))(ak.Array(array))
    assert np.isfinite(ak.to_numpy(ak.flatten(gradient))).all()
    second = jax.jacfwd(jax.grad(lambda x: ak.sum(ak.std(x, axis=1, mask_identity=True)) ** 2))
    for leaf in jax.tree.leaves(second(ak.Array(array))):
        assert np.isfinite(np.asarray(leaf)).all()


@pytest.mark.parametrize("name", ["var", "std"])
def test_undefined_leaves_the_gradient_of_the_rest(name: str) -> None:
    array = ak.Array([[1.0, 2.0, 4.0], [7.0], []])

    def total(x: Any) -> Any:
        spread = getattr(ak, name)(x, ddof=1, axis=1)
        return ak.nansum(spread)

    check(lambda x: getattr(ak, name)(x, ddof=1, axis=1), array)
    gradient = plain(jax.grad(total)(array))
    assert np.isfinite(gradient[0]).all()
    assert gradient[1] == [0.0]


def test_fit_of_a_single_point_leaves_the_gradient_of_the_rest() -> None:
    x, y = ak.Array([[1.0, 2.0, 4.0], [7.0], []]), ak.Array([[1.0, 3.0, 4.0], [1.0], []])
    gradient = plain(jax.grad(lambda x: ak.nansum(ak.linear_fit(x, y, axis=1).slope))(x))
    assert np.isfinite(gradient[0]).all()
    assert gradient[1] == [0.0]


def test_lists_are_held_once() -> None:
    """What reduces the lists and what broadcasts to them again share one index."""
    x = ak.unflatten(np.arange(1000.0), np.bincount(np.random.default_rng(0).integers(0, 300, 1000)))
    for function in (lambda x: ak.softmax(x, axis=-1), lambda x: x - ak.sum(x, axis=1)):
        held = [np.shape(constant) for constant in jax.make_jaxpr(function)(x).consts]
        assert held.count((1000, 1)) == 1, held
