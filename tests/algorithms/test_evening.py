"""Copies of elements are computed in buffers that threads share evenly; nothing else is to be seen of that."""

from __future__ import annotations

import gc
import re

import awkward as ak
import jax
import numpy as np
import pytest
from jax.test_util import check_grads
from many import check_many
from oracle import check

import akjax
from akjax.algorithms import evening
from akjax.kernels.evenly import even

jax.config.update("jax_enable_x64", True)
akjax.register()

_rng = np.random.default_rng(5)
X = ak.unflatten(_rng.normal(size=1200), [0, 397, *[3] * 200, 200, 2, 1, 0])
SIZE = int(ak.sum(ak.num(ak.combinations(X, 2))))


def distance(x):
    one, two = ak.unzip(ak.combinations(x, 2))
    return abs(np.sin(one) - two)


def selected(x):
    pairs = ak.combinations(x[x > -1], 2, fields=["one", "two"])
    pairs = pairs[pairs.one * pairs.two > 0]
    return pairs.one + 2 * pairs.two


REDUCERS = ("sum", "prod", "count", "count_nonzero", "any", "all", "min", "max", "argmin", "argmax", "mean", "std")


def test_sizes_are_not_even():
    assert even(SIZE) > SIZE > 4096


@pytest.mark.parametrize("made", [distance, selected])
def test_reducers(made):
    check_many({name: lambda x, n=name: getattr(ak, n)(made(x), axis=1) for name in REDUCERS}, X, rtol=1e-4)


@pytest.mark.parametrize("made", [distance, selected])
def test_what_is_not_reduced(made):
    check(lambda x: (made(x), ak.flatten(made(x)), ak.num(made(x)), ak.firsts(made(x)), made(x)[:, ::-1]), X)
    check(lambda x: np.histogram(ak.flatten(made(x)), bins=9, range=(0, 2))[0], X, types=False)


def test_nested_products():
    def nearest(x, y):
        one, two = ak.unzip(ak.cartesian([x[x > 0], y[y < 1]], nested=True))
        return x[x > 0][~ak.any(abs(one - two) < 0.01, axis=2)]

    check(nearest, X, X * 3)


def test_gradient():
    few = ak.unflatten(_rng.normal(size=310), [100, 7, 3, 200])
    check_grads(
        lambda c: ak.sum(ak.max(distance(few * c), axis=1) + ak.mean(selected(few * c), axis=1)), (1.3,), 1, rtol=1e-4
    )


def test_only_even_buffers_are_computed():
    """Neither both, nor the ones in front: these are the loops that XLA would not vectorise."""

    def near(x):
        return ak.any(distance(x) < 0.1, axis=1)

    program = jax.jit(near).lower(X).compile().as_text()
    assert f"[{even(SIZE)}" in program
    assert not re.search(rf"\[{SIZE}[\],]", program)


def test_a_block_stays_what_it_is():
    index = np.arange(5000)
    seen = []
    jax.make_jaxpr(lambda x: evening.taken(lambda at: seen.append(len(at)) or x[at], index))(np.zeros(5000))
    assert seen == [5000]


def test_of_other_lengths_or_without_room():
    index = np.arange(5000) // 2

    def function(x, y):
        copies = evening.taken(lambda at: x[at], index)
        assert evening.longer(copies).shape == (5056,)
        assert evening.longer(evening.evenly(lambda one, two: one + two, [copies, 1.0])).shape == (5056,)
        assert evening.longer(evening.evenly(lambda one, two: one + two, [copies, y])) is None
        return copies

    np.testing.assert_array_equal(jax.jit(function)(np.arange(2500.0), np.zeros(5000)), index)


def test_one_condition_written_twice():
    """What is known of buffers is known of them with their room."""

    def twice(x):
        pairs = ak.combinations(x, 2, fields=["one", "two"])
        above = pairs[(pairs.one > 0) & (pairs.two < 1)]
        again = pairs[(pairs.two < 1) & (pairs.one > 0)]
        return ak.sum(above.one * again.two, axis=1)

    check(twice, X)
    assert jax.jit(twice).lower(X).as_text().count("stablehlo.sort") == 0


def test_computed_once():
    """The front of a buffer may be gone when somebody asks for the same again."""

    def often(x):
        pairs = ak.combinations(x[x > 0], 2, fields=["one", "two"])
        return [ak.any(abs(pairs.one - pairs.two) < limit, axis=1) for limit in (0.1, 0.2, 0.3)]

    def gathers(function):
        return jax.jit(function).lower(X).as_text().count('"stablehlo.gather"')

    assert gathers(often) == gathers(lambda x: often(x)[0])


def test_nothing_is_kept():
    gc.collect()
    before = len(evening._longer), len(evening._fronts)
    jax.jit(lambda x: ak.sum(distance(x), axis=1))(X)
    gc.collect()
    assert (len(evening._longer), len(evening._fronts)) <= before


def test_of_an_even_size():
    """A buffer that has no room is its own front, and is not remembered."""

    def function(x):
        before = len(evening._longer)
        assert evening.uniform(x[0], 5056).shape == (5056,)
        copies = evening.taken(lambda at: x[at], np.arange(5056) // 2)
        assert evening.longer(copies) is None
        assert len(evening._longer) == before
        return copies

    assert jax.jit(function)(np.arange(2528.0)).shape == (5056,)


def test_lists_of_one_length():
    """Are rows of a matrix."""
    pairs = ak.unflatten(_rng.normal(size=5003 * 3), np.full(5003, 3))
    check(lambda x: ak.sum(distance(x), axis=1), pairs)
    assert "scatter-add" not in jax.jit(lambda x: ak.max(distance(x), axis=1)).lower(pairs).as_text()
