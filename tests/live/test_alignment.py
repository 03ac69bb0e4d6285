"""Which selections are known to be the same, and that others are never paired."""

from __future__ import annotations

import gc

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import check, plain, same
from programs import shape_of

import akjax
from akjax.algorithms import numbering

X64 = bool(jax.config.jax_enable_x64)

jets = ak.zip({"pt": [[1.5, 2.0, 0.5], [], [4.0, 0.7], [6.0]], "eta": [[1.0, 5.0, 3.0], [], [2.0, 7.5], [-6.0]]})
cut = ak.Array([0.9, 1.0, 1.1, 1.2])


@pytest.mark.parametrize(
    "f",
    [
        lambda j: j[j.pt > 1].pt * j[j.pt > 1].eta,
        lambda j: j[(j.pt > 1) & (abs(j.eta) < 4)].pt * j[(j.pt > 1) & (abs(j.eta) < 4)].eta,
        lambda j: j[j.pt > 1][j[j.pt > 1].eta < 4].pt + j[j.pt > 1][j[j.pt > 1].eta < 4].eta,
        lambda j: np.log(j.pt[j.pt > 1]) / j.pt[j.pt > 1],
        lambda j: (
            j.pt[j.pt == ak.max(j.pt, axis=1, keepdims=True)] * j.eta[j.pt == ak.max(j.pt, axis=1, keepdims=True)]
        ),
        lambda j: j[ak.num(j[j.pt > 1]) > 0].pt + j[ak.num(j[j.pt > 1]) > 0].eta,
        lambda j: ak.flatten(j[j.pt > 1]).pt + ak.flatten(j[j.pt > 1]).eta,
        lambda j: j[j.pt > 1][:, :1].pt + j[j.pt > 1][:, :1].eta,
    ],
)
def test_a_condition_written_twice_is_one(f) -> None:
    check(f, jets, types=X64, rtol=1e-6)


def test_a_traced_threshold_written_twice_is_one() -> None:
    check(lambda j, c: j[j.pt > c].pt * j[j.pt > c].eta, jets, cut, types=X64, rtol=1e-6)
    got = jax.jit(lambda j, t: j[j.pt > t].pt * j[j.pt > t].eta)(jets, 1.0)
    same(plain(got), plain((jets.pt * jets.eta)[jets.pt > 1]), rtol=1e-6)


def text(f, *arrays: ak.Array) -> str:
    """The program, before XLA simplifies it."""
    return jax.jit(f).lower(*arrays).as_text()


def moves(f, *arrays: ak.Array) -> bool:
    """Whether a program asks at run time where elements are, or moves them."""
    shape = shape_of(f, *arrays)
    return "stablehlo.case" in text(f, *arrays) or shape.sorts > 0 or shape.scatters > 0


events = ak.Array({"Jet": jets, "w": [1.0, 2.0, 3.0, 4.0]})
some = ak.Array([True, False, True, True])


@pytest.mark.parametrize(
    "f",
    [
        lambda e, s: e[s].Jet.pt * e.Jet[s].eta,
        lambda e, s: e.Jet[e.Jet.pt > 1].pt * e.Jet[e.Jet.pt > 1].eta,
        lambda e, s: (
            e.Jet.pt[(e.Jet.pt > 1) & (e.Jet.eta < 4) & (e.Jet.eta > 0)]
            + e.Jet.pt[(e.Jet.eta > 0) & ((e.Jet.eta < 4) & (e.Jet.pt > 1))]
        ),
        lambda e, s: e.Jet.pt[e.Jet.pt > 1] + e.Jet.eta[~~(e.Jet.pt > 1)],
        lambda e, s: e.Jet.pt[e.Jet.pt > 1][(e.Jet.eta < 4)[e.Jet.pt > 1]] + e.Jet.pt[(e.Jet.eta < 4) & (e.Jet.pt > 1)],
        lambda e, s: ak.drop_none(ak.mask(e.w, s)) + e.w[~ak.is_none(ak.mask(e.w, s))],
        lambda e, s: ak.drop_none(ak.mask(e.w, s)) + e.w[s],
        lambda e, s: e.w[s][(e.w > 1)[s]] + e.w[(e.w > 1) & s],
    ],
)
def test_proven_alike_costs_nothing(f) -> None:
    check(f, events, some, types=X64, rtol=1e-6)
    assert not moves(f, events, some)


def test_others_are_asked_about_at_run_time() -> None:
    def f(x: ak.Array, a: ak.Array, b: ak.Array) -> ak.Array:
        return x[a] + 10 * x[b]

    x = ak.Array([[1.0, 2.0, 3.0], [4.0], [5.0, 6.0]])
    one = ak.Array([[True, False, True], [True], [False, False]])
    two = ak.Array([[False, True, True], [True], [False, False]])
    assert moves(f, x, one, two)
    for masks in ((one, two), (two, one), (one, one)):
        check(f, x, *masks, types=X64, rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda j: j[j.pt > 1].pt * j[j.eta > 1].pt,
        lambda j: j[j.pt > 1].pt * j.pt,
        lambda j: ak.zip({"a": j[j.pt > 1].pt, "b": j.pt}).a,
        lambda j: np.histogram(ak.flatten(j.pt[j.pt > 1]), 3, (0, 9), weights=ak.flatten(j.pt[j.pt > 2]))[0],
    ],
)
def test_unequal_numbers_are_nan_and_told(f) -> None:
    assert "nan" in str(plain(jax.jit(f)(jets)))
    with pytest.raises(ValueError, match="different numbers of elements"):
        akjax.checked(f)(jets)


def test_a_buffer_that_may_change_is_never_the_same() -> None:
    limits = np.ones(len(jets))

    def f(j: ak.Array) -> ak.Array:
        first = j[j.pt > limits]
        limits[:] = 2.0
        return first.pt * j[j.pt > limits].eta

    assert moves(f, jets)


def test_behaviors_are_no_pytrees() -> None:
    class Point(ak.Array):
        pass

    behavior = {
        ("*", "Point"): Point,
        "Point": ak.Record,
        (np.add, "Point", "Point"): lambda a, b: a.pt + b.pt,
    }

    def f(j: ak.Array) -> ak.Array:
        good = ak.with_name(j[j.pt > 1], "Point", behavior=behavior)
        return good + good

    assert plain(jax.jit(f)(jets)) == plain(2 * jets.pt[jets.pt > 1])


def test_numbers_hold_nothing() -> None:
    def f(j: ak.Array) -> object:
        return ak.sum(j[j.pt > 1].pt * j[j.pt > 1].eta)

    with jax.checking_leaks():
        jax.jit(f)(jets)
        jax.jit(jax.grad(lambda pt: f(ak.with_field(jets, pt, "pt"))))(jets.pt)
        jax.jit(lambda j: jax.lax.scan(lambda c, t: (c + f(j) * t, None), 0.0, jnp.ones(2))[0])(jets)
    gc.collect()
    before = len(numbering._of_buffers), len(numbering._of_results)
    for _ in range(3):
        jax.jit(lambda j: f(j))(jets)
    jax.clear_caches()
    gc.collect()
    assert (len(numbering._of_buffers), len(numbering._of_results)) <= before


def test_a_long_chain_is_numbered_in_linear_time() -> None:
    def f(x: ak.Array) -> ak.Array:
        for _ in range(100):
            x = np.maximum(x, x)
        return x[x > 1] * x[x > 1]

    check(f, jets.pt, types=X64, rtol=1e-3)


def test_a_condition_with_other_lists_is_an_index_error() -> None:
    condition = ak.Array([[True, False, True], [], [False]])
    with pytest.raises(IndexError):  # Awkward's class, ValueError in its oldest versions
        jax.jit(lambda a, b: a[b])(ak.Array([[1.0, 2.0], [], [3.0]]), condition)


@pytest.mark.parametrize("rank", [0, -1])
def test_places_that_are_known_are_worked_out_on_the_host(rank: int) -> None:
    """XLA folds scatters of constants for many seconds."""
    x = ak.Array(np.arange(8.0).reshape(4, 2))

    def function(x: ak.Array) -> ak.Array:
        lists = ak.from_regular(x)
        return lists[ak.sum(lists, axis=1) > 3][:, rank]

    assert shape_of(function, x).scatters == 0
    check(function, x)
