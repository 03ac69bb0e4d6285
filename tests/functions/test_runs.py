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


def test_missing_values():
    """Eager Awkward drops them without a word, or raises this error, depending on how they are stored."""
    with pytest.raises(NotImplementedError, match="missing"):
        jax.jit(ak.run_lengths)(ak.Array([1.0, None, 1.0]))


def test_columns():
    with pytest.raises(akjax.StructureError, match="take one field"):
        jax.jit(ak.run_lengths)(ak.Array([{"x": 1, "y": 2}]))
