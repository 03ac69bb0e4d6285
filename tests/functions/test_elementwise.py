"""Every number for itself, against eager Awkward: all kinds of arrays in one program."""

import warnings

import awkward as ak
import jax
import numpy as np
import pytest
from arrays import ALL
from many import check_many
from oracle import check

import akjax

jax.config.update("jax_enable_x64", True)

ELEMENTWISE = {
    "round": ak.round,
    "round to tenths": lambda x: ak.round(x, 1),
    "round to tens": lambda x: ak.round(x * 7, -1),
    "np.round": lambda x: np.round(x, 1),
    "real": ak.real,
    "imag": ak.imag,
    "angle": ak.angle,
    "angle in degrees": lambda x: ak.angle(x, deg=True),
    "nan_to_num": ak.nan_to_num,
    "nan_to_none": ak.nan_to_none,
    "values_astype": lambda x: ak.values_astype(x, "float32"),
    "values_astype integers": lambda x: ak.values_astype(x, np.int16),
    "values_astype booleans": lambda x: ak.values_astype(x, bool),
    "zeros_like": ak.zeros_like,
    "ones_like": ak.ones_like,
    "full_like": lambda x: ak.full_like(x, 3.5),
    "full_like with a dtype": lambda x: ak.full_like(x, 7, dtype=np.int8),
    "isclose": lambda x: ak.isclose(x, x),
    "materialize": ak.materialize,
    "strings_astype": lambda x: ak.strings_astype(x, np.float64),
}

KINDS = {
    "complex": ak.Array([[1 + 2j, -1j], [], [3.0]]),
    "complex64": ak.values_astype(ak.Array([1 + 2j, -1j]), np.complex64),
    "float16": ak.values_astype(ak.Array([[1.25, -2.75], []]), np.float16),
    "halves": ak.Array([0.5, 1.5, 2.5, -0.5, -1.5]),
    "not finite": ak.Array([[np.nan, np.inf], [-np.inf, 0.0]]),
    "large integers": ak.Array([15, 25, -15, 2**40 + 5]),
    "dates": ak.Array([{"t": np.datetime64("2020-01-01"), "x": 1.0}]),
}


@pytest.mark.parametrize("name", [*ALL, *KINDS])
def test_elementwise(name):
    with warnings.catch_warnings():  # casts of NaN and of complex numbers, which both make
        warnings.simplefilter("ignore")
        functions = dict(ELEMENTWISE)
        if name == "not finite":
            del functions["values_astype integers"]  # undefined in C
        check_many(functions, {**ALL, **KINDS}[name], rtol=1e-6)


def test_after_a_selection():
    x = ak.Array([[1.26, 2.5, -3.75], [], [4.5]])
    selected = {name: lambda x, f=f: f(x[x > 1]) for name, f in ELEMENTWISE.items()}
    check_many(selected, x, rtol=1e-6)


def test_dates_are_structure():
    with pytest.raises(akjax.StructureError, match="dates"):
        jax.jit(lambda x: ak.values_astype(x, "datetime64[s]"))(ak.Array([1.0, 2.0]))


def test_an_array_closed_over_is_filled_by_a_traced_number():
    """Without 64-bit types JAX's own are used, and nothing warns of it."""
    closed_over = ak.Array([[1.0, 2.0], []])
    with jax.enable_x64(False):
        filled = jax.jit(lambda s: ak.full_like(closed_over, s))(2.0)
    assert filled.to_list() == [[2.0, 2.0], []]
    assert str(filled.type) == "2 * var * float32"


def test_a_traced_number_fills():
    check(lambda x, v: ak.full_like(x, v), ak.Array([[1, 2], [], [3]]), np.float64(2.5))
    check(lambda x, v: ak.full_like(x, v, dtype=np.float32), ak.Array([[1, 2], [], [3]]), np.int64(2))
