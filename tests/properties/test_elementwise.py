"""Elementwise work and broadcasting, on any arrays: as eager Awkward."""

import contextlib
import operator

import awkward as ak
import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from hypothesis import assume, given
from oracle import check, outcome

import akjax

from .strategies import arrays, holds, numbers, quick
from .test_moving import ACCIDENTS, STORAGE, canonical

jax.config.update("jax_enable_x64", True)

pytestmark = pytest.mark.slow


UNARY = {
    "negative": operator.neg,
    "sin": lambda x: np.sin(x),
    "modf": lambda x: np.modf(x),
    "isfinite": lambda x: np.isfinite(x),
    "twice": lambda x: x + x,
    "equal": lambda x: x == x,
    "plus": lambda x: x + 1,
    "times": lambda x: 2.5 * x,
    "zeros": ak.zeros_like,
    "float32": lambda x: ak.values_astype(x, "float32"),
    "isclose": lambda x: ak.isclose(x, x),
}
BINARY = {
    "add": operator.add,
    "less": operator.lt,
    "maximum": lambda x, y: np.maximum(x, y),
    "broadcast_arrays": lambda x, y: ak.broadcast_arrays(x, y),
    "zip": lambda x, y: ak.zip((x, y)),
}


def stored(array):
    return canonical(array) if holds(array, *STORAGE) else array


@quick
@given(array=arrays(), name=st.sampled_from(sorted(UNARY)))
def test_of_one(array, name):
    array = stored(array)
    assume(not isinstance(outcome(UNARY[name], array), ACCIDENTS))
    check(UNARY[name], array, rtol=1e-4)


@quick
@given(one=numbers(), two=numbers(), name=st.sampled_from(sorted(BINARY)))
def test_of_two(one, two, name):
    one, two = stored(one), stored(two)
    assume(not isinstance(outcome(BINARY[name], one, two), ACCIDENTS))
    check(BINARY[name], one, two, rtol=1e-4)


@quick
@given(array=arrays(allow_union=False), data=st.data())
def test_two_of_one_structure(array, data):
    """Rows of one array in other orders: broadcasting succeeds, or fails as in Awkward."""
    array = stored(array)
    order = data.draw(st.permutations(range(len(array))))
    for function in (operator.add, operator.eq, lambda x, y: ak.broadcast_arrays(x, y)):
        if not isinstance(outcome(function, array, array[order]), ACCIDENTS):
            check(function, array, array[order], rtol=1e-4)


@quick
@given(one=numbers(), two=numbers(), data=st.data())
def test_where(one, two, data):
    """By traced conditions as by concrete ones, or a sentence that says that it depends on values."""
    one, two = stored(one), stored(two)
    length = min(len(one), len(two))
    condition = np.array(data.draw(st.lists(st.booleans(), min_size=length, max_size=length)), bool)
    one, two = one[:length], two[:length]
    check(lambda x, y: ak.where(condition, x, y), one, two)
    with contextlib.suppress(akjax.errors.StructureError):
        check(lambda c, x, y: ak.where(c, x, y), ak.Array(condition), one, two)
