"""Arrays of every layout akjax takes, and where eager Awkward is not the oracle."""

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


def arrays(**options):
    """Small arrays of all layouts."""
    defaults = {
        "dtypes": st.sampled_from(DTYPES),
        "max_size": 12,
        "max_depth": 3,
        "max_length": 4,
        "allow_virtual": False,
    }
    return st_ak.constructors.arrays(**{**defaults, **options})


def numbers(**options):
    """Arrays without records, unions and text."""
    plain = {"allow_record": False, "allow_union": False, "allow_string": False, "allow_bytestring": False}
    return arrays(**{**plain, **options})


def nodes(layout):
    """All layouts of an array, parents first."""
    yield layout
    if layout.is_record or layout.is_union:
        below = layout.contents
    else:
        below = [layout.content] if hasattr(layout, "content") else []
    for content in below:
        yield from nodes(content)


def holds(array, *kinds):
    """Whether an array has a layout of one of these kinds."""
    return any(isinstance(layout, kinds) for layout in nodes(ak.to_layout(array)))
