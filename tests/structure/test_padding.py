"""Arrays in the places of padded ones."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pytest

import akjax
from akjax.algorithms.runtime import at_run_time
from akjax.highlevel.state import flat_state, node_of
from akjax.nodes.kinds import Flat, Masked
from akjax.nodes.static import Static
from akjax.structure.envelope import bucket
from akjax.structure.from_layout import from_layout
from akjax.structure.padding import Lengths, fitted
from akjax.structure.spec import canonical

akjax.register()


def events(*, a=(1, 0, 2), b=(2, 0, 1), dtype=np.float64):
    met = np.arange(1, len(a) + 1).astype(dtype)
    columns = [ak.unflatten(np.arange(1.0, sum(counts) + 1), counts) for counts in (a, b)]
    return ak.zip({"met": met, "a": columns[0], "b": columns[1]}, depth_limit=1)


def fit(array, into):
    """The buffers of an array in the places of a padded one, by name."""
    padded = flat_state(into)
    node = at_run_time(canonical(from_layout(array.layout, offsets=Static)))
    found = fitted(node, padded.spec.skeleton(), len(padded.node.dead), Lengths())
    return None if found is None else {padded.spec.names()[number]: buffer.made() for number, buffer in found.items()}


SEVERAL = {
    "lists": events(),
    "missing": ak.zip({"x": ak.Array([1.0, None, 3.0]), "y": ak.Array([[1], None, [2, 3]])}, depth_limit=1),
    "lists in lists": ak.Array([[[1.0], []], [], [[2.0, 3.0]]]),
    "regular": ak.to_regular(ak.Array([[{"x": 1, "y": 2.0}] * 2] * 3)),
    "tuples": ak.Array([(1, [2.0]), (3, [])]),
    "cut off": ak.Array(ak.Array([[9.0], [1.0, 2.0], [3.0]]).layout[1:]),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_the_same_buffers_as_those_of_traced(name):
    array = SEVERAL[name]
    padded = akjax.traced(array)
    expected = dict(zip(flat_state(padded).spec.names(), flat_state(padded).leaves, strict=True))
    found = fit(array, padded)
    assert found.keys() == expected.keys()
    for column, buffer in found.items():
        np.testing.assert_array_equal(buffer, np.asarray(expected[column]), strict=True)


@pytest.mark.parametrize(
    "array",
    [
        events(a=[0] * 8, b=[0] * 8),
        events(a=[8, 0, 0]),
        events(a=[4, 3, 1]),
        ak.with_field(events(), np.arange(6).reshape(3, 2), "met"),
        ak.with_field(events(), ak.Array([1.0, None, 2.0]), "met"),
        ak.with_field(events(), [[1.0]] * 3, "met"),
        ak.with_field(events(), [1.0] * 3, "a"),
    ],
    ids=["rows", "elements", "no slot left", "another rank", "missing", "lists", "no lists"],
)
def test_what_does_not_fit(array):
    padded = akjax.traced(events())
    assert fit(events(), padded) is not None
    assert len(node_of(padded).dead) == 8
    assert fit(array, padded) is None


def test_lists_longer_than_the_bound():
    padded = akjax.traced(events(), like=akjax.envelope([events(), events(a=[30, 0, 0])]))
    longest = 30
    assert fit(events(a=[longest, 0, 0]), padded) is not None
    many = node_of(padded).content.contents[1].offsets.bounds
    assert many.longest >= longest
    assert fit(events(a=[many.longest + 1, 0, 0]), padded) is None


def test_more_pairs_of_two_lists_than_the_bound():
    """Each of the lists fits."""
    some, none = [4] * 20, [0] * 20
    padded = akjax.traced(events(a=some + none, b=none + some))
    one, two = (content.offsets.bounds for content in node_of(padded).content.contents[1:])
    assert one.product(two) < 20 * 4 * 4
    assert fit(events(a=none + some, b=some + none), padded) is not None
    assert fit(events(a=some + none, b=some + none), padded) is None


def test_columns_that_line_up():
    """A program that takes them for one needs them so; one that does not takes both."""
    alike, different = events(a=(1, 0, 2), b=(1, 0, 2)), events(a=(1, 0, 2), b=(0, 1, 2))
    assert fit(alike, akjax.traced(alike)) is not None
    assert fit(different, akjax.traced(alike)) is None
    assert fit(alike, akjax.traced(different)) is not None


@pytest.mark.parametrize("growth", [1.02, 1.25, 2.0])
def test_large_buckets_divide_evenly(growth):
    """Loops over them do, too; and each bucket is the bucket of its own size."""
    for size in (4096, 4097, 100_001, 1_122_241):
        found = bucket(size, growth, 8)
        assert found % 64 == 0
        assert size <= found <= growth * size + 64
        assert bucket(found, growth, 8) == found


def test_masks_at_two_depths():
    array = ak.mask(ak.to_regular(ak.Array([[{"x": 1.0}, None], [{"x": 2.0}, {"x": 3.0}]])), [True, False])
    node = at_run_time(canonical(from_layout(array.layout, offsets=Static)))
    assert isinstance(node, Masked)
    assert not isinstance(node.content, Flat)
    padded = akjax.traced(array)
    assert fit(array, padded).keys() == set(flat_state(padded).spec.names())
