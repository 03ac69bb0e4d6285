"""Every expression of `cases`, compiled with traced masks, answers as eager Awkward does, or says why not."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from live.cases import ARRAYS, AT_RUN_TIME, RAISES, WORKS, function
from oracle import compare, outcome, plain, same

import akjax

X64 = bool(jax.config.jax_enable_x64)


# one compilation for many expressions, as compiling takes the time
CHUNKS = [WORKS[k : k + 25] for k in range(0, len(WORKS), 25)]


@pytest.mark.parametrize("codes", CHUNKS, ids=lambda codes: codes[0])
def test_as_eager(codes: list[str]) -> None:
    functions = {code: function(code) for code in codes}
    failed: dict[str, Exception] = {}

    def every(arrays: dict[str, list[ak.Array]]) -> dict[str, object]:
        found = {}
        for code, (f, _) in functions.items():
            result = outcome(f, *arrays[code])
            if isinstance(result, Exception):
                failed[code] = result
            else:
                found[code] = result
        return found

    got = {**jax.jit(every)({code: arrays for code, (_, arrays) in functions.items()}), **failed}
    wrong = []
    for code, (f, arrays) in functions.items():
        # eagerly NumPy's own functions give an `ak.Array`
        types = X64 and "histogram" not in code
        try:
            compare(got[code], outcome(f, *arrays), types=types, rtol=1e-9 if X64 else 1e-5)
        except AssertionError as error:
            wrong.append(f"{code}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("code", RAISES)
def test_raises(code: str) -> None:
    f, arrays = function(code)
    error = outcome(jax.jit(f), *arrays)
    assert isinstance(error, akjax.StructureError), error
    assert len(str(error)) > 40


@pytest.mark.parametrize("code", AT_RUN_TIME)
def test_errors_at_run_time(code: str) -> None:
    f, arrays = function(code)
    want = outcome(f, *arrays)
    assert isinstance(want, Exception)
    shown = str(plain(jax.jit(f)(*arrays)))
    assert "nan" in shown or "None" in shown
    with pytest.raises(type(want)):
        akjax.checked(f)(*arrays)


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


@pytest.mark.parametrize("prepare", [lambda x: x[x > 1], akjax.traced, lambda x: ak.mask(x, x > 1)])
@pytest.mark.parametrize("convert", [jnp.sin, ak.to_jax])
def test_no_conversion_of_what_is_known_at_run_time(convert: Any, prepare: Any) -> None:
    """The error is a sentence, and what it says to write works."""
    flat = ak.Array([0.5, 1.5, 2.5])
    outside = prepare is akjax.traced
    given, inside = (akjax.traced(flat), lambda x: x) if outside else (flat, prepare)
    with pytest.raises(akjax.ConcreteValueError, match=r"^Conversion to a JAX array needs the values .*np\.sin\(x\)"):
        jax.jit(lambda x: convert(inside(x)))(given)
    same(plain(jax.jit(lambda x: np.sin(inside(x)))(given)), plain(np.sin(flat if outside else prepare(flat))))
    padded = jax.jit(lambda x: jnp.sin(ak.fill_none(ak.pad_none(inside(x), 3, axis=0, clip=True), 0.0)))(given)
    want = ak.fill_none(ak.pad_none(flat if outside else prepare(flat), 3, axis=0), 0.0)
    same(plain(padded), plain(np.sin(want)))


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
