"""Nodes hold data: structure by value, and nothing kept that no list points to."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import awkward as ak
import numpy as np
import pytest
from arrays import ALL
from hypothesis import given
from hypothesis import strategies as st

from akjax.nodes.boundaries import parents
from akjax.nodes.kinds import Flat, Frozen, Indexed, List, Option, Union
from akjax.nodes.moving import carry, covers, crop, indexed, is_identity, option, ranges, union
from akjax.nodes.static import static
from akjax.nodes.walk import children, iterate, leaves, map_flat, rebuild
from akjax.structure.from_layout import from_layout
from akjax.structure.to_layout import concrete_layout

NODES = {name: from_layout(array.layout) for name, array in ALL.items()}
EVERY = pytest.mark.parametrize("name", NODES)


def listed(node: Any) -> Any:
    return ak.to_list(concrete_layout(node))


# ------------------------------------------------------------------------------- static


def test_static_compares_by_value() -> None:
    one = static(np.array([1, 2, 3]))
    assert static(np.array([1, 2, 3])) is one
    assert static(np.array([0, 1, 2, 3])[1:]) == one
    assert hash(static(np.array([1, 2, 3]))) == hash(one)
    assert static(np.array([1, 2, 4])) != one
    assert static(np.array([1, 2, 3], np.int32)) != one
    assert static(np.array([[1, 2, 3]])) != one
    assert one != "else"
    assert len(one) == 3
    assert pickle.loads(pickle.dumps(one)) is one


def test_static_is_not_changed_through_the_callers_buffer() -> None:
    buffer = np.array([1, 2, 3])
    one = static(buffer)
    buffer[0] = 7
    assert one.array.tolist() == [1, 2, 3]
    assert static(np.array([1, 2, 3])) is one
    with pytest.raises(ValueError, match="read-only"):
        one.array[0] = 5


def test_static_from_a_read_only_view_of_a_writable_buffer() -> None:
    buffer = np.array([1, 2, 3])
    view = buffer.view()
    view.flags.writeable = False
    one = static(view)
    buffer[0] = 7
    assert one.array.tolist() == [1, 2, 3]


def test_static_from_threads() -> None:
    start = threading.Barrier(8)
    found = []

    def make() -> None:
        start.wait()
        found.append(static(np.arange(1000) * 3))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(one) for one in found}) == 1


def test_parents() -> None:
    offsets = static(np.array([0, 2, 2, 5]))
    assert parents(offsets).tolist() == [0, 0, 2, 2, 2]
    assert parents(offsets) is parents(offsets)


def test_frozen() -> None:
    assert Frozen(None) == Frozen({})
    assert Frozen({"a": [1, {"b": 2}]}) == Frozen({"a": [1, {"b": 2}]})
    assert hash(Frozen({"a": 1, "b": 2})) == hash(Frozen({"b": 2, "a": 1}))
    assert Frozen({"a": 1}) != Frozen({"a": True})
    assert Frozen({"a": {1: 2, "x": None}}).value == {"a": {1: 2, "x": None}}
    assert pickle.loads(pickle.dumps(Frozen({"a": [1]}))) == Frozen({"a": [1]})
    inner = [1]
    frozen = Frozen({"a": inner})
    inner.append(2)
    assert frozen.value == {"a": [1]}


# ------------------------------------------------------------------------------- moving


@EVERY
def test_carry_is_awkwards_indexing(name: str) -> None:
    node, array = NODES[name], ALL[name]
    n = len(array)
    for index in ([], [n - 1] * 2, list(range(n))[::-1], list(range(0, n, 2))):
        if n or not index:
            positions = np.array(index, dtype=np.int64)
            got = carry(node, positions)
            assert got.length == len(index)
            assert listed(got) == ak.to_list(array[positions])
            assert is_complete(got)
    assert carry(node, np.arange(n)) is node


@EVERY
def test_crop_is_awkwards_slicing(name: str) -> None:
    node, array = NODES[name], ALL[name]
    n = len(array)
    for start, stop in ((0, n), (0, n // 2), (n // 2, n), (n, n), (1, max(n - 1, 1))):
        if start <= n and stop <= n:
            got = crop(node, start, stop)
            assert got.length == stop - start
            assert listed(got) == ak.to_list(array[start:stop])
            assert is_complete(got)


def is_complete(node: Any) -> bool:
    """Whether every element of every content is reached."""
    for n in iterate(node):
        if isinstance(n, List) and (n.offsets.array[0] != 0 or n.offsets.array[-1] != n.content.length):
            return False
        if isinstance(n, Indexed | Option):
            index = n.index.array
            if not covers(index[index >= 0], n.content.length):
                return False
        if isinstance(n, Union):
            for tag, content in enumerate(n.contents):
                if not covers(n.index.array[n.tags.array == tag], content.length):
                    return False
    return True


@EVERY
def test_everything_is_reached(name: str) -> None:
    assert is_complete(NODES[name])


def test_an_index_over_an_index_is_one() -> None:
    flat = Flat(np.arange(4.0))
    once = indexed(np.array([3, 2, 1, 0]), flat)
    assert isinstance(once, Indexed)
    assert indexed(np.array([3, 2, 1, 0]), once) is flat
    missing = option(np.array([-1, 0, 3]), once)
    assert isinstance(missing.content, Flat)
    assert listed(missing) == [None, 3.0, 0.0]
    assert listed(option(np.array([2, -5, 0]), missing)) == [0.0, None, None]


def test_union_drops_what_is_not_reached() -> None:
    contents = (Flat(np.arange(4.0)), Flat(np.array([True, False])))
    node = union(np.array([0, 1, 0]), np.array([3, 1, 0]), contents)
    assert [content.length for content in node.contents] == [2, 1]
    assert listed(node) == [3.0, False, 0.0]


@given(counts=st.lists(st.integers(0, 5), max_size=10), data=st.data())
def test_ranges(counts: list[int], data: Any) -> None:
    starts = data.draw(st.lists(st.integers(0, 20), min_size=len(counts), max_size=len(counts)))
    expected = [start + k for start, count in zip(starts, counts, strict=True) for k in range(count)]
    assert ranges(np.array(starts, int), np.array(counts, int)).tolist() == expected


def test_small_facts() -> None:
    assert is_identity(np.array([0, 1]), 2)
    assert not is_identity(np.array([1, 0]), 2)
    assert not is_identity(np.array([0, 1]), 3)
    assert covers(np.array([1, 0, 1]), 2)
    assert not covers(np.array([1, 1]), 2)
    assert Flat(np.zeros((2, 3, 2), np.uint32), None, "int64").shape == (2, 3)


@EVERY
def test_walking(name: str) -> None:
    node = NODES[name]
    assert rebuild(node, children(node)) is node
    assert map_flat(lambda flat: flat, node) is node
    assert all(isinstance(leaf, np.ndarray) for leaf in leaves(node))
    doubled = map_flat(lambda flat: Flat(np.asarray(flat.data), flat.parameters), node)
    assert listed(doubled) == listed(node)


def test_lists_that_lie_behind_their_content() -> None:
    """Awkward lets an empty list begin anywhere."""
    content = ak.contents.ListOffsetArray(ak.index.Index64(np.array([0, 1])), ak.contents.NumpyArray(np.array([1.0])))
    empty = ak.contents.ListArray(ak.index.Index64(np.array([9])), ak.index.Index64(np.array([9])), content)
    assert listed(from_layout(empty)) == [[]]


@pytest.mark.parametrize("length", [0, 1, 7, 40_000])
def test_is_identity(length):
    """Also of more numbers than are looked at at a time."""
    index = np.arange(length)
    assert is_identity(index, length)
    assert not is_identity(index, length + 1)
    for at in {0, length // 2, length - 1} if length > 1 else ():
        other = index.copy()
        other[at] = other[at - 1]
        assert not is_identity(other, length)
