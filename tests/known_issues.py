"""Where eager Awkward is wrong or cannot be followed, and why: one predicate for each."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np


def nothing_but_nan(array: ak.Array, axis: Any) -> bool:
    """A scalar made at run time cannot be None: of NaN only `ak.nanmax(x)` is NaN, `ak.nanargmax(x)` -1."""
    values = ak.to_numpy(ak.drop_none(ak.flatten(array, axis=None)))
    everything = axis is None or array.ndim == 1
    return everything and len(values) > 0 and values.dtype.kind in "fc" and bool(np.isnan(values).all())


def no_booleans(array: ak.Array, axis: Any) -> bool:
    """Awkward's `max` of no booleans at all is True (minus infinity as a boolean); of an empty list False."""
    return (axis is None or array.ndim == 1) and "bool" in str(array.type) and ak.count(array) == 0


# Older Awkward squares int8 in int8, takes the difference of two large sums for a variance, gives complex
# variances of complex numbers and loses named axes; ours is what newer Awkward answers.
OLD_STATISTICS = bool(ak.var(ak.Array(np.array([100, 100], np.int8))) != 0)


# Over an outer axis older Awkward answers with places that are in no list, where lists or numbers are missing.
MISCOUNTS_MISSING = bool(
    ak.argmax(ak.Array([[[1.0], [None]], [None, [None, 3.0]], [[None], [4.0, None]]]), axis=0)[1, 1] != 1
)


def _reads_the_next_list() -> bool:
    try:
        return bool(ak.Array([[1.0, 2.0], [], [3.0]])[ak.Array([[0, 2], [], [0]])][0, 1] == 3)
    except IndexError:
        return False


# Older Awkward takes elements of the next list for some integers out of the range of theirs.
READS_THE_NEXT_LIST = _reads_the_next_list()
