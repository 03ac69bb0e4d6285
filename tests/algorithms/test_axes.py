"""Tuples, slices and integers with traced values in them, against eager Awkward."""

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from many import check_many
from oracle import check, check_gradient, plain

import akjax

jax.config.update("jax_enable_x64", True)

LISTS = ak.Array([[1.0, 2.0, -1.0], [4.0], [3.0, 7.0]])
ARRAYS = {
    "flat": ak.Array([1.0, 2.0, 3.0]),
    "lists": LISTS,
    "records": ak.zip({"x": LISTS, "y": LISTS + 0.5, "p": ak.zip({"a": LISTS, "b": -LISTS})}, depth_limit=2),
    "columns": ak.Array({"x": LISTS, "y": LISTS * 2}),
    "tuples": ak.zip((LISTS, LISTS * 2)),
    "deep": ak.Array([[[1.0, 2.0], [], [3.0, 5.0, 6.0]], [[7.0]], [[4.0], [8.0, 9.0]]]),
    "with empty": ak.Array([[[1.0, 2.0], []], [], [[3.0]]]),
    "axes": ak.Array(np.arange(24.0).reshape(3, 2, 4)),
    "regular of lists": ak.to_regular(ak.Array([[[1.0, 2.0], []], [[3.0], [4.0]], [[], [7.0]]]), axis=1),
    "lists of regular": ak.unflatten(ak.Array(np.arange(8.0).reshape(4, 2)), [2, 1, 1]),
    "indexed": LISTS[np.array([2, 0, 0])],
    "missing numbers": ak.Array([[1.0, None, 3.0], [None], [4.0]]),
    "missing lists": ak.Array([[1.0, None, 3.0], [2.0], None, [4.0]]),
    "unknown": ak.Array([[], [], []]),
}
VALUES = {
    "zero": np.int64(0),  # Awkward writes into an array without axes when its number is negative
    "minus": np.int64(-1),
    "one": np.int64(1),
    "two": np.int64(2),
    "rows": np.array([2, 0, -1, 0]),
    "zeros": np.array([0, 0, 0, 0]),
    "small": np.array([0, 2], np.uint8),
    "column": np.array([[0], [2]]),
    "pair": np.array([0, -1]),
    "none": np.zeros(0, int),
    "missing": ak.Array([0, None, 2]),
    "array": ak.Array([1, 0]),
    "mask": np.array([True, False, True]),
}
INDEXES = {
    "i": lambda a, v: a[v["zero"]],
    "-i": lambda a, v: a[v["minus"]],
    "(i,)": lambda a, v: a[(v["one"],)],
    "i, static": lambda a, v: a[v["one"], 0],
    "static, i": lambda a, v: a[0, v["minus"]],
    "i, j": lambda a, v: a[v["one"], v["minus"]],
    "i, j, k": lambda a, v: a[v["zero"], v["minus"], v["zero"]],
    ":, i": lambda a, v: a[:, v["zero"]],
    ":, -i": lambda a, v: a[:, v["minus"]],
    "::-1, i": lambda a, v: a[::-1, v["zero"]],
    "i, :": lambda a, v: a[v["one"], :],
    "i, ::-1": lambda a, v: a[v["zero"], ::-1],
    "i, 1:": lambda a, v: a[v["two"], 1:],
    "i, -2:5": lambda a, v: a[v["zero"], -2:5],
    "i, ::2": lambda a, v: a[v["zero"], ::2],
    "i, 5:0:-2": lambda a, v: a[v["zero"], 5:0:-2],
    "i, :, ::-1": lambda a, v: a[v["zero"], :, ::-1],
    ":, :, i": lambda a, v: a[:, :, v["zero"]],
    "..., i": lambda a, v: a[..., v["zero"]],
    "i, ...": lambda a, v: a[v["zero"], ...],
    "..., i, 0:1": lambda a, v: a[..., v["zero"], 0:1],
    "None, i": lambda a, v: a[None, v["zero"]],
    "i, None": lambda a, v: a[v["zero"], None],
    "rows": lambda a, v: a[v["rows"]],
    "none": lambda a, v: a[v["none"]],
    "small": lambda a, v: a[v["small"]],
    "column": lambda a, v: a[v["column"]],
    "column, pair": lambda a, v: a[v["column"], v["pair"]],
    "missing": lambda a, v: a[v["missing"]],
    "missing, i": lambda a, v: a[v["missing"], 0],
    "array": lambda a, v: a[v["array"]],
    "array, i": lambda a, v: a[v["array"], v["zero"]],
    "rows, i": lambda a, v: a[v["rows"], v["zero"]],
    "rows, static": lambda a, v: a[v["rows"], 0],
    "static, zeros": lambda a, v: a[[2, 0, -1, 0], v["zeros"]],
    "rows, zeros": lambda a, v: a[v["rows"], v["zeros"]],
    "rows, :": lambda a, v: a[v["rows"], :],
    "rows, ::-1": lambda a, v: a[v["rows"], ::-1],
    ":, zeros": lambda a, v: a[:, v["zeros"]],
    "rows, :, zeros": lambda a, v: a[v["rows"], :, v["zeros"]],
    "rows, None, zeros": lambda a, v: a[v["rows"], None, v["zeros"]],
    ":, rows, zeros": lambda a, v: a[:, v["zeros"], v["zeros"]],
    "static mask, i": lambda a, v: a[np.array([True, False, False]), v["zero"]],
    "list with a tracer": lambda a, v: a[[v["two"], 0]],
    "x, i": lambda a, v: a["x", v["zero"]],
    "i, x": lambda a, v: a[v["zero"], "x"],
    "rows, x, 0": lambda a, v: a[v["rows"], "x", 0],
    "p, i, a": lambda a, v: a["p", v["zero"], "a"],
    "[x, y], i, j": lambda a, v: a[["x", "y"], v["zero"], v["minus"]],
    ":i": lambda a, v: a[: v["two"]],
    "i:": lambda a, v: a[v["one"] :],
    "-i:": lambda a, v: a[v["minus"] :],
    "i:j": lambda a, v: a[v["zero"] : v["two"]],
    "::-1 to i": lambda a, v: a[: v["zero"] : -1],
    ":, i:": lambda a, v: a[:, v["one"] :],
    ":, :i, ::-1": lambda a, v: a[:, : v["one"], ::-1],
    "i, :j": lambda a, v: a[v["zero"], : v["one"]],
    "j:, rows": lambda a, v: a[v["one"] :, v["zeros"]],
    "text": lambda a, v: a["z", v["zero"]],
    "half": lambda a, v: a[v["zero"], 1.5],
    "too many": lambda a, v: a[v["zero"], 0, 0, 0, 0],
    "two dots": lambda a, v: a[..., v["zero"], ...],
}
# what eager Awkward raises, or says, because of values; and where it applies two slices of a record to one axis
EXCEPT = {
    "with empty": ["i, static", "i, j", "i, j, k", "array, i"],
    "regular of lists": ["i, j, k", ":, i:", ":, :i, ::-1"],
    "axes": [":, i:", ":, :i, ::-1"],
    "missing numbers": ["i, static", "i, j"],
    "missing lists": [
        key for key in INDEXES if key.startswith(("i", "-i", "(i,)", "..., i, 0:1")) and key not in ("i:", "i:j")
    ],
    "columns": ["i, :, ::-1", ":, :, i", ":, rows, zeros", ":, :i, ::-1"],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_traced(name):
    indexes = {key: index for key, index in INDEXES.items() if key not in EXCEPT.get(name, ())}
    check_many(indexes, ARRAYS[name], VALUES)


def test_static_arrays_and_eager_ones():
    """The array is closed over, or nothing is traced at all."""
    for key in ("i", "rows", ":, i", "i:j", "i, ::-1"):
        check(lambda v, key=key: INDEXES[key](LISTS, v), VALUES)
        concrete = {name: jnp.asarray(value) for name, value in VALUES.items() if not isinstance(value, ak.Array)}
        assert plain(INDEXES[key](LISTS, concrete)) == plain(INDEXES[key](LISTS, VALUES))


def test_conditions_in_front():
    mask = np.array([True, False, True])
    check(lambda a, m: a[m, :1], LISTS, mask)
    check(lambda a, m: a["x", m], ARRAYS["records"], mask)
    check(lambda a, m: a[m, "x"], ARRAYS["records"], mask)
    check(lambda a, m: a[m], ARRAYS["missing lists"], mask)  # Awkward keeps nothing of what the mask does not reach
    with pytest.raises(akjax.StructureError, match="only come first"):
        jax.jit(lambda a, m: a[:, m])(ARRAYS["axes"], np.array([True, False]))


def test_out_of_range():
    jit = jax.jit(lambda a, i: a[i])
    assert np.isnan(jit(ARRAYS["flat"], 7))
    assert np.isnan(jit(LISTS, 7).to_list()).tolist() == [True]
    assert str(jit(LISTS, np.array([-4, 1])).to_list()) == "[[nan], [4.0]]"
    assert jit(ak.Array([[1, 2], [3]]), np.array([5, 1])).to_list() == [[None], [3]]
    assert jit(ak.Array({"x": [1, 2], "y": [1.5, 2.5]}), np.array([5, 1])).x.to_list() == [None, 2]
    assert str(jax.jit(lambda a, i: a[:, i])(LISTS, 1).to_list()) == "[2.0, nan, 7.0]"
    assert jit(ak.Array([1, 2]), 7) == np.iinfo(np.int64).min
    for where in [(0, 3), (0, -4)]:
        with pytest.raises(IndexError, match=r"out of range|bounds"):
            akjax.checked(lambda a, i, j: a[i, j])(LISTS, *where)


def test_what_a_single_element_cannot_be():
    assert np.isnan(jax.jit(lambda a, i: a[i])(ak.Array([1.0, None]), 1))
    record = jax.jit(lambda a, i: a[i])(ak.Array([{"x": 1.0}, None]), 1)
    assert record.to_list() == {"x": None}
    with pytest.raises(akjax.StructureError, match="whether this list is missing"):
        jax.jit(lambda a, i: a[i])(ARRAYS["missing lists"], 0)
    with pytest.raises(akjax.StructureError, match="text"):
        jax.jit(lambda a, i: a[i])(ak.Array(["one", "two"]), 0)
    with pytest.raises(akjax.StructureError, match="step"):
        jax.jit(lambda a, i: a[::i])(LISTS, 2)


def test_results_are_used_further():
    def chosen(a, i):
        event = a[i]
        high = event.x[event.x > 1]
        return ak.sum(event.x * event.y), high, ak.max(a[[i, 0]].x, axis=1), a.x[[i, 0]] + a.y[[i, 0]]

    check(chosen, ARRAYS["columns"], np.int64(2))
    assert not isinstance(check(chosen, ARRAYS["records"], np.int64(2)), Exception)
    check(lambda a, i: a[i][a.x[0] > 1], ARRAYS["columns"], np.int64(2))  # a record has fields only


def test_gradients():
    def loss(a, i):
        return ak.sum(a[i] ** 3) + a[i, 0] ** 2 + ak.sum(a[:, i - 1 :] ** 2) + ak.sum(a[[i, 0], ::-1] ** 2)

    check_gradient(loss, LISTS, np.int64(2), order=1)
