"""Indexing against eager Awkward: static indexes of every form, and integers that are traced."""

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrays import ALL
from many import check_each
from oracle import check, check_gradient, plain

import akjax

jax.config.update("jax_enable_x64", True)

OLD = tuple(map(int, ak.__version__.split(".")[:2])) < (2, 9)
every = slice(None)
STATIC = {
    **{str(k): k for k in (0, -1, 9, None, ..., np.int64(1), 1.5, "x", "a", "0", ["x"], ["a", "b"], ["1"], [0, 1], [])},
    **{str(k): k for k in ([True, False], (0, 0), (..., 0), (None, 0), ("p", "x"), ("x", 0), (0, "x"))},
    "1:": slice(1, None),
    "::-1": slice(None, None, -1),
    "::2": slice(None, None, 2),
    ":,0": (every, 0),
    ":,-1": (every, -1),
    ":,:1": (every, slice(None, 1)),
    ":,::-1": (every, slice(None, None, -1)),
    "...,:1": (..., slice(0, 1)),
    ":,None": (every, None),
    ":,y": (every, "y"),
    "...,a": (..., "a"),
    "integers": np.array([1, 0, -1]),
    "mask of 2": np.array([True, False]),
    "mask of 3": np.array([True, False, True]),
    "mask of 4": np.array([True, False, True, False]),
    "integers, array": ak.Array([1, 0]),
    "integers, missing": ak.Array([1, None, 0]),
    "lists of integers": ak.Array([[0], [], [0]]),
    "lists of integers, 4": ak.Array([[0], [], [0, 1], [0]]),
    "lists of integers, missing": ak.Array([[0, None], [], [0]]),
    "lists of booleans": ak.Array([[True, False], [], [True]]),
    "lists of booleans, 4": ak.Array([[True, False, True], [], [False, True], [True]]),
    "booleans, missing": ak.Array([True, None, False]),
    "two axes": np.array([[0, 1], [1, 0]]),
    "two indexes": (np.array([0, 1]), np.array([0, 0])),
    "0, index": (0, np.array([0, 0])),
    "index, :": (np.array([0, 1]), every),
    ":, index": (every, np.array([0])),
    "JAX": jnp.array([1, 0]),
    "JAX mask": jnp.array([True, False, True]),
}


@pytest.mark.parametrize("where", STATIC)
def test_static(where):
    index = STATIC[where]
    cases = {name: (array,) for name, array in ALL.items()}
    if where.startswith("lists of") and OLD:
        del cases["list array"]  # Awkward took elements of the list behind for those beyond the end of a list
    check_each(lambda a: a[index], cases)


LISTS = ak.Array([[1.0, 2.0, -1.0], [], [3.0]])
INTEGERS = ak.Array([[1, 2, 5], [], [3]])
RECORDS = ak.zip({"x": LISTS, "n": INTEGERS})
FLAT = ak.Array([1.0, 2.0, 3.0])
REGULAR = ak.Array(np.arange(6.0).reshape(3, 2))
MISSING = ak.Array([[1.0, None, 3.0], [], [4.0]])
DEEP = ak.Array([[[1.0, 2.0], []], [], [[3.0]]])
LISTED = (LISTS, INTEGERS, RECORDS, RECORDS.x, MISSING)


def take(array, index):
    return array[index]


def equal(array, index):
    """Equal values; integers may be missing, as an index out of range would make them."""
    assert plain(jax.jit(take)(array, index)) == plain(take(array, index))


def test_traced_rows():
    for array in (FLAT, FLAT + 0, REGULAR, ak.Array([1.0, None, 3.0]), ak.Array({"x": FLAT, "n": [1, 2, 3]})):
        for index in (
            np.array([2, 0, -1]),
            ak.Array([2, 0, -1, 1]),
            ak.Array([2, None, -1]),
            np.array([[0, 1], [1, 0], [0, 0]]),
            np.zeros((2, 0), int),
            np.zeros((2, 3, 1), int),
            ak.to_regular(ak.Array([[0, 1], [1, 2]])),
        ):
            equal(array, index)
    check(take, FLAT, np.array(1))
    check(take, FLAT, np.array([2, 0]))
    check(take, REGULAR, np.array(1))
    check(lambda i: FLAT[i], np.array([2, 0]))
    equal(ak.Array([[1.5, 2.5], [3.5, 4.5]])[:, :2], ak.Array([[0, -1], [1]]))


def test_traced_lists():
    for array in LISTED:
        for index in (
            ak.Array([[0, -1], [], [0]]),
            ak.Array([[0, None], [], [0]]),
            ak.Array([[0, -1], None, [0]]),
            ak.Array([[], [], []]),
        ):
            equal(array, ak.values_astype(index, int))
    equal(ak.Array([[1.0], None, [2.0, 3.0]]), ak.Array([[0], [], [1]]))
    equal(DEEP, ak.Array([[[0, 1], []], [], [[-1]]]))
    check(lambda a: a[ak.argmax(a, axis=-1, keepdims=True)], LISTS)
    check(lambda a: a[ak.argmax(a.x, axis=-1, keepdims=True)], RECORDS)
    check(lambda a: a[ak.argsort(a, axis=-1)], LISTS)
    check(lambda a: a[ak.local_index(a)], LISTS)
    check(lambda a, i: a[:, i], LISTS[[0, 2]], np.array(0))


def test_errors_known_while_tracing():
    deep = ak.Array([[0, -1], [], [0]])
    for array in (FLAT, ak.Array([1.0, None, 3.0]), ak.Array({"x": FLAT, "n": [1, 2, 3]})):
        check(take, array, deep)
    for array in LISTED:
        check(take, array, ak.Array([[0, -1], []]))
        check(take, array, ak.Array([[[0]], [], []]))
    check(lambda a, i: a[:, i], FLAT, np.array(0))
    check(take, LISTS, np.array([0.5]))
    text = ak.Array(["one", "two"])
    with pytest.raises(akjax.errors.StructureError, match="text"):
        jax.jit(lambda i: text[i])(np.array([1, 0]))


@pytest.mark.parametrize("index", [[1, 0], [2, 2, 0], [-1], []])
def test_whole_lists_move(index):
    deep = ak.Array([[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]]])
    check(take, deep, ak.Array([[0, -1], [], [0]]))
    for array in (LISTS, deep, ak.zip({"a": LISTS, "b": LISTS})):
        check(take, array, np.array(index, np.int64))


def test_out_of_range_is_never_clamped():
    index = np.array([5, 0, -7])
    assert str(jax.jit(take)(FLAT, index).to_list()) == "[nan, 1.0, nan]"
    assert jax.jit(take)(ak.Array([1, 2, 3]), index).to_list() == [None, 1, None]
    deep = ak.Array([[5], [0], [-3, 0]])
    assert str(jax.jit(take)(LISTS, deep).to_list()) == "[[nan], [nan], [nan, 3.0]]"
    assert jax.jit(take)(INTEGERS, deep).to_list() == [[None], [None], [None, 3]]
    # an index with missing values gives missing values anyway
    assert jax.jit(take)(RECORDS, ak.Array([[5, None], [0], [0]])).to_list() == [
        [None, None],
        [None],
        [{"x": 3.0, "n": 3}],
    ]


def test_masks_with_several_axes():
    mask = np.array([[True, False], [False, True], [True, True]])
    check(take, REGULAR, mask)
    check(take, ak.Array(np.arange(12.0).reshape(3, 2, 2)), mask)
    with pytest.raises(IndexError):
        jax.jit(take)(LISTS, mask)


def test_gradients():
    where = ak.Array([[0, 0, -1], [], [0]])
    check_gradient(lambda x: ak.sum(x[where] ** 2), LISTS)
    check_gradient(lambda r, i: ak.sum(r[i].x ** 2), RECORDS, where)
    check_gradient(lambda x, i: ak.sum(ak.fill_none(x[i], 1.0) ** 2), MISSING, where)
    check_gradient(lambda x: ak.sum(x[:, ::-1][:, :2] ** 2), LISTS)
