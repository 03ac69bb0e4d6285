"""Combinations and products against eager Awkward, and what they put into a program."""

import awkward as ak
import jax
import numpy as np
import pytest
from arrays import ALL
from many import check_each
from oracle import check, check_gradient

jax.config.update("jax_enable_x64", True)

FUNCTIONS = {
    "pairs": lambda x: ak.combinations(x, 2),
    "triples with replacement": lambda x: ak.combinations(x, 3, replacement=True),
    "named": lambda x: ak.combinations(x, 2, fields=["a", "b"], with_name="Pair"),
    "parameters": lambda x: ak.combinations(x, 2, parameters={"some": "thing"}),
    "axis=0": lambda x: ak.combinations(x, 2, axis=0),
    "axis=-1": lambda x: ak.combinations(x, 2, axis=-1),
    "axis=2": lambda x: ak.combinations(x, 2, axis=2),
    "n=1": lambda x: ak.combinations(x, 1),
    "argcombinations": lambda x: ak.argcombinations(x, 2),
    "argcombinations axis=0": lambda x: ak.argcombinations(x, 2, axis=0),
    "cartesian": lambda x: ak.cartesian([x, x]),
    "cartesian dict": lambda x: ak.cartesian({"a": x, "b": x}, with_name="Pair"),
    "cartesian three": lambda x: ak.cartesian([x, x, x]),
    "cartesian nested": lambda x: ak.cartesian([x, x], nested=True),
    "cartesian nested some": lambda x: ak.cartesian({"a": x, "b": x, "c": x}, nested=["a"]),
    "cartesian axis=0": lambda x: ak.cartesian([x, x], axis=0),
    "cartesian axis=2": lambda x: ak.cartesian([x, x], axis=2),
    "argcartesian": lambda x: ak.argcartesian([x, x]),
    "argcartesian axis=0": lambda x: ak.argcartesian([x, x], axis=0),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_combinatorics(function):
    cases = {name: (array,) for name, array in ALL.items()}
    if "axis=-1" in function:
        del cases["union"]  # Awkward looks for its axis in every type of the union, and fails in an internal look-up
    check_each(FUNCTIONS[function], cases)


JETS = ak.zip(
    {name: ak.Array([[1.0, 2.0, 3.0], [], [4.0, 5.0]]) + k for k, name in enumerate(("pt", "eta", "phi", "mass"))}
)


def _index_constants(function, *args):
    """The integer arrays a program holds, and its equations by name."""
    jaxpr = jax.make_jaxpr(function)(*args)
    constants = [c for c in jaxpr.consts if np.ndim(c) and np.asarray(c).dtype.kind in "iu"]
    return constants, str(jaxpr)


def test_an_index_is_in_a_program_once():
    """Four fields of a record are taken by one index, not by four equal ones."""

    def function(jets):
        pairs = ak.combinations(jets, 2, fields=["a", "b"])
        return ak.sum((pairs.a.pt * pairs.b.pt + pairs.a.eta * pairs.b.eta) * (pairs.a.phi + pairs.b.mass))

    constants, _ = _index_constants(function, JETS)
    left_and_right = [c for c in constants if len(c) == 4]
    assert len({id(c) for c in constants}) == len(constants)
    assert len(left_and_right) <= 2 * 1 + 1  # left, right and the parents of the sum


def test_what_is_gathered_is_computed_once():
    """They are put in memory before they are repeated."""

    def function(jets):
        heavy = ak.zip({"c": np.cos(jets.phi), "s": np.sinh(jets.eta)})
        pairs = ak.combinations(heavy, 3, fields=["a", "b", "d"], replacement=True)
        return ak.sum(pairs.a.c * pairs.b.s * pairs.d.c)

    _, text = _index_constants(function, JETS)
    assert text.count("scatter-add") > 1


def test_no_callback():
    _, text = _index_constants(lambda x: ak.cartesian([x.pt, x.eta]), JETS)
    assert "callback" not in text


def test_gradients():
    missing = ak.Array([[1.0, None, 2.0], [], [3.0]])
    check_gradient(lambda x: ak.sum((lambda a, b: a**2 * b)(*ak.unzip(ak.combinations(x, 2)))), missing)
    check_gradient(lambda j: ak.sum((lambda a, b: a.pt * b.eta)(*ak.unzip(ak.cartesian([j, j])))), JETS)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("options", [{}, {"replacement": True}, {"with_name": "Pair"}])
@pytest.mark.parametrize("function", [ak.combinations, ak.argcombinations])
def test_lists_longer_than_the_table(function, options, n, monkeypatch):
    """Awkward's own indices stand in where the table would be too large."""
    monkeypatch.setattr("akjax.kernels.lists._LARGEST_TABLE", 1)
    check(lambda x: function(x, n, **options), JETS)


@pytest.mark.parametrize(
    "array",
    [
        ak.with_parameter(ak.Array([[1, 2, 3], []]), "__list__", "special"),
        ak.Array([["one", "two"], ["three"]]),
        ak.Array([[[1, 2, 3], [4, 5]], [], [[6]]]),
        ak.Array([[1, None, 3], None, [4, 5]]),
        ak.Array([[1, "two", 3]]),
        ak.to_regular(ak.Array([[1, 2, 3], [4, 5, 6]])),
        ak.Array([{"x": [1, 2, 3]}, {"x": []}]),
    ],
    ids=["parameter", "text", "deep", "missing", "union", "regular", "records"],
)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("function", [ak.combinations, ak.argcombinations])
def test_combinations_of_any_layout(function, array, axis):
    check(lambda x: function(x, 2, axis=axis), array)


def test_named_axes_of_combinations():
    check(lambda x: ak.combinations(x, 2, axis="jets"), ak.with_named_axis(JETS, ("events", "jets")))


MISSING = ak.Array([[1.0, 2.0], None, [3.0, None]])
ORDERS = [[2, 0], [0, 2], [1, 0, 2], [2, 1], [2, 2, 0], [0, 0], [2]]


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("ufunc", [np.subtract, np.hypot, np.less, np.arctan2])
def test_places_that_miss_different_elements(ufunc, order):
    """The same positions in what is there of the first and of the second elements, of which there are not as many."""

    def pairs(x):
        return ufunc(*ak.unzip(ak.combinations(x, 2)))

    check(pairs, MISSING[order])
    check(lambda x: ufunc(*reversed(ak.unzip(ak.cartesian([x[::-1], x])))), MISSING[order])
    if ufunc is np.hypot and any(MISSING[k] is not None for k in order):
        check_gradient(lambda x: ak.sum(pairs(x) ** 2), MISSING[order], order=1)
