"""Named arrays that cover the layout kinds; small enough to read."""

from __future__ import annotations

import awkward as ak
import numpy as np

_c = ak.contents
_data = _c.NumpyArray(np.array([1.5, 2.0, -3.0, 4.0, 0.5, 6.0]))


def _list(offsets: list[int], content: object) -> object:
    return _c.ListOffsetArray(ak.index.Index64(np.array(offsets)), content)


NUMBERS = {
    "lists": ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]]),
    "first empty": ak.Array([[], [2.0, -1.0], [0.0]]),
    "all empty": ak.Array([[1.0]])[:, :0],
    "no rows": ak.Array([[1.0, 2.0]])[:0],
    "flat": ak.Array([3.0, 1.0, 2.0]),
    "integers": ak.Array([[3, 0], [], [-2, 5, 5], []]),
    "booleans": ak.Array([[True, False], [], [True]]),
    "float32": ak.values_astype(ak.Array([[1.5, 2.0], [], [4.0]]), "float32"),
    "int8": ak.values_astype(ak.Array([[1, -2], [], [100, 100]]), "int8"),
    "uint8": ak.values_astype(ak.Array([[1, 2], [], [200, 100]]), "uint8"),
    "three levels": ak.Array([[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]], [[]]]),
    "regular": ak.Array(np.arange(6.0).reshape(2, 3)),
    "regular type": ak.to_regular(ak.Array([[1.0, 2.0], [3.0, 4.0]])),
    "regular of lists": ak.to_regular(ak.Array([[[1.0, 2.0], []], [[3.0], [4.0]]]), axis=1),
    "lists of regular": ak.unflatten(ak.from_numpy(np.arange(8.0).reshape(4, 2), regulararray=True), [2, 0, 2]),
    "offsets not from 0": ak.Array(_list([1, 3, 3, 5], _data)),
    "list array": ak.Array(
        _c.ListArray(ak.index.Index64(np.array([3, 0, 4])), ak.index.Index64(np.array([5, 2, 4])), _data)
    ),
    "indexed": ak.Array(_c.IndexedArray(ak.index.Index64(np.array([2, 0, 0, 5])), _data)),
    "indexed lists": ak.Array([[1.0, 2.0], [], [3.0]])[np.array([2, 0, 0])],
    "options": ak.Array([[1.0, None], [], [3.0]]),
    "missing lists": ak.Array([[1.0, 2.0], None, [], [None, 3.0]]),
    "flat options": ak.Array([1.0, None, 3.0]),
    "byte masked": ak.Array(
        _c.ByteMaskedArray(ak.index.Index8(np.array([0, 1, 0, 0, 1, 0], np.int8)), _data, valid_when=False)
    ),
    "bit masked": ak.Array(_c.BitMaskedArray(ak.index.IndexU8(np.array([0b101011], np.uint8)), _data, True, 6, True)),
    "unmasked": ak.Array(_c.UnmaskedArray(_data)),
}

OTHERS = {
    "record": ak.zip({"b": [[1.0, 2.0], [], [3.0]], "a": [[1, 2], [], [3]]}),
    "record of columns": ak.Array({"x": [1.0, 2.0], "y": [[1], [2, 3]]}),
    "tuple": ak.zip(([[1.0], []], [[2], []])),
    "nested record": ak.Array([{"p": {"x": 1.0, "y": [1.0]}, "n": 1}, {"p": {"x": 2.0, "y": []}, "n": 2}]),
    "union": ak.Array([1.0, [2.0, 3.0], 4.0, []]),
    "union of records": ak.Array([{"x": 1.0}, {"x": 2.0, "y": [1, 2]}]),
    "unknown": ak.Array([[], [], []]),
    "strings": ak.Array([{"s": "one", "x": 1.0}, {"s": "", "x": 2.0}]),
    "no fields": ak.Array([{}, {}]),
    "named": ak.zip({"x": [[1.0], []], "y": [[2.0], []]}, with_name="Point"),
}

ALL = {**NUMBERS, **OTHERS}
