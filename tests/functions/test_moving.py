"""Functions that only move elements, against eager Awkward: every function, every kind of array."""

import awkward as ak
import jax
import numpy as np
import pytest
from arrays import ALL
from many import check_each, check_many
from oracle import check, check_gradient

jax.config.update("jax_enable_x64", True)

MOVING = {
    "firsts": ak.firsts,
    "firsts axis=0": lambda x: ak.firsts(x, axis=0),
    "firsts axis=-1": lambda x: ak.firsts(x, axis=-1),
    "singletons": ak.singletons,
    "singletons axis=1": lambda x: ak.singletons(x, axis=1),
    "pad_none": lambda x: ak.pad_none(x, 2),
    "pad_none clip": lambda x: ak.pad_none(x, 2, clip=True),
    "pad_none axis=0": lambda x: ak.pad_none(x, 5, axis=0),
    "pad_none axis=-1": lambda x: ak.pad_none(x, 3, axis=-1),
    "fill_none": lambda x: ak.fill_none(x, 7),
    "fill_none axis=None": lambda x: ak.fill_none(x, 7.5, axis=None),
    "fill_none axis=0": lambda x: ak.fill_none(x, 1, axis=0),
    "fill_none by booleans": lambda x: ak.fill_none(x, True),
    "pad and fill": lambda x: ak.fill_none(ak.pad_none(x, 2), 1),
    "pad and fill by booleans": lambda x: ak.fill_none(ak.pad_none(x, 2), False),
    "is_none": ak.is_none,
    "is_none axis=1": lambda x: ak.is_none(x, axis=1),
    "is_none axis=-1": lambda x: ak.is_none(x, axis=-1),
    "drop_none": ak.drop_none,
    "drop_none axis=1": lambda x: ak.drop_none(x, axis=1),
    "local_index": ak.local_index,
    "local_index axis=0": lambda x: ak.local_index(x, axis=0),
    "local_index axis=1": lambda x: ak.local_index(x, axis=1),
    "num": ak.num,
    "num axis=0": lambda x: ak.num(x, axis=0),
    "num axis=-1": lambda x: ak.num(x, axis=-1),
    "flatten": ak.flatten,
    "flatten axis=None": lambda x: ak.flatten(x, axis=None),
    "flatten axis=0": lambda x: ak.flatten(x, axis=0),
    "flatten axis=-1": lambda x: ak.flatten(x, axis=-1),
    "ravel": ak.ravel,
    "concatenate": lambda x: ak.concatenate([x, x]),
    "concatenate axis=1": lambda x: ak.concatenate([x, x], axis=1),
    "concatenate axis=-1": lambda x: ak.concatenate([x, x], axis=-1),
    "concatenate with integers": lambda x: ak.concatenate([x, ak.Array([[1, 2]])]),
    "concatenate with booleans": lambda x: ak.concatenate([x, ak.Array([[True]])]),
    "concatenate mergebool=False": lambda x: ak.concatenate([x, ak.Array([[True]])], mergebool=False),
    "concatenate with a number": lambda x: ak.concatenate([x, 3], axis=1),
    "with_name": lambda x: ak.with_name(x, "Foo"),
    "with_parameter": lambda x: ak.with_parameter(x, "a", 1),
    "without_parameters": ak.without_parameters,
    "to_regular": ak.to_regular,
    "to_regular axis=None": lambda x: ak.to_regular(x, axis=None),
    "from_regular": ak.from_regular,
    "from_regular axis=None": lambda x: ak.from_regular(x, axis=None),
    "to_packed": ak.to_packed,
    "mask": lambda x: ak.mask(x, np.arange(len(x)) % 2 == 0),
    "copy": ak.copy,
    "length": len,
    "unflatten": lambda x: ak.unflatten(x, [len(x)]),
}

# Awkward's answer depends on how the array is stored, and akjax stores it in one canonical way
STORAGE = {
    ("pad_none axis=-1", "indexed"),  # an option for an IndexedArray, none for the same numbers without an index
}


@pytest.mark.parametrize("function", MOVING)
def test_moving(function):
    cases = {name: (array,) for name, array in ALL.items() if (function, name) not in STORAGE}
    check_each(MOVING[function], cases)


KINDS = {
    "booleans": ak.Array([True, False]),
    "no booleans": ak.Array([True])[:0],
    "integers": ak.Array([1, 2]),
    "no integers": ak.Array([1])[:0],
    "floats": ak.Array([1.5, 2.5]),
    "uint8": ak.values_astype(ak.Array([1, 2]), "uint8"),
    "complex": ak.Array([1j, 2]),
    "options": ak.Array([1, None]),
    "nothing missing": ak.Array(ak.contents.UnmaskedArray(ak.contents.NumpyArray(np.array([1, 2])))),
    "lists": ak.Array([[1.5, 2], []]),
    "records": ak.Array([{"x": 1.0}, {"x": 2.0}]),
    "other records": ak.Array([{"x": 1, "y": True}, {"x": 2, "y": False}]),
    "union": ak.Array([True, [1.5]]),
    "three kinds": ak.Array([True, 1, [2.5]]),
    "strings": ak.Array(["a", "bb"]),
    "unknown": ak.Array([]),
    "regular": ak.Array(np.arange(4).reshape(2, 2)),
}


@pytest.mark.parametrize("one", KINDS)
def test_joining(one):
    pairs = {two: (KINDS[one], KINDS[two]) for two in KINDS}
    check_each(lambda a, b: ak.concatenate([a, b]), pairs)
    check_each(lambda a, b: ak.concatenate([a, b], mergebool=False), pairs)
    check_each(lambda a, b: ak.fill_none(a, b), {two: (KINDS[one], KINDS[two][:1]) for two in KINDS})
    with_scalars = {}
    for scalar in (3, 2.5, True, 1j, np.int8(3)):
        with_scalars[f"joined with {scalar!r}"] = lambda a, s=scalar: ak.concatenate([a, s], axis=0)
        with_scalars[f"filled with {scalar!r}"] = lambda a, s=scalar: ak.fill_none(a, s)
        with_scalars[f"filled everywhere with {scalar!r}"] = lambda a, s=scalar: ak.fill_none(a, s, axis=None)
    check_many(with_scalars, KINDS[one])


def test_concrete_arguments_are_data():
    """Numbers of a NumPy array may be as large as those that stand for elements."""
    x = ak.Array([1.0, 2.0])
    check(lambda a: ak.concatenate([a, np.array([1e13, np.nan])]), x)
    check(lambda a: ak.concatenate([a, [1e13]]), x)
    check(lambda a: ak.fill_none(ak.pad_none(a, 3, axis=0), 1e13), x)


def test_a_traced_number_fills():
    check(lambda a, v: ak.fill_none(a, v), ak.Array([[1.0, None], [], [3.0]]), np.float64(2.5))
    check(lambda a, v: ak.fill_none(ak.pad_none(a, 2), v), ak.Array([[1, 2], [], [3]]), np.float64(2.5))


def test_integers_in_two_words():
    """Without 64-bit types, event numbers are moved and joined without loss."""
    big = ak.Array(np.array([2**53 + 1, 3, 2**61], np.int64))
    with jax.enable_x64(False):
        doubled = jax.jit(lambda x: ak.concatenate([x, x[::-1]]))(big)
    assert doubled.to_list() == [*big.to_list(), *big.to_list()[::-1]]


@pytest.mark.parametrize("name", ["lists", "options", "record"])
def test_gradients(name):
    array = ALL[name]
    value = (lambda x: x.b) if name == "record" else (lambda x: x)
    check_gradient(lambda x: ak.sum(ak.fill_none(ak.pad_none(value(x), 3), 2.0) ** 2), array)
    check_gradient(lambda x: ak.sum(ak.concatenate([value(x), value(x) ** 2], axis=1) ** 2), array)
    check_gradient(lambda x: ak.sum(ak.flatten(value(x)) ** 3), array)
    check_gradient(lambda x: ak.sum(ak.firsts(value(x)) ** 2), array)


def test_lists_that_are_missing_at_run_time_are_joined_as_empty_ones():
    array = ak.Array([[[1], None, [2, 3]], None, [[5]]])
    rows, elements = ak.Array([True, False, True]), ak.Array([[True, False, True], None, [True]])
    for axis in (0, 1, 2):
        for mask in (rows, elements):
            check(lambda x, m, a=axis: ak.concatenate([x[m], x[m]], axis=a), array, mask)
    check(lambda x, m: ak.concatenate([ak.mask(x, m), x], axis=1), ak.Array([[1], [4], [2, 3]]), rows)


def test_whether_records_that_are_left_are_missing():
    rows = ak.Array([True, False])
    for array in (
        ak.Array([{"a": 1.0}, {"a": 2.0}]),
        ak.Array([{"a": 1.0, "b": [1]}, {"a": 2.0, "b": []}]),
        ak.Array([[{"a": 1.0, "b": [1]}], [None]]),
    ):
        for axis in (0, 1, -1):
            check(lambda x, m, a=axis: ak.is_none(x[m], axis=a), array, rows)
