"""Arrays without the columns that nobody asks for."""

from __future__ import annotations

import awkward as ak
import jax
import numpy as np
import pytest

import akjax
from akjax.structure.columns import only_columns

akjax.register()

ARRAYS = {
    "records": ak.Array([{"x": 1, "y": {"z": 2.0, "t": 3}}]),
    "lists": ak.Array([{"x": [[1.0], []], "y": [{"z": [1, 2], "t": 3}, {"z": [], "t": 4}]}]),
    "tuples": ak.Array([(1, 2.0, (3, 4.0))]),
    "missing": ak.Array([{"x": None, "y": {"z": 1, "t": 2}}, {"x": 2, "y": None}]),
    "regular": ak.Array(ak.to_regular(ak.Array([[{"z": 1, "t": 2.0}] * 2] * 3)).layout),
    "indexed": ak.Array([{"x": 1, "y": 2.0}, {"x": 3, "y": 4.0}])[[1, 0, 1]],
    "flat": ak.Array([[1, 2], []]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_each_leaf_alone(name):
    """What is left for the place of a leaf has the values of that column, and every leaf is in one place."""
    array = ARRAYS[name]
    spec = jax.tree.structure(akjax.traced(array)).node_data()[1]
    for number, (path, what) in enumerate(spec.first_places()):
        left = ak.Array(
            only_columns(array.layout, spec.columns([n == number for n in range(spec.definition.num_leaves)]))
        )
        assert len(left) == len(array)
        if what == "":
            fields = [part for part in path if part != "[]"]
            one, other = left, array
            for field in fields:
                one, other = one[field], other[field]
            assert one.to_list() == other.to_list()
            assert len(ak.to_buffers(left)[2]) <= len(ak.to_buffers(array)[2])


def test_lists_without_anything_in_them():
    array = ak.Array([{"jets": [{"pt": 1.0}, {"pt": 2.0}], "met": 1.0}, {"jets": [], "met": 2.0}])
    left = ak.Array(only_columns(array.layout, {("jets",)}))
    assert ak.num(left.jets).to_list() == [2, 0]
    assert left.fields == ["jets"]
    assert left.jets.fields == []


def test_nothing_at_all():
    left = only_columns(ak.Array([{"x": np.float32(1)}] * 3).layout, set())
    assert (left.length, left.fields) == (3, [])
