"""Arrays without the columns that nobody asks for."""

from __future__ import annotations

import awkward as ak
import jax
import numpy as np
import pytest

import akjax
from akjax.structure.columns import form_of, only_columns

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


FORMS = {
    **ARRAYS,
    "other numbers": ak.values_astype(ARRAYS["flat"], np.float32),
    "other fields": ARRAYS["records"][["x"]],
    "named": ak.with_name(ARRAYS["records"], "Event"),
    "parameters": ak.with_parameter(ARRAYS["flat"], "unit", "GeV"),
    "other size": ak.to_regular(ak.Array([[{"z": 1, "t": 2.0}] * 3] * 3)),
    "matrix": ak.Array(np.zeros((2, 3))),
    "wider matrix": ak.Array(np.zeros((2, 4))),
    "union": ak.Array([1.0, "two"]),
    "nothing known": ak.Array([]),
    "names of a tuple": ak.Array([{"0": 1, "1": 2.0, "2": {"0": 3, "1": 4.0}}]),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_told_apart(name):
    """As Awkward's own forms are."""
    mine = FORMS[name].layout
    for other in FORMS.values():
        # not `is_equal_to`, which takes matrices of any width for equal in the oldest Awkward
        expected = mine.form.to_dict() == other.layout.form.to_dict()
        assert (form_of(mine) == form_of(other.layout)) is expected


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_rows_are_equal(name):
    array = FORMS[name]
    assert form_of(array[:0].layout) == form_of(array.layout)


def test_the_order_of_fields_matters():
    """Results have it, too."""
    array = ARRAYS["records"]
    assert form_of(array.layout) != form_of(array[["y", "x"]].layout)
