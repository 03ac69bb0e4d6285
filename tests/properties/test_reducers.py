"""Random arrays of random layouts: reducers, statistics and sorting answer as they do eagerly."""

from __future__ import annotations

from typing import Any

import awkward as ak
import hypothesis.strategies as st
import hypothesis_awkward.strategies as st_ak
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from known_issues import no_booleans, nothing_but_nan
from many import check_many

import akjax

akjax.register()

pytestmark = pytest.mark.slow


FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
DTYPES = st.sampled_from([np.dtype(d) for d in ("float64", "int64", "bool", "int16", "uint8", "float32")])


def arrays() -> st.SearchStrategy[ak.Array]:
    """Numbers in any layout, without records, unions, text and dates."""
    return st_ak.constructors.arrays(
        dtypes=DTYPES,
        max_size=12,
        allow_nan=False,
        allow_record=False,
        allow_union=False,
        allow_string=False,
        allow_bytestring=False,
    )


def answers(array: ak.Array, names: tuple[str, ...], **options: Any) -> None:
    calls = {}
    for name in names:
        for axis in (None, *range(-array.ndim, array.ndim)):
            if axis is None and options.get("keepdims") and " 0 * " in f" {array.type}":
                continue  # what Awkward answers depends on how it holds lists of size 0
            if name == "max" and no_booleans(array, axis):
                continue
            if not nothing_but_nan(array, axis):
                calls[name, axis] = lambda x, n=name, a=axis: getattr(ak, n)(x, axis=a, **options)
    with np.errstate(all="ignore"):
        check_many(calls, array, rtol=1e-4)


@FEW
@given(array=arrays(), keepdims=st.booleans(), mask=st.sampled_from([None, True, False]))
def test_reducers(array: ak.Array, keepdims: bool, mask: bool | None) -> None:
    options = {"keepdims": keepdims} if mask is None else {"keepdims": keepdims, "mask_identity": mask}
    answers(array, ("sum", "any", "all", "count", "count_nonzero", "min", "max", "argmin", "argmax"), **options)


@FEW
@given(array=arrays())
def test_products_and_missing_numbers(array: ak.Array) -> None:
    answers(array, ("prod", "nansum", "nanmax", "nanargmin"))


@FEW
@given(array=arrays(), keepdims=st.booleans(), mask=st.booleans())
def test_statistics(array: ak.Array, keepdims: bool, mask: bool) -> None:
    answers(array, ("mean", "ptp"), keepdims=keepdims, mask_identity=mask)


@FEW
@given(array=arrays(), ascending=st.booleans())
def test_sorting(array: ak.Array, ascending: bool) -> None:
    calls = {}
    for name in ("sort", "argsort"):
        for axis in range(-array.ndim, array.ndim):
            inner = axis in (-1, array.ndim - 1)
            if not inner and (name == "argsort" or "?" in str(array.type)):
                continue
            calls[name, axis] = lambda x, n=name, a=axis: getattr(ak, n)(x, axis=a, ascending=ascending)
    check_many(calls, array)
