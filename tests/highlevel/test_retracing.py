"""The warning that a function is compiled again and again."""

from __future__ import annotations

import awkward as ak
import jax
import pytest

import akjax

akjax.register()

pytestmark = pytest.mark.filterwarnings("error::akjax.RetraceWarning")

ARRAYS = [ak.Array([[1.0] * n, [2.0]]) for n in range(5)]


def test_warns_once_at_the_third_structure():
    f = jax.jit(lambda x: ak.sum(x, axis=1))
    f(ARRAYS[0]), f(ARRAYS[1]), f(ARRAYS[0])
    with pytest.warns(akjax.RetraceWarning, match=r"3 arrays .* akjax\.traced"):
        f(ARRAYS[2])
    f(ARRAYS[3]), f(ARRAYS[4])  # warnings are errors here


def test_other_numbers_and_other_types_are_no_other_structure():
    f = jax.jit(lambda x: x)
    for k in range(4):
        f(ARRAYS[1] + k)
    f(ak.Array([1.0])), f(ak.Array([1.0, 2.0])), f(ak.Array([1.0, 2.0, 3.0]))
    f(ak.Array([[[1.0]]])), f(ak.Array([{"x": [1.0]}]))


def test_several_arguments_are_one_trace():
    f = jax.jit(lambda *arrays: arrays)
    f(*ARRAYS)
    f(*[array + 1 for array in ARRAYS])


def test_other_functions_count_for_themselves():
    for array in ARRAYS:
        jax.jit(lambda x: x)(array)


def test_traced_arrays_are_no_reason():
    f = jax.jit(lambda x: ak.sum(x, axis=1))
    with akjax.no_retracing():
        for array in ARRAYS:
            f(akjax.traced(array))


def test_holds_nothing():
    with jax.checking_leaks():
        jax.jit(lambda x: ak.sum(x * 2))(ARRAYS[0])


def test_as_an_error():
    f = jax.jit(lambda x: x * 2)
    with akjax.no_retracing():
        f(ARRAYS[0])
        with pytest.raises(akjax.RetraceWarning, match="2 arrays"):
            f(ARRAYS[1])
    f(ARRAYS[1])


LARGER = [ak.Array([[1.0] * 4**n, [2.0]]) for n in range(2, 6)]


def test_traced_arrays_get_the_advice_that_helps():
    f = jax.jit(lambda x: ak.sum(x, axis=1))
    f(akjax.traced(LARGER[0])), f(akjax.traced(LARGER[1]))
    with pytest.warns(akjax.RetraceWarning, match=r"3 arrays .* akjax\.envelope"):
        f(akjax.traced(LARGER[2]))


def test_a_stream_of_growing_chunks():
    """It pads by itself, and warns of nothing; but forbidding further traces forbids them there, too."""
    f = jax.jit(lambda x: ak.sum(x))
    assert akjax.stream(f, LARGER) == ak.sum([ak.sum(array) for array in LARGER])
    with akjax.no_retracing(), pytest.raises(akjax.RetraceWarning, match="padded to different sizes"):
        akjax.stream(jax.jit(lambda x: ak.sum(x)), LARGER)
