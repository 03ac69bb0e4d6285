"""Sorting against eager Awkward: any axis, both directions, NaN first, missing values last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest
from arrays import NUMBERS
from many import check_many
from oracle import check, check_gradient, plain

import akjax

akjax.register()

nan = np.nan
SORTED = {
    **NUMBERS,
    "NaN": ak.Array([[nan, 1.0, 2.0, nan, 0.0, -np.inf, np.inf], [], [nan]]),
    "NaN and None": ak.Array([[1.5, nan, None], [], [nan], None, [None, 0.5]]),
    "zeros": ak.Array([[0.0, -0.0, 0.0, -1.0]]),
    "limits": ak.Array([[-(2**63), 5, 2**63 - 1, 0], []]),
    "unsigned limits": ak.unflatten(np.array([2**63, 1, 0, 2**64 - 1], np.uint64), [4, 0]),
    "long": ak.Array([np.random.default_rng(0).integers(0, 9, 100).tolist(), [3, 1]]),
    "ties": ak.Array([[2.0, 1.0, 2.0, 1.0], [1.0, 1.0]]),
    "no elements": ak.Array(np.zeros((3, 0))),
    "complex": ak.Array([[1 + 2j, 1j]]),
}


@pytest.mark.parametrize("key", SORTED)
def test_every_axis(key: str) -> None:
    array = SORTED[key]
    functions: dict[Any, Callable[..., Any]] = {}
    for name in ("sort", "argsort"):
        for axis in (0, 1, 2, -1, -2, 4):
            for ascending in (True, False):
                functions[name, axis, ascending] = lambda x, n=name, a=axis, up=ascending: getattr(ak, n)(
                    x, axis=a, ascending=up
                )
    check_many(functions, array)


def test_numpys_names() -> None:
    functions: dict[Any, Callable[..., Any]] = {}
    for name in ("sort", "argsort"):
        function = getattr(np, name)
        functions[name] = function
        functions[name, "stable"] = lambda x, f=function: f(x, axis=1, kind="stable")
        functions[name, "unknown kind"] = lambda x, f=function: f(x, kind="bubble")
    check_many(functions, NUMBERS["lists"])


def test_stable() -> None:
    keys = ak.Array([np.tile([1, 0], 40).tolist(), np.tile([1, 0], 10).tolist()])
    check_many({up: lambda x, up=up: ak.argsort(x, axis=1, ascending=up) for up in (True, False)}, keys)


def test_named_axis() -> None:
    array = ak.with_named_axis(NUMBERS["lists"], ("event", "jet"))
    check_many({n: lambda x, n=n: getattr(ak, n)(x, axis="jet") for n in ("sort", "argsort")}, array)


def test_order_as_an_index_keeps_the_types() -> None:
    jets = ak.zip(
        {
            "pt": [[1.0, 3.0, 2.0], [], [5.0]],
            "n": [[1, 2, 3], [], [4]],
            "ok": [[True, False, True], [], [True]],
        }
    )
    check(lambda j: j[ak.argsort(j.pt, axis=1, ascending=False)], jets)


def test_gradient() -> None:
    array = ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]])
    weights = ak.local_index(array, axis=1) + 1.0
    check_gradient(lambda x: ak.sum(ak.sort(x, axis=1) ** 2 * weights), array)
    check_gradient(lambda x: ak.sum(ak.sort(x, axis=0, ascending=False) ** 2 * weights), array)
    check_gradient(lambda x: ak.sum(x[ak.argsort(x, axis=1)] ** 2 * weights), array)


def test_gradient_follows_the_values() -> None:
    array = ak.Array([[3.0, 1.0, 2.0], [], [5.0]])
    gradient = jax.grad(lambda x: ak.sum(ak.sort(x, axis=1)[:, :1]))(array)
    assert plain(gradient) == [[0.0, 1.0, 0.0], [], [1.0]]


def test_records_say_what_to_do() -> None:
    records = ak.zip({"x": [[2.0, 1.0]]})
    with pytest.raises(akjax.StructureError, match="take their fields"):
        jax.jit(lambda r: ak.sort(r, axis=1))(records)


def test_options_in_which_nothing_can_be_missing() -> None:
    """Awkward's sort drops them, at every level, and not those in which nothing happens to be missing."""
    content = ak.contents.NumpyArray(np.array([3.0, 1.0, 2.0]))
    lists = ak.contents.ListOffsetArray(ak.index.Index64(np.array([0, 2, 3])), content)
    inside = ak.contents.ListOffsetArray(ak.index.Index64(np.array([0, 2, 3])), ak.contents.UnmaskedArray(content))
    full = ak.contents.IndexedOptionArray(ak.index.Index64(np.arange(3)), content)
    for layout in (ak.contents.UnmaskedArray(content), ak.contents.UnmaskedArray(lists), inside, full):
        for axis in (0, -1):
            check(lambda x, a=axis: ak.sort(x, axis=a), ak.Array(layout))
            check(lambda x, a=axis: ak.argsort(x, axis=a), ak.Array(layout))
            check(lambda x, a=axis: ak.sort(x[::-1][:2], axis=a), ak.Array(layout))
