"""Numbers of elements, and which buffer of a result is which of the arguments'."""

from __future__ import annotations

import awkward as ak
import jax
import numpy as np
import pytest

import akjax
from akjax.algorithms import tracking
from akjax.algorithms.tracking import Table, Whole, is_flat
from akjax.highlevel.state import node_of

akjax.register()

FLAT = ak.zip({"x": np.arange(3.0), "y": ak.zip({"z": [True, False, True]})})


def test_numbers_that_nothing_touched_are_known_by_where_they_lie(monkeypatch):
    table = Table()
    data = np.arange(5.0)
    layout = ak.contents.NumpyArray(table.ids(data))
    monkeypatch.setattr(tracking, "copied", None)  # is asked for what moved
    assert table.node(layout).data is data
    assert table.tracked(table.ids(data))


def test_moved_numbers_are_not():
    table = Table()
    data = jax.numpy.arange(5.0)
    moved = table.node(ak.contents.NumpyArray(table.ids(data)[::-1]))
    assert moved.data.tolist() == [4.0, 3.0, 2.0, 1.0, 0.0]
    part = table.node(ak.contents.NumpyArray(table.ids(data)[1:]))
    assert part.data.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_whole_buffers():
    table = Whole()
    node = node_of(FLAT)
    found = table.node(table.layout(node))
    assert found.contents[0].data is node.contents[0].data
    assert found.contents[1].contents[0].data is node.contents[1].contents[0].data
    assert all(numbers.strides == (0,) for numbers in table._of.values())


@pytest.mark.parametrize(
    ("arrays", "flat"),
    [
        ([FLAT], True),
        ([FLAT, ak.Array([1, 2, 3])], True),
        ([FLAT, ak.Array([1, 2])], False),
        ([FLAT, ak.Array([1])], False),
        ([FLAT[:0]], False),
        ([ak.Array([[1], [2]])], False),
        ([ak.Array(np.zeros((3, 2)))], False),
        ([ak.Array([1, None])], False),
        ([ak.Array(["a", "b"])], False),
    ],
)
def test_is_flat(arrays, flat):
    assert is_flat([node_of(array) for array in arrays]) is flat


def test_no_numbers_for_records_in_lists_that_line_up(monkeypatch):
    """However large arrays are: overloads for records are given whole buffers."""
    behavior = {(np.add, "Point", "Point"): None}
    behavior[np.add, "Point", "Point"] = lambda a, b: ak.zip({"x": a.x + b.x}, with_name="Point", behavior=behavior)
    points = ak.Array(ak.zip({"x": [[1.0, 2.0], [], [3.0]]}, with_name="Point"), behavior=behavior)
    monkeypatch.setattr(Table, "_numbers", None)
    assert jax.jit(lambda p: (p + p).x)(points).to_list() == [[2.0, 4.0], [], [6.0]]
