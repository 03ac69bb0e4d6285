"""`akjax.traced`: what goes across lists of run-time length, or turns their order round."""

from __future__ import annotations

from typing import Any

import awkward as ak
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from jax.test_util import check_grads
from many import check_many
from oracle import compare, outcome, plain, same

import akjax

akjax.register()

REDUCERS = ("sum", "prod", "any", "all", "count", "count_nonzero", "min", "max", "argmin", "argmax")
STATISTICS = ("ptp", "mean", "var", "std")

FORMS = {
    "lists": ak.Array([[1.5, 2.0, -3.0], [], [4.0, 0.5], [6.0]]),
    "integers": ak.Array([[1, 2], [], [2, 0, 5]]),
    "deep": ak.Array([[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]], [[]]]),
    "deeper": ak.Array([[[[1.0], [2.0, 3.0]], []], [], [[[4.0], []], [[], [5.0], [6.0, 0.5]]]]),
    "missing numbers": ak.Array([[1.0, None, 3.0], [], [4.0], [None]]),
    "missing lists": ak.Array([[1.0, 2.0], None, [], [4.0]]),
    "missing everywhere": ak.Array([[[1.0, None], None], None, [[3.0, 4.0], []], [None]]),
    "regular below": ak.to_regular(ak.Array([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]]), axis=2),
    "empty": ak.Array([[1.0], [2.0]])[:, :0],
    "no rows": ak.Array([[1.0], [2.0]])[:0],
}
other = {name: array[::-1] for name, array in FORMS.items()}


def check_traced(functions: dict[Any, Any], *arrays: Any) -> None:
    """Compare the answers of one program for lists of run-time length with the eager ones."""
    wanted = {key: outcome(function, *arrays) for key, function in functions.items()}
    computed: dict[Any, Any] = {}

    def every(*traced: Any) -> dict[Any, Any]:
        computed.update({key: outcome(function, *traced) for key, function in functions.items()})
        return {str(key): value for key, value in computed.items() if not isinstance(value, Exception)}

    got = jax.jit(every)(*map(akjax.traced, arrays))
    for key, value in computed.items():
        if wanted[key] is None:  # which a number cannot say
            continue
        try:
            compare(got.get(str(key), value), wanted[key])
        except Exception as error:
            message = f"{key} of {[plain(array) for array in arrays]}"
            raise AssertionError(message) from error


def reductions(names: tuple[str, ...], axes: Any, **options: Any) -> dict[Any, Any]:
    return {
        (name, axis, keepdims, *options.values()): lambda x, n=name, a=axis, k=keepdims: getattr(ak, n)(
            x, axis=a, keepdims=k, **options
        )
        for name in names
        for axis in axes
        for keepdims in (False, True)
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", [REDUCERS[::2], REDUCERS[1::2]], ids=["even", "odd"])
def test_reducers_over_every_axis(form: str, names: tuple[str, ...]) -> None:
    check_traced(reductions(names, (None, 0, 1, -2)), FORMS[form])


@pytest.mark.parametrize("form", ["lists", "deep", "missing everywhere", "no rows"])
def test_statistics_over_every_axis(form: str) -> None:
    check_traced(reductions(STATISTICS, (None, 0, 1, 3)), FORMS[form])


@pytest.mark.parametrize("form", ["lists", "deep", "missing everywhere", "empty"])
def test_what_nothing_reduces_to(form: str) -> None:
    for mask_identity in (False, True):
        check_traced(
            reductions(("sum", "max", "argmin", "mean"), (None, 0, 1), mask_identity=mask_identity), FORMS[form]
        )


SELECTED = {
    "elements": lambda x, f: f(x[x > 1.5]),
    "rows": lambda x, f: f(x[ak.num(x) > 1]),
    "inner lists": lambda x, f: f(x[ak.num(x, axis=-1) > 1]),
    "masked": lambda x, f: f(ak.mask(x, x > 1.5)),
    "masked lists": lambda x, f: f(ak.mask(x, ak.num(x) > 1)),
    "first elements": lambda x, f: f(x[:, :1]),
    "no rows": lambda x, f: f(x[ak.num(x) > 9]),
    "other way round": lambda x, f: f(x[::-1, ::-1]),
}


@pytest.mark.parametrize("form", ["lists", "deep", "missing numbers", "missing lists"])
@pytest.mark.parametrize("name", SELECTED)
def test_reducers_of_what_is_left(form: str, name: str) -> None:
    calls = reductions(("sum", "argmin", "max", "mean"), (0, 1))
    check_traced({key: lambda x, f=call: SELECTED[name](x, f) for key, call in calls.items()}, FORMS[form])


BY_COLUMN = {
    "line up": lambda x: ak.sum(x, axis=0) / ak.count(x, axis=0) - ak.mean(x, axis=0),
    "reduced again": lambda x: (ak.sum(ak.max(x, axis=0), axis=-1), ak.max(ak.sum(x, axis=0))),
    "as many as": lambda x: (ak.num(ak.sum(x, axis=0), axis=0), ak.count(x, axis=0)),
    "an order": lambda x: ak.sort(ak.sum(x, axis=0)),
    "some of them": lambda x: ak.sum(x, axis=0)[:1],
    "selected": lambda x: ak.sum(x, axis=0)[ak.count(x, axis=0) > 1],
    "pairs": lambda x: ak.combinations(ak.sum(x, axis=0), 2, axis=-1),
}


@pytest.mark.parametrize("form", ["lists", "deep", "deeper", "missing numbers"])
def test_columns_are_arrays_as_others(form: str) -> None:
    axis = 0 if FORMS[form].ndim == 2 else 1
    calls = dict(BY_COLUMN)
    if axis == 0:
        calls.pop("pairs")
    check_traced(calls, FORMS[form])


BACKWARDS: dict[str, Any] = {
    str(where): lambda x, where=where: x[where]
    for where in [
        slice(None, None, -1),
        slice(None, None, -2),
        slice(2, 0, -1),
        (slice(None), slice(None, None, -1)),
        (slice(None), slice(None, None, -2)),
        (slice(None), slice(1, None, -1)),
        (..., slice(None, None, -1)),
        (slice(None, None, -1), slice(None, None, -1)),
    ]
} | {
    "of what is left": lambda x: x[x > 1.5][:, ::-1],
    "rows of what is left": lambda x: x[ak.num(x) > 1][::-1],
    "twice": lambda x: x[::-1][::-1] + x,
    "line up": lambda x: x[::-1] * x[::-1],
    "pairs": lambda x: ak.combinations(x[::-1], 2),
    "joined": lambda x: ak.concatenate([x[::-1], x[::-1]], axis=1),
    "lengths": lambda x: (ak.num(x[::-1]), ak.num(x[::-1, ::-1], axis=-1)),
}


@pytest.mark.parametrize("form", [form for form in FORMS if form != "regular below"])
def test_the_other_way_round(form: str) -> None:
    check_traced({key: call for key, call in BACKWARDS.items() if key != "twice" or form == "lists"}, FORMS[form])


FLAT: dict[str, Any] = {
    **{f"axis {axis}": lambda x, a=axis: ak.flatten(x, axis=a) for axis in (0, 1, 2, 3, -1, -2, -5)},
    "of what is left": lambda x: ak.flatten(x[x > 1.5], axis=-1),
    "of lists that are left": lambda x: ak.flatten(x[ak.num(x, axis=-1) > 1], axis=-1),
    "of masked lists": lambda x: ak.flatten(ak.mask(x, ak.num(x) > 1), axis=-1),
    "pairs": lambda x: ak.combinations(ak.flatten(x, axis=2), 2),
    "sums": lambda x: (ak.sum(ak.flatten(x, axis=2), axis=1), ak.num(ak.flatten(x, axis=2))),
    "line up": lambda x: ak.flatten(x, axis=2) - ak.flatten(x, axis=2),
}


@pytest.mark.parametrize("form", FORMS)
def test_flatten(form: str) -> None:
    shallow = FORMS[form].ndim == 2 or "regular" in form
    check_traced({key: call for key, call in FLAT.items() if not shallow or "axis" in key}, FORMS[form])


JOINED: dict[str, Any] = {
    "rows": lambda x, y: ak.concatenate([x, y]),
    "three": lambda x, y: ak.concatenate([x, y, x]),
    "what is left": lambda x, y: ak.concatenate([x[ak.num(x) > 1], y[y > 1.5]]),
    "number": lambda x, y: (ak.num(ak.concatenate([x, y]), axis=0), ak.num(ak.concatenate([x, y]))),
    "sums": lambda x, y: (ak.sum(ak.concatenate([x, y]), axis=-1), ak.sum(ak.concatenate([x, y]))),
    "columns": lambda x, y: ak.sum(ak.concatenate([x, y]), axis=0),
    "the other way round": lambda x, y: ak.concatenate([x, y])[::-1, ::-1],
    "pairs": lambda x, y: ak.combinations(ak.concatenate([x, y]), 2),
    "records": lambda x, y: ak.concatenate([ak.zip({"a": x, "b": 1}), ak.zip({"a": y, "b": 2})]),
    "columns of records": lambda x, y: ak.concatenate([ak.zip({"a": x, "b": x}), ak.zip({"a": y, "b": y})]).a,
    "lists": lambda x, y: ak.concatenate([x, x], axis=1),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_several_arrays(form: str) -> None:
    check_traced(JOINED, FORMS[form], other[form])


@pytest.mark.parametrize("form", ["lists", "deep", "missing lists"])
def test_rows_of_an_array_as_it_is(form: str) -> None:
    """Its last row exists."""
    exact = other[form]
    check_traced({key: lambda x, f=call: f(x, exact) for key, call in JOINED.items()}, FORMS[form])
    check_traced({key: lambda x, f=call: f(exact, x) for key, call in JOINED.items()}, FORMS[form])


def test_fields_of_records() -> None:
    events = ak.zip({"a": FORMS["lists"], "b": FORMS["deep"]}, depth_limit=1)
    check_traced(
        {
            "columns": lambda e: (ak.sum(e.a, axis=0), ak.max(e.b, axis=1), ak.argmax(e.b, axis=0)),
            "rows the other way round": lambda e: e[::-1],
            "fields": lambda e: (e[::-1].a, e[::-1].b[:, ::-1]),
            "joined": lambda e: ak.concatenate([e, e[::-1]]),
            "joined fields": lambda e: ak.concatenate([e, e]).b,
        },
        events,
    )


def test_run_lengths() -> None:
    lists = ak.Array([[1, 1, 2], [], [2, 2, 2, 1], [1]])
    calls = {
        "all": ak.run_lengths,
        "what is left": lambda x: ak.run_lengths(x[x > 1]),
        "lengths": lambda x: ak.num(ak.run_lengths(x)),
    }
    check_traced(calls, lists)
    check_traced(calls, ak.Array([[[1.0, 1.0], []], [], [[2.0]]]))


def test_other_lists_in_one_program() -> None:
    """What was compiled for one chunk is right for the others."""
    rng = np.random.default_rng(1)
    chunks = [
        ak.unflatten(ak.unflatten(rng.normal(size=int(inner.sum())), inner), outer)
        for outer in (rng.integers(0, 5, 20) for _ in range(4))
        for inner in [rng.integers(0, 6, int(outer.sum()))]
    ]
    sizes = akjax.envelope(chunks)

    @jax.jit
    def several(x: Any) -> Any:
        return (
            ak.sum(x, axis=0),
            ak.argmax(x, axis=1),
            x[::-1, ::-1],
            ak.flatten(x, axis=2),
            ak.concatenate([x, x[::-1]]),
            ak.std(x, axis=0, keepdims=True),
        )

    for chunk in chunks:
        got = several(akjax.traced(chunk, like=sizes))
        same(plain(got), plain(several.__wrapped__(chunk)), rtol=1e-6)
    assert several._cache_size() == 1


SMOOTH: dict[str, Any] = {
    "sum": lambda x: ak.sum(ak.sum(x, axis=0) ** 2),
    "inner sum": lambda x: ak.sum(ak.sum(x, axis=1) ** 3),
    "prod": lambda x: ak.sum(ak.prod(x, axis=0)),
    "max": lambda x: ak.sum(ak.max(x, axis=0) ** 2),
    "std": lambda x: ak.sum(ak.std(x, axis=0) ** 2 + ak.mean(x, axis=0)),
    "reversed": lambda x: ak.sum(x[::-1] ** 2 * 1.5) + ak.sum(ak.firsts(x[:, ::-1], axis=-1) ** 2),
    "flattened": lambda x: ak.sum(ak.flatten(x, axis=-1)[::-1] ** 3),
    "joined": lambda x: ak.sum(ak.sum(ak.concatenate([x, x * 2]), axis=-1) ** 2),
}


@pytest.mark.parametrize("form", ["lists", "deep"])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(form: str, name: str) -> None:
    """Of the data through `partition`, with the gradient's values those of the array itself, and of a parameter."""
    array, function = FORMS[form], SMOOTH[name]
    floating, rest = akjax.partition(akjax.traced(array))

    def of_data(part: Any) -> Any:
        return function(akjax.combine(part, rest))

    check_grads(of_data, (floating,), order=2, modes=["fwd", "rev"], rtol=1e-4, atol=1e-4)
    gradient = jax.jit(jax.grad(of_data))(floating)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))
    exact, others = akjax.partition(array)
    wanted = jax.grad(lambda part: function(akjax.combine(part, others)))(exact)
    same(plain(akjax.like(gradient, akjax.traced(array))), plain(akjax.combine(wanted, others)), rtol=1e-6)
    check_grads(lambda scale: function(akjax.traced(array) * scale), (jnp.asarray(1.1),), order=1, rtol=1e-4)


@st.composite
def lists_of_lists(draw: Any) -> ak.Array:
    numbers = st.floats(-4, 4, width=32).map(lambda x: round(x, 1))
    inner = st.none() | st.lists(st.none() | numbers, max_size=3)
    rows = draw(st.lists(st.none() | st.lists(inner, max_size=3), max_size=4))
    return ak.Array([[[1.0, None], None], None, *rows])[2:]


@settings(deadline=None, max_examples=10)
@given(lists_of_lists(), st.sampled_from((*REDUCERS, "mean")), st.booleans())
def test_property(array: ak.Array, name: str, keepdims: bool) -> None:
    reduce = getattr(ak, name)
    check_traced(
        {
            0: lambda x: reduce(x, axis=0, keepdims=keepdims),
            1: lambda x: reduce(x, axis=1, keepdims=keepdims),
            "all": lambda x: reduce(x, axis=None, keepdims=keepdims),
            "rows": lambda x: x[::-1],
            "lists": lambda x: x[:, ::-1, ::-1],
            "flatten": lambda x: ak.flatten(x, axis=2),
            "joined": lambda x: ak.concatenate([x, x]),
        },
        array,
    )


def test_errors_name_what_was_called() -> None:
    deep = akjax.traced(FORMS["deep"])
    with pytest.raises(akjax.StructureError, match=r"^ak\.to_regular is not supported on the lists of akjax\.traced"):
        jax.jit(lambda x: ak.to_regular(x))(deep)


def test_exact_arrays_are_what_they_were() -> None:
    check_many(
        {"rows": lambda x: x[::-1], "lists": lambda x: x[:, ::-1], "left": lambda x: x[x > 1][:, ::-1]}, FORMS["deep"]
    )


PLACES: dict[str, Any] = {
    "of masked lists": lambda x: ak.argmax(ak.mask(x, ak.num(x) < 3)),
    "of padded lists": lambda x: ak.argmin(ak.pad_none(x, 4)),
    "of masked lists that are left": lambda x: ak.argmax(ak.mask(x, ak.num(x) < 3)[ak.num(x) > 0]),
    "of numbers that may be none": lambda x: ak.nanargmax(ak.mask(x, ak.num(x) < 3)),
}


@pytest.mark.parametrize("form", ["lists", "missing numbers", "missing lists", "missing everywhere"])
def test_places_among_the_lists_that_are_there(form: str) -> None:
    check_traced(PLACES, FORMS[form])


def centred(x: Any) -> Any:
    return x - ak.mean(x, axis=0, keepdims=True)


ONE_ROW: dict[str, Any] = {
    "in front": lambda x: ak.sum(x, axis=0, keepdims=True) / x,
    "missing where nothing is": lambda x: x / ak.max(x, axis=0, keepdims=True),
    "of some rows": lambda x: centred(x)[1:] + ak.sum(x, axis=0, keepdims=True),
    "of selected rows": lambda x: centred(x[ak.num(x) > 1]),
    "of no rows": lambda x: x[ak.num(x) > 9] + ak.sum(x, axis=0, keepdims=True),
    "of numbers": lambda x: ak.num(x) - ak.sum(x, axis=0, keepdims=True),
    "choice": lambda x: ak.where(x > ak.mean(x, axis=0, keepdims=True), x, 0),
    "records": lambda x: ak.zip({"a": x, "b": ak.mean(x, axis=0, keepdims=True)}),
    "two": lambda x: ak.sum(x, axis=0, keepdims=True) - ak.min(x, axis=0, keepdims=True),
}


@pytest.mark.parametrize(
    "array",
    [
        ak.Array([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]]),
        ak.Array([[1.0, 2.0, 3.0]]),
        ak.Array([[[1.0, 2.0], [5.0]], [[3.0, 1.0], [4.0]]]),
        ak.Array([[1.0, None], [3.0, 4.0]]),
        ak.Array([[1.0, 2.0], None, [3.0, 4.0]]),
    ],
    ids=["rows", "one", "deep", "missing numbers", "missing lists"],
)
def test_one_row_is_repeated(array: ak.Array) -> None:
    calls = {"as it is": centred, **ONE_ROW}
    if array.ndim > 2:
        for name in ("of numbers", "of selected rows"):
            calls.pop(name)
    if ak.any(ak.is_none(array)):
        calls.pop("choice")
    check_traced(calls, array)


def test_one_row_that_does_not_fit() -> None:
    ragged = akjax.traced(ak.Array([[1.0, 2.0], [5.0], [3.0, 4.0]]))
    found = plain(jax.jit(centred)(ragged))
    assert np.isnan(found[1][0])
    assert [found[0], found[2]] == [[-2.0, -1.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match="cannot broadcast nested list"):
        akjax.checked(centred)(ragged)


def test_gradients_through_one_row() -> None:
    fitting = akjax.traced(ak.Array([[1.0, 2.0], [5.0, 0.5]]))
    check_grads(lambda scale: ak.sum(centred(fitting * scale) ** 2), (jnp.asarray(1.1),), order=2, rtol=1e-4)


DESCRIBED: dict[str, Any] = {
    "packed": ak.to_packed,
    "bare": ak.without_parameters,
    "irregular": lambda x: ak.from_regular(x, axis=None),
    "named": lambda x: ak.with_name(ak.zip({"a": x, "b": 2 * x}), "pair"),
}


@pytest.mark.parametrize("form", ["lists", "deep", "no rows"])
def test_one_row_keeps_all_its_slots(form: str) -> None:
    check_traced(
        {key: lambda x, f=call: f(ak.sum(x, axis=0, keepdims=True)) for key, call in DESCRIBED.items()}, FORMS[form]
    )


SUMS: dict[str, Any] = {
    "zip": lambda x: ak.zip({"x": x, "total": ak.sum(x, axis=-1, keepdims=True)}),
    "counted": lambda x: ak.zip([x, ak.count(x, axis=-1, keepdims=True)]),
    "with_field": lambda x: ak.with_field(ak.zip({"x": x}), ak.sum(x, axis=-1, keepdims=True), "total"),
    "of everything": lambda x: ak.zip({"x": x, "total": ak.sum(x, axis=None, keepdims=True)}),
    "as lists": lambda x: ak.zip([x[:, :2], ak.sum(x, axis=-1, keepdims=True)], depth_limit=1),
}


@pytest.mark.parametrize("form", ["lists", "deep", "missing lists", "no rows"])
def test_records_of_elements_and_their_sum(form: str) -> None:
    calls = dict(SUMS)
    if "missing" in form:  # there eager Awkward has no result
        calls.pop("with_field")
    check_traced(calls, FORMS[form])


@pytest.mark.parametrize(
    "choose",
    [lambda x: ak.where(x > 2, x, 0), lambda x: ak.where(x > 2, x, x[::-1])],
    ids=["number", "other way round"],
)
def test_choice_in_selected_lists_of_lists(choose: Any) -> None:
    """Booleans of lists that are lined up twice are missing where these do not fit, once."""
    rows = np.array([True, False, True, False])
    x = FORMS["deep"][[0, 1, 0, 3]]
    found = jax.jit(lambda x, rows: choose(x[rows]))(akjax.traced(x), rows)
    same(plain(found), plain(choose(x[rows])))
