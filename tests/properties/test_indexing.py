"""Indexing by anything static, on any array: as eager Awkward."""

import awkward as ak
import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from hypothesis import assume, given
from oracle import check, outcome

from .strategies import arrays, quick
from .test_elementwise import ACCIDENTS, stored

jax.config.update("jax_enable_x64", True)

pytestmark = pytest.mark.slow


integers = st.integers(-3, 3)
slices = st.builds(slice, st.none() | integers, st.none() | integers, st.none() | integers.filter(bool))
one = integers | slices | st.just(None) | st.just(...)
lists = st.lists(integers, max_size=4).map(lambda values: np.array(values, np.int64))
masks = st.lists(st.booleans(), max_size=4).map(lambda values: np.array(values, bool))
missing = st.lists(st.none() | integers, min_size=1, max_size=4).map(ak.Array)
jagged = st.lists(st.lists(integers, max_size=2), min_size=1, max_size=4).map(
    lambda values: ak.values_astype(ak.Array(values), "int64")
)
wheres = one | lists | masks | missing | jagged | st.lists(one, min_size=1, max_size=3).map(tuple)


@quick
@given(array=arrays(), where=wheres)
def test_static(array, where):
    array = stored(array)
    assume(not isinstance(outcome(lambda a: a[where], array), ACCIDENTS))
    check(lambda a: a[where], array)


@quick
@given(array=arrays(min_record_fields=1, allow_union=False), data=st.data())
def test_fields(array, data):
    array = stored(array)
    for field in ak.fields(array):
        check(lambda a, f=field: a[f], array)
        check(lambda a, f=field: a[[f]], array)
