"""Types of results of arrays of `akjax.traced`: regular dimensions stay, go and come as in eager Awkward."""

from __future__ import annotations

import awkward as ak
import jax
import numpy as np
import pytest
from oracle import check, compare, outcome, plain

import akjax


def numbers(*shape: int) -> np.ndarray:
    return np.arange(1.0, 1 + np.prod(shape)).reshape(shape)


PAIRS = ak.to_regular(
    ak.zip({"a": ak.Array([[1.0, 2.0], [3.0, 4.0]]), "b": ak.Array([[5.0, 6.0], [7.0, 8.0]])}), axis=1
)
FORMS = {
    "2": ak.Array(numbers(3, 2)),
    "2 * 2": ak.Array(numbers(3, 2, 2)),
    "2 * var": ak.to_regular(ak.Array([[[1.0, 2.0], [3.0]], [[], [4.0, 5.0, 6.0]], [[7.0], [8.0]]]), axis=1),
    "var * 2": ak.to_regular(ak.Array([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]]), axis=2),
    "2 * option": ak.to_regular(ak.Array([[1.0, None], [2.0, 3.0]]), axis=1),
    "2 * record": PAIRS,
    "var": ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5]]),
    "var * var": ak.Array([[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]]]),
    "var * option[var]": ak.Array([[[1.0], None], [], [[3.0, 4.0]]]),
}


OUTER = {"sort", "argsort"}  # over an outer axis
NOT_SUPPORTED = {
    ("2 * 2", 1): OUTER,
    ("2 * var", 1): OUTER,
    ("2 * record", 1): {"sort"},
    ("var * 2", 1): OUTER,
    ("var * var", 1): OUTER,
    ("var * option[var]", 1): OUTER,
    ("2 * option", -1): {"softmax"},  # eagerly each row is divided by the sums of all, as it has as many elements
    ("var * option[var]", -1): {"where"},
    ("var * option[var]", 2): OUTER,  # eager Awkward takes the wrong ones for the missing lists
}


def several(x: ak.Array, axis: int) -> list[tuple[str, object]]:
    """The functions of the library that know of an axis, with that one."""
    calls = {
        "pad_none": lambda: ak.pad_none(x, 1, axis=axis),
        "pad_none longer": lambda: ak.pad_none(x, 3, axis=axis),
        "pad_none clip": lambda: ak.pad_none(x, 1, axis=axis, clip=True),
        "firsts": lambda: ak.firsts(x, axis=axis),
        "singletons": lambda: ak.singletons(x, axis=axis),
        "local_index": lambda: ak.local_index(x, axis=axis),
        "num": lambda: ak.num(x, axis=axis),
        "combinations": lambda: ak.combinations(x, 2, axis=axis),
        "with replacement": lambda: ak.combinations(x, 2, replacement=True, axis=axis),
        "argcombinations": lambda: ak.argcombinations(x, 2, axis=axis),
        "concatenate": lambda: ak.concatenate([x, x], axis=axis),
        "cartesian": lambda: ak.cartesian({"one": x, "two": x}, axis=axis),
        "nested": lambda: ak.cartesian({"one": x, "two": x}, axis=axis, nested=True),
        "sort": lambda: ak.sort(x, axis=axis),
        "argsort": lambda: ak.argsort(x, axis=axis),
        "drop_none": lambda: ak.drop_none(x, axis=axis),
    }
    return [(name, outcome(call)) for name, call in calls.items()]


INDICES = [
    (slice(None), slice(0, 1)),
    (slice(None), slice(1, None)),
    (slice(None), slice(-1, None)),
    (slice(None), slice(None, None, 2)),
    (slice(None), slice(None), slice(0, 1)),
    (slice(None), None),
    (slice(None), slice(None), None),
    (..., slice(0, 1)),
    (..., None),
]


def indexed(x: ak.Array, _: int) -> list[tuple[str, object]]:
    return [(str(where), outcome(lambda where=where: x[where])) for where in INDICES]


def together(x: ak.Array, _: int) -> list[tuple[str, object]]:
    """Functions that bring arrays together, element by element or one after another."""
    calls = {
        "ufunc": lambda: x * x + 1,
        "where": lambda: ak.where(x > 2, x, -x),
        "mask": lambda: ak.mask(x, x > 2),
        "zip": lambda: ak.zip({"one": x, "two": x}),
        "with_field": lambda: ak.with_field(ak.zip({"one": x}), x + 1, "two"),
        "broadcast_arrays": lambda: ak.broadcast_arrays(x, 1.0)[0],
        "softmax": lambda: ak.softmax(x, axis=-1),
        "rows": lambda: ak.concatenate([x, x[ak.num(x, axis=1) > 0]], axis=0),
        "from_regular": lambda: ak.from_regular(x, axis=1),
        "from_regular all": lambda: ak.from_regular(x, axis=None),
        "without_parameters": lambda: ak.without_parameters(x),
        "values_astype": lambda: ak.values_astype(x, "float32"),
    }
    return [(name, outcome(call)) for name, call in calls.items()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("call", "axis"), [(several, 1), (several, 2), (indexed, 0), (together, -1)])
def test_types(form, call, axis):
    """One program for all functions: what raises eagerly raises, what akjax does not support says so."""
    array = FORMS[form]
    raised: dict[str, object] = {}

    def compiled(x):
        found = call(x, axis)
        raised.update({name: value for name, value in found if isinstance(value, Exception)})
        return {name: value for name, value in found if not isinstance(value, Exception)}

    got = {**jax.jit(compiled)(akjax.traced(array)), **raised}
    wrong = {}
    for name, want in call(array, axis):
        problem = outcome(compare, got[name], want)
        if isinstance(problem, Exception) and not isinstance(want, Exception):
            wrong[name] = problem
        elif isinstance(want, Exception):
            assert isinstance(got[name], type(want) | akjax.StructureError), (name, got[name], want)
    assert set(wrong) == NOT_SUPPORTED.get((form, axis), set()), wrong


def test_a_known_mask_of_the_first_rows():
    """What a mask does not reach is not selected; one that is too long is an error."""
    x = FORMS["var"]
    for mask in ([True, False], [True], [False, True, True]):
        for given in (mask, np.array(mask), ak.Array(mask)):
            check(lambda x, given=given: x[given], akjax.traced(x))
            check(lambda x, given=given: x[ak.num(x) > 0][given[:2]], akjax.traced(x))
    with pytest.raises(IndexError):
        akjax.checked(lambda x: x[[True] * 5])(akjax.traced(x))


@pytest.mark.parametrize("form", ["2", "2 * 2", "2 * record"])
def test_a_rectangle_of_conditions_makes_its_axes_one(form):
    x = FORMS[form]

    def select(x):
        y = x.a if x.fields else x
        return x[y > 2], x[ak.num(x) > 1][(y > 2)[ak.num(x) > 1]]

    compare(jax.jit(select)(akjax.traced(x)), select(x))


def test_regular_axes_in_lists_broadcast_from_the_left():
    """Below lists NumPy's pairing from the last axis on is not Awkward's."""
    two = FORMS["var * 2"]
    rows, elements = ak.Array([1.0, 2.0, 3.0]), ak.Array([[10.0, 20.0], [], [30.0]])
    for prepare in (lambda x: x, akjax.traced):
        together = prepare(ak.zip({"two": two, "rows": rows, "elements": elements}, depth_limit=1))
        found = jax.jit(lambda e: (e.two + e.rows, e.elements * e.two, e.two - e.elements))(together)
        compare(found, (two + rows, elements * two, two - elements))


def test_a_scalar_is_a_field_of_every_record():
    for array in (PAIRS, ak.zip({"x": FORMS["var"]})):
        for value in (1.5, True):
            check(lambda x, value=value: ak.with_field(x, value, "new"), akjax.traced(array))
    traced = jax.jit(lambda x, value: ak.with_field(x, value, "new"))(akjax.traced(PAIRS), 2.5)
    assert plain(traced.new) == [[2.5, 2.5], [2.5, 2.5]]
    with pytest.raises(ValueError, match="no tuples or records"):
        jax.jit(lambda x: ak.with_field(x, 1.0, "new"))(akjax.traced(FORMS["var"]))


def test_an_index_that_no_list_of_one_size_has():
    for index in (2, -3):
        with pytest.raises(IndexError, match="out of range"):
            jax.jit(lambda x, index=index: x[:, index])(akjax.traced(FORMS["2 * var"]))


def test_known_conditions():
    """They speak of rows and lists by position, as traced ones do."""
    x, rows = FORMS["var"], np.array([True, False, True])
    lists = ak.Array([[True, False, True], [], [False, True]])
    functions = {
        "mask": lambda x: (ak.mask(x, rows), ak.mask(x, lists), ak.mask(x, rows, valid_when=False)),
        "where": lambda x: (ak.where(rows, x, -x), ak.where(lists, x, 0.0)),
        "select": lambda x: (x[rows], x[lists]),
        "products": lambda x: ak.cartesian([x, ak.Array([[1.0], [2.0], []])]),
    }
    for function in functions.values():
        check(lambda x, f=function: f(x), akjax.traced(x))
        check(lambda x, f=function: f(x[ak.num(x) >= 0]), x)


@pytest.mark.parametrize("number", [1, 2])
def test_a_known_mask_for_more_rows_than_there_are(number):
    """Only those it selects have to be there."""
    x = ak.Array([[1.0, 2.0], [3.0]])[:number]
    for mask in ([True, False, False], [False, True, False][: number + 1], [False] * 20):
        if not any(mask[number:]):
            check(lambda x, mask=mask: x[np.array(mask)], akjax.traced(x))
    with pytest.raises(IndexError):
        akjax.checked(lambda x: x[np.array([False, False, True])])(akjax.traced(x))
    check(lambda x: ak.pad_none(x, 3, axis=0, clip=True)[np.array([True, False])], akjax.traced(x))


def test_rectangles_of_conditions_that_are_no_rectangle_of_the_array():
    square = akjax.traced(ak.Array(numbers(3, 3)))
    mask = np.array([[True, False], [True, True]])
    check(lambda x: x[mask], square)
    check(lambda x: x[x[:, 0] > 1][mask], square)
    for function in (
        lambda x: x[np.ones((3, 4), bool)],
        lambda x: ak.broadcast_arrays(x[:, 0, np.newaxis], x[:, 0]),
        lambda x: ak.broadcast_arrays(x, ak.num(x)),
    ):
        with pytest.raises(akjax.StructureError):
            jax.jit(function)(square)
    lists = akjax.traced(FORMS["var"])
    for function in (
        lambda x: x[np.ones((3, 2), bool)],
        lambda x: x[ak.sum(x, axis=1, keepdims=True) > 1],
        lambda x: ak.mask(x, ak.sum(x, axis=1, keepdims=True) > 1),
    ):
        with pytest.raises(akjax.StructureError):
            jax.jit(function)(lists)
