"""Index arithmetic on lists of run-time length, against Awkward on lists that are known."""

from __future__ import annotations

import awkward as ak
import jax
import numpy as np
import pytest

from akjax.kernels import lists

COUNTS = ([2, 0, 3, 1, 5], [0, 0], [4], [1, 1, 1], [6, 0, 0, 2])


def padded(counts, spare=2):
    """Offsets with a last list that stands for nothing, and the lists of the numbers of their elements."""
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    known = ak.unflatten(np.arange(ends[-1]), np.asarray(counts, np.int64))
    return np.append(ends, ends[-1] + spare).astype(np.int32), known


def check(found, expected, columns):
    offsets, parents, slots = found
    total = len(ak.flatten(expected))
    assert offsets[:-1].tolist() == np.concatenate([[0], np.cumsum(ak.num(expected))]).tolist()
    assert parents.tolist() == np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)).tolist()
    for slot, column in zip(slots, columns(ak.flatten(expected)), strict=True):
        assert slot[:total].tolist() == column.tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("replacement", [False, True])
def test_combinations(n, replacement):
    jitted = jax.jit(lists.combinations, static_argnums=(1, 2, 3, 4))
    for counts in COUNTS:
        offsets, known = padded(counts)
        expected = ak.combinations(known, n, replacement=replacement)
        check(jitted(offsets, n, replacement, 7, len(ak.flatten(expected)) + 3), expected, ak.unzip)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("counts", [*COUNTS, []])
def test_known_combinations(n, replacement, counts):
    _, known = padded(counts)
    expected = ak.combinations(known, n, replacement=replacement)
    offsets, slots = lists.known_combinations(np.concatenate([[0], np.cumsum(counts)]).astype(int), n, replacement)
    assert offsets.tolist() == np.concatenate([[0], np.cumsum(ak.num(expected))]).tolist()
    for slot, column in zip(slots, ak.unzip(ak.flatten(expected)), strict=True):
        assert slot.tolist() == column.tolist()


@pytest.mark.parametrize("mean", [0.3, 3.0, 40.0])
def test_known_lists_in_pieces(mean):
    """More lists than are looked at at a time, short and long ones."""
    counts = np.random.default_rng(1).poisson(mean, 5000)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    found = lists.known_parents(offsets, np.empty(offsets[-1], np.int32))
    assert np.array_equal(found, np.repeat(np.arange(5000), counts))
    made, slots = lists.known_combinations(offsets, 2, False)
    known = ak.unflatten(np.arange(offsets[-1]), counts)
    expected = ak.combinations(known, 2)
    assert np.array_equal(np.diff(made), np.asarray(ak.num(expected)))
    for slot, column in zip(slots, ak.unzip(ak.flatten(expected)), strict=True):
        assert np.array_equal(slot, np.asarray(column))


@pytest.mark.parametrize("rows", [[], [0], [2, 0, 2, 1], [0, 1, 2, 3]])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_known_products(count, rows):
    several = np.array([[2, 1, 0, 3], [1, 2, 2, 1], [1, 3, 1, 0]])[:count]
    rows = np.array(rows, int)
    arrays = [ak.unflatten(np.arange(counts.sum()), counts) for counts in several]
    expected = ak.cartesian(arrays)[rows]
    ends = [np.concatenate([[0], np.cumsum(counts)]) for counts in several]
    offsets, row, which, columns = lists.known_product(ends, rows)
    assert offsets.tolist() == [0, *np.cumsum(ak.num(expected)).to_list()]
    assert which.tolist() == np.repeat(np.arange(len(rows)), np.asarray(ak.num(expected))).tolist()
    assert row.tolist() == rows[which].tolist()
    for column, values in zip(columns, ak.unzip(ak.flatten(expected)), strict=True):
        assert column.tolist() == values.tolist()
        assert column.dtype == np.int32


def test_lists_too_long_for_a_table():
    assert lists.known_combinations(np.array([0, 200]), 5, False) is None


def test_too_many_combinations():
    offsets, _ = padded([1])
    with pytest.raises(ValueError, match="too many"):
        jax.jit(lists.combinations, static_argnums=(1, 2, 3, 4))(offsets, 5, False, 200, 10)


@pytest.mark.parametrize("most", [1000, 1 << 20], ids=["short", "long"])
@pytest.mark.parametrize("number", [2, 3])
def test_product(number, most):
    jitted = jax.jit(lists.product, static_argnums=(1, 2))
    for counts in COUNTS:
        several = [padded(np.roll(counts, k)) for k in range(number)]
        expected = ak.cartesian([known for _, known in several])
        check(jitted([offsets for offsets, _ in several], len(ak.flatten(expected)) + 2, most), expected, ak.unzip)


def test_divided():
    number, by = np.meshgrid(np.arange(600, dtype=np.int32), np.arange(1, 600, dtype=np.int32))
    by_large = np.array([1, 2, 3, 7, 511, 512, 513, 2**17, 2**18 - 1], np.int32)
    large = np.stack([by_large * k + r for k, r in [(1, -1), (1, 0), (2, -1), (2, 0)]]) % 2**18
    for numbers, divisors in [(number, by), (large, np.broadcast_to(by_large, large.shape))]:
        found = jax.jit(lists._divided, static_argnums=2)(numbers, divisors, 2**18 - 1)
        for one, expected in zip(found, np.divmod(numbers, divisors), strict=True):
            np.testing.assert_array_equal(one, expected)


def test_repeated():
    for counts in COUNTS:
        offsets, known = padded(counts)
        outer, others = padded(np.roll(counts, 1), spare=1)
        at = np.repeat(np.arange(len(counts) + 1), np.diff(outer)).astype(np.int32)
        expected = known[at[:-1]]
        size = len(ak.flatten(expected)) + 2
        made, parents, whole, row, slots = jax.jit(lists.repeated, static_argnums=3)(offsets, outer, at, size)
        check((made, parents, [slots]), expected, lambda flat: [flat])
        assert np.diff(whole)[:-1].tolist() == (ak.num(known) * ak.num(others)).tolist()
        assert row.tolist() == np.repeat(np.arange(len(counts) + 1), np.diff(whole)).tolist()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_concatenation(number):
    for counts in COUNTS:
        several = [padded(np.roll(counts, k), spare=k + 1) for k in range(number)]
        sizes = [int(offsets[-1]) for offsets, _ in several]
        known = [one + sum(sizes[:k]) for k, (_, one) in enumerate(several)]
        expected = ak.concatenate(known, axis=1)
        parents = [lists.parents_of(offsets, size) for (offsets, _), size in zip(several, sizes, strict=True)]
        offsets, within, source = jax.jit(lists.concatenation)([offsets for offsets, _ in several], parents)
        check((offsets, within, [source]), expected, lambda flat: [flat])
        assert sorted(source.tolist()) == list(range(sum(sizes)))


@pytest.mark.parametrize("counts", COUNTS)
def test_columns(counts):
    rng = np.random.default_rng(len(counts))
    counts = np.asarray(counts, np.int32)
    to = rng.integers(0, 3, len(counts)).astype(np.int32)
    longest = [int(counts[to == k].max(initial=0)) for k in range(3)]
    size = sum(longest) + 2
    offsets, parents = jax.jit(lists.columns, static_argnums=(2, 3))(counts, to, 4, size)
    assert offsets.tolist() == [0, *np.cumsum(longest), size]
    assert parents.tolist() == np.repeat(np.arange(4), [*longest, 2]).tolist()


def test_nth_of_kind():
    rng = np.random.default_rng(3)
    kinds, there = rng.integers(0, 4, 40).astype(np.int32), rng.random(40) < 0.6
    found = jax.jit(lists.nth_of_kind, static_argnums=2)(kinds, there, 5)
    assert found.tolist() == [int((there[:k] & (kinds[:k] == kinds[k])).sum()) for k in range(40)]
