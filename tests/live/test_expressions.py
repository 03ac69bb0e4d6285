"""Every expression of `cases`, compiled with traced masks, answers as eager Awkward does, or says why not."""

from __future__ import annotations

import awkward as ak
import jax
import numpy as np
import pytest
from live.cases import ARRAYS, RAISES, WORKS, function
from oracle import check, outcome, plain, same

import akjax

X64 = bool(jax.config.jax_enable_x64)


@pytest.mark.parametrize("code", WORKS)
def test_as_eager(code: str) -> None:
    f, arrays = function(code)
    # eagerly NumPy's own functions give an `ak.Array`
    check(f, *arrays, types=X64 and "histogram" not in code, rtol=1e-9 if X64 else 1e-5)


@pytest.mark.parametrize("code", RAISES)
def test_raises(code: str) -> None:
    f, arrays = function(code)
    error = outcome(jax.jit(f), *arrays)
    assert isinstance(error, akjax.StructureError), error
    assert len(str(error)) > 40


x, m, r = ARRAYS["x"], ARRAYS["m"], ARRAYS["r"]


def test_types_claim_no_length_that_is_not_known() -> None:
    seen = []

    def f(x: ak.Array, r: ak.Array, m: ak.Array) -> ak.Array:
        seen.append([str(ak.type(a)) for a in (x, x[m], x[r])])
        seen.append([str(a.type) for a in (x, x[m], x[r])])
        seen.append([str(a).split("'")[1] for a in (x, x[m], x[r])])
        return x

    jax.jit(f)(x, r, m)
    assert seen == [[f"{rows} * var * {x.type.content.content}" for rows in ("4", "4", "##")]] * 3


def test_number_of_rows_is_not_known() -> None:
    with pytest.raises(jax.errors.TracerIntegerConversionError):
        jax.jit(lambda x, r: len(x[r]))(x, r)
    with pytest.raises(jax.errors.TracerIntegerConversionError):
        jax.jit(lambda x, r: [ak.sum(row) for row in x[r]])(x, r)


def test_values_are_not_known() -> None:
    for f in (ak.to_jax, ak.to_numpy, ak.to_list, np.asarray):
        with pytest.raises(akjax.ConcreteValueError):
            jax.jit(lambda x, m, f=f: f(x[m]))(x, m)


def test_an_element_that_is_not_there_is_nan() -> None:
    got = jax.jit(lambda x, m: x[m][:, 0])(x, m)
    same(plain(got), [1.5, np.nan, np.nan, 6.0])
    got = jax.jit(lambda x, m: ak.values_astype(x, "int64")[m][:, -1])(x, m)
    assert plain(got) == [-3, None, None, 6]


def test_nothing_left_at_all() -> None:
    def all_gone(f):
        return plain(jax.jit(lambda x: f(x[x > 100]))(x))

    assert all_gone(lambda s: s) == [[], [], [], []]
    assert all_gone(ak.sum) == 0
    assert all_gone(ak.count) == 0
    assert np.isnan(all_gone(ak.max))  # a scalar cannot be None
    assert all_gone(lambda s: ak.max(s, axis=1)) == [None] * 4
    assert all_gone(lambda s: ak.num(s[ak.num(s) > 0], axis=0)) == 0
