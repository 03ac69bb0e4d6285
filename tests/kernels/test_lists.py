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
        offsets, within, source = jax.jit(lambda several, sizes=sizes: lists.concatenation(several, sizes))(
            [offsets for offsets, _ in several]
        )
        check((offsets, within, [source]), expected, lambda flat: [flat])
        assert sorted(source.tolist()) == list(range(sum(sizes)))
