"""`almost_equal` and `array_equal`: the structure is compared while tracing, the numbers at run time."""

import awkward as ak
import jax
import numpy as np
import pytest
from arrays import ALL, NUMBERS
from many import check_many

import akjax

jax.config.update("jax_enable_x64", True)

EQUAL = {
    "itself": lambda x: ak.array_equal(x, x),
    "almost itself": lambda x: ak.almost_equal(x, x),
    "lists reversed": lambda x: ak.array_equal(x, x[::-1]),
    "in float32": lambda x: ak.almost_equal(x, ak.values_astype(x, np.float32)),
    "in float32, by family": lambda x: ak.almost_equal(x, ak.values_astype(x, np.float32), dtype_exact=False),
    "without parameters": lambda x: ak.array_equal(x, ak.without_parameters(x)),
    "another array": lambda x: ak.array_equal(x, ak.Array([[1.0, 2.0], []])),
    "a concrete one": lambda x: ak.almost_equal(ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]]), x),
    "a list": lambda x: ak.almost_equal(x, [[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]]),
    "regular": lambda x: ak.array_equal(x, ak.from_regular(x, axis=None)),
    "regular or not": lambda x: ak.array_equal(x, ak.from_regular(x, axis=None), check_regular=False),
    "np.array_equal": lambda x: np.array_equal(x, x),
}
NUMERIC = {
    "nearly": lambda x: ak.almost_equal(x, x + 1e-7),
    "not nearly": lambda x: ak.almost_equal(x, x + 1e-3),
    "nearly enough": lambda x: ak.almost_equal(x, x + 1e-3, rtol=0, atol=1e-2),
    "not exactly": lambda x: ak.array_equal(x, x + 1e-7),
}
PAIRS = {
    "fields in another order": (
        ak.Array([{"x": 1.0, "y": [1, 2]}, {"x": 2.0, "y": []}]),
        ak.Array([{"y": [1, 2], "x": 1.0}, {"y": [], "x": 2.0}]),
    ),
    "unions in another order": (
        ak.Array([1.0, [2.0], 3.0]),
        ak.concatenate([ak.Array([[0.0]])[:0], [1.0, [2.0], 3.0]]),
    ),
    "NaN": (ak.Array([[1.0, np.nan], []]), ak.Array([[1.0, np.nan], []])),
    "missing at other places": (ak.Array([1.0, None, 2.0]), ak.Array([None, 1.0, 2.0])),
    "one number differs": (ak.Array([{"x": [1.0, None]}]), ak.Array([{"x": [2.0, None]}])),
    "text differs": (ak.Array([{"s": "a", "x": 1}]), ak.Array([{"s": "b", "x": 1}])),
    "names differ": (ak.Array([{"x": 1}]), ak.Array([{"x": 1}], with_name="Point")),
}


@pytest.mark.parametrize("name", ALL)
def test_equal(name):
    check_many({**EQUAL, **(NUMERIC if name in NUMBERS else {})}, ALL[name])


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    both = {
        "array_equal": ak.array_equal,
        "equal_nan": lambda a, b: ak.array_equal(a, b, equal_nan=True),
        "almost_equal": ak.almost_equal,
        "parameters": lambda a, b: ak.almost_equal(a, b, check_parameters=False),
    }
    check_many(both, *PAIRS[name])


def test_after_a_selection():
    with pytest.raises(akjax.StructureError, match=r"ak\.all\(one == two\)"):
        jax.jit(lambda x: ak.array_equal(x[x > 1], x))(ak.Array([1.0, 2.0]))
