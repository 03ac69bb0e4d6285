"""Arrays of every layout akjax takes, and where eager Awkward is not the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import awkward as ak
import hypothesis.strategies as st
import hypothesis_awkward.strategies as st_ak
import numpy as np
from hypothesis import HealthCheck, settings

DTYPES = [np.dtype(name) for name in ("bool", "int8", "uint8", "int64", "uint64", "float32", "float64", "complex128")]

quick = settings(
    max_examples=25,
    deadline=None,  # every example is compiled
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def arrays(**options: Any) -> st.SearchStrategy[ak.Array]:
    """Small arrays of all layouts."""
    defaults = {
        "dtypes": st.sampled_from(DTYPES),
        "max_size": 12,
        "max_depth": 3,
        "max_length": 4,
        "allow_virtual": False,
    }
    return st_ak.constructors.arrays(**{**defaults, **options})


def numbers(**options: Any) -> st.SearchStrategy[ak.Array]:
    """Arrays without records, unions and text."""
    plain = {"allow_record": False, "allow_union": False, "allow_string": False, "allow_bytestring": False}
    return arrays(**{**plain, **options})


def texts() -> st.SearchStrategy[ak.Array]:
    """Arrays of nothing but strings."""
    return arrays(allow_numpy=False, allow_empty=False, allow_bytestring=False)


def moderate(array: ak.Array) -> ak.Array:
    """The array with numbers of few digits, whose sums and differences are exact."""

    def small(layout: Any, **_: Any) -> Any:
        if not layout.is_numpy or layout.parameter("__array__") in ("char", "byte"):
            return None
        data = layout.data
        with np.errstate(all="ignore"):
            if data.dtype.kind == "c":
                data = (_few_digits(data.real) + 1j * _few_digits(data.imag)).astype(data.dtype)
            elif data.dtype.kind != "b":
                data = _few_digits(data)
        return ak.contents.NumpyArray(data, parameters=layout.parameters)

    return ak.transform(small, array)


def _few_digits(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if data.dtype.kind in "iu":
        return data % data.dtype.type(17)
    return np.where(np.isfinite(data), np.trunc(np.fmod(data, 16) * 8) / 8, data).astype(data.dtype)


@st.composite
def row_masks(draw: st.DrawFn, array: ak.Array) -> np.ndarray[Any, Any]:
    """A mask of the rows of an array."""
    return np.array(draw(st.lists(st.booleans(), min_size=len(array), max_size=len(array))), bool)


@st.composite
def element_masks(draw: st.DrawFn, array: ak.Array) -> ak.Array:
    """A mask of the elements of the rows' lists, of their list structure."""
    pattern = draw(st.integers(0, 2**16 - 1))
    number = ak.local_index(array, axis=1) + 5 * ak.local_index(array, axis=0)
    return ((~pattern >> (number % 16)) & 1) == 1


@st.composite
def other_lists(draw: st.DrawFn, array: ak.Array) -> ak.Array:
    """An array of the same type and values with rows in other places, some of them several times."""
    if not len(array):
        return array
    return array[np.array(draw(st.lists(st.integers(0, len(array) - 1), max_size=5)), np.int64)]


def nodes(layout: Any) -> Iterator[Any]:
    """All layouts of an array, parents first."""
    yield layout
    if layout.is_record or layout.is_union:
        below = layout.contents
    else:
        below = [layout.content] if hasattr(layout, "content") else []
    for content in below:
        yield from nodes(content)


def holds(array: ak.Array, *kinds: type) -> bool:
    """Whether an array has a layout of one of these kinds."""
    return any(isinstance(layout, kinds) for layout in nodes(ak.to_layout(array)))
