"""Minimum, maximum and where they are: ties, NaN, initial values, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrays import NUMBERS
from known_issues import MISCOUNTS_MISSING
from many import check_many
from oracle import check, check_gradient, plain

import akjax

akjax.register()

INITIAL = {
    **{key: NUMBERS[key] for key in ("lists", "integers", "booleans", "uint8", "float32", "flat", "options")},
    "empty": NUMBERS["all empty"],
    "complex": ak.Array([[1 + 2j, 0.5j], [], [3 - 1j]]),
}
if tuple(map(int, ak.__version__.split(".")[:2])) < (2, 9):
    del INITIAL["complex"]  # Awkward's oldest versions take the bound into account, later ones do not: we follow these


@pytest.mark.parametrize("key", INITIAL)
def test_initial(key: str) -> None:
    array = INITIAL[key]
    functions: dict[Any, Callable[..., Any]] = {}
    for name in ("min", "max", "nanmin", "nanmax"):
        for initial in (0, 2, -1.5, 100, True):
            for axis in (None, 0, -1):
                for mask in (True, False):
                    options = {"initial": initial, "axis": axis, "mask_identity": mask}
                    functions[name, *options.items()] = lambda x, n=name, o=options: getattr(ak, n)(x, **o)
    check_many(functions, array)


def test_traced_initial() -> None:
    array = ak.Array([[1.0, 5.0], [], [3.0]])
    got = jax.jit(lambda x, low: ak.max(x, axis=1, initial=low, mask_identity=False))(array, 4.0)
    assert plain(got) == [5.0, 4.0, 4.0]


def test_ties_share_the_gradient() -> None:
    array = ak.Array([[2.0, 2.0, 1.0], [], [3.0]])
    for name, want in (("max", [[0.5, 0.5, 0.0], [], [1.0]]), ("min", [[0.0, 0.0, 1.0], [], [1.0]])):
        gradient = jax.grad(lambda x, n=name: ak.sum(getattr(ak, n)(x, axis=1)))(array)
        assert plain(gradient) == want


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["min", "max", "ptp", "nanmin", "nanmax"])
def test_gradient(axis: Any, name: str) -> None:
    def total(x: Any) -> Any:
        best = getattr(ak, name)(x, axis=axis)
        best = ak.fill_none(best, 0.0) if isinstance(best, ak.Array) else best
        return ak.sum(best * best) if isinstance(best, ak.Array) else best * best

    check_gradient(total, ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]]))


def test_gradient_reaches_no_nan() -> None:
    array = ak.Array([[np.nan, 2.0], [], [1.0]])
    gradient = jax.grad(lambda x: ak.sum(ak.nanmax(x, axis=1)))(array)
    assert plain(gradient) == [[0.0, 1.0], [], [1.0]]


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("axis", [-1, 1])
def test_position_as_an_index(name: str, axis: int) -> None:
    array = ak.zip({"x": [[1.0, 3.0, 2.0], [], [5.0]], "n": [[1, 2, 3], [], [4]]})
    check(lambda a: a[getattr(ak, name)(a.x, axis=axis, keepdims=True)], array)


def test_first_of_equal() -> None:
    array = ak.Array([[1, 1, 0, 0], [2, 2], []])
    check_many({n: (lambda x, n=n: getattr(ak, n)(x, axis=1)) for n in ("argmin", "argmax")}, array)


def test_position_counts_missing_values() -> None:
    array = ak.Array([[None, 1.0, None, 3.0], None, [], [None]])
    functions = {
        (name, axis): lambda x, n=name, a=axis: getattr(ak, n)(x, axis=a)
        for name in ("argmin", "argmax")
        for axis in (None, -1)
    }
    check_many(functions, array)


def test_position_counts_missing_values_that_are_left() -> None:
    """What was not selected, or is in a list that is missing, is not counted; a missing number is."""
    flat = ak.Array([None, 5.0, None, 7.0, 1.0])
    lists = ak.Array([[None, 5.0], None, [], [None, 7.0, 1.0]])
    calls = {
        (name, keepdims): lambda x, m, n=name, k=keepdims: getattr(ak, n)(x[m], axis=None, keepdims=k)
        for name in ("argmin", "argmax")
        for keepdims in (False, True)
    }
    check_many(calls, flat, ak.Array([True, True, True, False, True]))
    check_many(calls, lists, ak.Array([True, False, True, True]))
    hidden = {name: lambda x, m, n=name: getattr(ak, n)(ak.mask(x, m)) for name in ("argmin", "argmax")}
    check_many(hidden, ak.Array([[40], [3], [-8]]), ak.Array([True, False, True]))


OUTER: dict[str, Any] = {
    "empty": [[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]], [[]], [[], [7.0]]],
    "of one": [[[1.0]], [], [[3.0]]],
    "missing rows": [None, [1.0], None, [3.0, 0.5]],
    "missing rows of lists": [None, [[1.0]], [[], [2.0]], [[3.0]]],
    "missing lists": [[None, [1.0]], [None, [3.0]], [[1.0], [4.0], None, [5.0, 2.0]]],
    "missing numbers": [[[1.0], [None]], [None, [None, 3.0]], [[None], [4.0, None]]],
    "four levels": [[[[1.0], [2.0]], [], [[4.0], [5.0]]], [[], [[]]], [[]], [[[2.0]]], [[[]], [[3.0]]]],
}


@pytest.mark.parametrize("key", [key for key in OUTER if not (MISCOUNTS_MISSING and "missing" in key)])
def test_position_over_an_outer_axis(key: str) -> None:
    """Awkward counts only innermost lists that are there."""
    array = ak.Array(OUTER[key])
    functions = {
        (name, axis): lambda x, n=name, a=axis: getattr(ak, n)(x, axis=a)
        for name in ("argmin", "argmax", "nanargmax", "argsort")
        for axis in range(array.ndim - 1)
    }
    check_many(functions, array)


@pytest.mark.parametrize("axis", [0, 1])
def test_position_over_an_outer_axis_of_what_is_left(axis: int) -> None:
    array = ak.Array([[[1.0]], [[]], [[3.0]], [], [[5.0], [7.0]], [[], [9.0]], [[8.0]]])
    functions = {
        "rows": lambda x: ak.argmax(x[ak.sum(ak.sum(x, axis=-1), axis=-1) > 1], axis=axis),
        "lists": lambda x: ak.argmax(x[ak.sum(x, axis=-1) > 1], axis=axis),
        "numbers": lambda x: ak.argmin(x[x > 1], axis=axis),
        "hidden": lambda x: ak.argmax(ak.mask(x, ak.sum(x, axis=-1) > 4), axis=axis),
    }
    if MISCOUNTS_MISSING:
        del functions["hidden"]
    check_many(functions, array)


def test_of_nothing_at_run_time() -> None:
    array = ak.Array([[np.nan], [np.nan]])
    assert jnp.isnan(jax.jit(ak.nanmax)(array))
    assert int(jax.jit(ak.nanargmax)(array)) == -1
    check(lambda x: ak.nanmax(x, axis=1), array)
    check(lambda x: ak.nanmax(x, axis=None, keepdims=True), array)
