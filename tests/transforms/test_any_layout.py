"""Any layout hypothesis can think of survives the boundary."""

from __future__ import annotations

import copy
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from hypothesis_awkward import strategies as st_ak

import akjax

akjax.register()
pytestmark = pytest.mark.skipif(not jax.config.read("jax_enable_x64"), reason="large floats overflow in 32 bits")

DTYPES = [
    "?",
    "i1",
    "i2",
    "i4",
    "i8",
    "u1",
    "u2",
    "u4",
    "u8",
    "f2",
    "f4",
    "f8",
    "c8",
    "c16",
    "M8[s]",
    "m8[ms]",
]
ARRAYS = st_ak.constructors.arrays(dtypes=st.sampled_from([np.dtype(name) for name in DTYPES]), max_size=30)


def check(array: Any) -> None:
    note(f"{array.layout!r}")
    leaves, structure = jax.tree.flatten(array)
    again = jax.tree.unflatten(structure, leaves)
    assert jax.tree.structure(again) == structure
    assert all(one is two for one, two in zip(jax.tree.leaves(again), leaves, strict=True))
    assert type(again) is type(array)
    equal(again, array)
    placeholders = jax.tree.unflatten(structure, [object()] * len(leaves))
    assert jax.tree.structure(placeholders) == structure
    assert repr(placeholders)
    result = jax.jit(lambda x: x)(array)
    assert jax.tree.structure(result) == structure
    equal(result, array)
    rebuilt = ak.Array(copy.deepcopy(array.layout), behavior=array.behavior, attrs=array.attrs)
    assert jax.tree.structure(rebuilt) == structure
    fresh = ak.Array(result.layout, behavior=result.behavior, attrs=result.attrs)
    equal(jax.tree.map(lambda leaf: leaf, fresh), result)


def equal(one: Any, two: Any) -> None:
    assert str(ak.type(one)) == str(ak.type(two))
    assert repr(ak.to_list(one)) == repr(ak.to_list(two))


@given(array=ARRAYS)
def test_any_layout(array: Any) -> None:
    check(array)


@pytest.mark.campaign
@settings(max_examples=5000)
@given(array=ARRAYS)
def test_any_layout_at_length(array: Any) -> None:
    check(array)
