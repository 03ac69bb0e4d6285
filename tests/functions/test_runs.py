"""`ak.run_lengths`: how many runs there are is known at run time."""

import awkward as ak
import jax
import numpy as np
import pytest
from oracle import check

import akjax

jax.config.update("jax_enable_x64", True)

ARRAYS = {
    "flat": ak.Array([1, 1, 2, 2, 2, 3, 1]),
    "one run": ak.Array([2.0, 2.0]),
    "one number": ak.Array([2.0]),
    "nothing": ak.Array([2.0])[:0],
    "NaN": ak.Array([np.nan, np.nan, 1.0]),
    "booleans": ak.Array([[True, True], [False]]),
    "runs end with lists": ak.Array([[1, 1, 2], [], [2, 2, 3], [3], []]),
    "first empty": ak.Array([[], [], [1, 1]]),
    "all empty": ak.Array([[1]])[:, :0],
    "no rows": ak.Array([[1]])[:0],
    "three levels": ak.Array([[[1, 1], [], [1]], [], [[2, 2, 3]]]),
    "regular": ak.Array(np.array([[1, 1, 2], [2, 2, 2]])),
    "regular of lists": ak.to_regular(ak.Array([[[1, 1], []], [[3], [4, 4]]]), axis=1),
    "lists of records": ak.Array([[{"x": 1}], []]),
    "columns of lists": ak.Array([{"x": [1, 1, 2], "y": [True]}, {"x": [], "y": [False, False]}]),
    "text and numbers": ak.Array([{"x": [1, 1], "s": ["a", "a", "b"]}, {"x": [], "s": []}]),
    "indexed": ak.Array([[1, 1], [], [3]])[np.array([2, 0, 0])],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_run_lengths(name):
    check(ak.run_lengths, ARRAYS[name])


def test_what_follows():
    check(lambda x: ak.max(ak.run_lengths(x), axis=1), ARRAYS["runs end with lists"])
    check(lambda x: ak.num(ak.run_lengths(x)), ARRAYS["runs end with lists"])
    check(lambda x: ak.sum(ak.run_lengths(x * 2)), ARRAYS["flat"])


MISSING = {
    "numbers": ak.Array([1.0, None, 1.0, 2.0, None, 2.0, 3.0]),
    "first and last": ak.Array([None, 1.0, 1.0, None]),
    "permuted": ak.Array([1.0, None, 1.0, 2.0])[[3, 2, 1, 0, 0]],
    "all": ak.Array([1.0, None])[[1, 1]],
    "none": ak.Array([1.0, None, 1.0])[[0, 2]],
    "lists": ak.Array([[1, 1, 2], None, [2, 2], [], None]),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_values_are_left_out(name):
    check(ak.run_lengths, MISSING[name])
    check(lambda x: ak.run_lengths(x[::-1]), MISSING[name])


@pytest.mark.parametrize("name", [name for name, array in MISSING.items() if array.ndim == 1])
def test_missing_values_at_run_time_are_left_out(name):
    want = ak.run_lengths(MISSING[name])
    for found in (
        jax.jit(ak.run_lengths)(akjax.traced(MISSING[name])),
        jax.jit(lambda x: ak.run_lengths(x[ak.fill_none(x, 1.0) > 0]))(MISSING[name]),
        jax.jit(lambda x: ak.run_lengths(ak.mask(x, x > 0)))(ak.fill_none(MISSING[name], -1.0)),
    ):
        assert found.to_list() == want.to_list()
        assert found.type == want.type


INSIDE = {
    "lists": ak.Array([[None, 1.0, 1.0], [1.0, 1.0, None], [], [1.0]]),
    "missing lists": ak.Array([[1.0, None, 1.0], None, [2.0, 2.0]]),
    "lists of lists": ak.Array([[[1, 1], None], [], [[1, 1, 2]]]),
}


@pytest.mark.parametrize("name", INSIDE)
def test_missing_values_inside_lists(name):
    """Awkward leaves them out of the numbers, and not of the lengths of the lists."""
    for given in (INSIDE[name], akjax.traced(INSIDE[name])):
        with pytest.raises(akjax.StructureError, match=r"drop them first, as in ak\.drop_none\(array\)"):
            jax.jit(ak.run_lengths)(given)
    check(lambda x: ak.run_lengths(ak.drop_none(x)), INSIDE[name])


def test_an_unmasked_array():
    """Awkward's complaint, though nothing is missing."""
    check(ak.run_lengths, ak.Array(ak.contents.UnmaskedArray(ak.contents.NumpyArray(np.array([1.0, 1.0, 2.0])))))


def test_a_single_number():
    with pytest.raises(TypeError, match="a single number"):
        jax.vmap(ak.run_lengths)(ARRAYS["one run"])


def test_columns():
    with pytest.raises(akjax.StructureError, match="take one field"):
        jax.jit(ak.run_lengths)(ak.Array([{"x": 1, "y": 2}]))
