"""Functions of copied elements are computed before the copying."""

from __future__ import annotations

import gc
import re
import weakref

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import akjax
from akjax.algorithms.origins import Origin, came_from, copied, evaluate, moved, origin_of

akjax.register()

X = ak.Array([[0.5, 1.5, 2.5, 3.5, 4.5], [], [5.5], [6.5, 7.5]])
INDEX = np.array([0, 0, 1, 1, 2, 2])


def counted(function, *args):
    """How often each primitive is applied to how many numbers."""
    found = {}

    def walk(jaxpr):
        for equation in jaxpr.eqns:
            for name, value in equation.params.items():
                if hasattr(value, "jaxpr") and name != "update_jaxpr":  # how a scatter combines two numbers
                    walk(value.jaxpr)
            shape = equation.outvars[0].aval.shape
            found[equation.primitive.name] = found.get(equation.primitive.name, 0) + int(np.prod(shape))

    walk(jax.make_jaxpr(function)(*args).jaxpr)
    return found


def test_sines_of_elements_not_of_pairs():
    def pairs(x):
        one, two = ak.unzip(ak.combinations(x, 2))
        return np.cos(one) * 2 + np.cos(two)

    numbers = counted(pairs, X)
    assert numbers["cos"] <= 2 * 8  # eight elements are in eleven pairs
    assert ak.almost_equal(jax.jit(pairs)(X), pairs(X))
    check_grads(lambda leaf: jnp.sum(ak.to_jax(ak.flatten(pairs(X + 0 * leaf)))), (1.0,), order=2)


def test_of_rows_not_of_elements():
    def spread(x, y):
        return x * np.sin(ak.broadcast_arrays(y, x)[0])

    y = ak.Array([1.0, 2.0, 3.0, 4.0])
    assert counted(spread, X, y)["sin"] == 4
    assert ak.almost_equal(jax.jit(spread)(X, y), spread(X, y))


def test_vector_before_pairing():
    vector = pytest.importorskip("vector")
    vector.register_awkward()
    n = int(ak.count(X))
    particles = ak.zip(dict.fromkeys(("pt", "eta", "phi", "mass"), X), with_name="Momentum4D")

    def masses(p):
        one, two = ak.unzip(ak.combinations(p, 2))
        return (one + two).mass

    assert counted(masses, particles).get("sinh", 0) <= 2 * n
    assert ak.almost_equal(jax.jit(masses)(particles), masses(particles))


def test_nothing_is_computed_twice():
    def twice(x):
        one, _ = ak.unzip(ak.combinations(x, 2))
        return np.exp(one), np.exp(one) + 1

    numbers = counted(twice, X)
    assert numbers["exp"] <= 8  # elements, once


class TestMoved:
    def test_before_the_copying(self):
        def function(x):
            return moved(("sin",), jnp.sin, [copied(x, INDEX)])

        x = jnp.arange(3.0)
        assert counted(function, x)["sin"] == 3
        np.testing.assert_array_equal(function(x), np.sin(x)[INDEX])

    def test_copied_otherwise(self):
        """Elements that were copied in different ways have no place in common."""

        def function(x):
            return moved(("add",), jnp.add, [copied(x, INDEX), copied(x, INDEX[::-1].copy())])

        x = jnp.arange(3.0)
        assert counted(function, x)["add"] == 6
        np.testing.assert_array_equal(function(x), np.asarray(x)[INDEX] + np.asarray(x)[INDEX[::-1]])

    def test_scalars_take_part(self):
        x = jnp.arange(3.0)
        found = moved(("mul",), jnp.multiply, [copied(x, INDEX), 2.0])
        np.testing.assert_array_equal(found, 2 * np.asarray(x)[INDEX])
        assert origin_of(found) is not None

    def test_all_in_order_are_no_copy(self):
        def function(x):
            found = copied(x, np.arange(8))
            assert origin_of(found) is None or origin_of(found).source is not found
            return moved(("sin",), jnp.sin, [found])

        x = jnp.arange(8.0)
        for call in (function, jax.jit(function)):
            np.testing.assert_allclose(call(x), np.sin(x), rtol=1e-6)

    @pytest.mark.parametrize(("size", "few"), [(8, False), (23, False), (24, True), (100, True)])
    def test_few_of_many(self, size, few):
        """Of four times as many elements the source is not computed for their sake."""
        x = jnp.arange(float(size))
        found = copied(x, INDEX)
        np.testing.assert_array_equal(found, np.asarray(x)[INDEX])
        assert (origin_of(found) is None) == few


def test_programs_with_programs_inside():
    """Custom derivatives and conditions are computed where they are."""

    def function(x, y):
        square = jax.custom_jvp(lambda v: v * v)
        square.defjvps(lambda t, _, v: 2 * v * t)
        return [jnp.where(x > 1, square(x), jax.nn.relu(y)), jnp.cumsum(x)]

    x = jnp.array([0.0, 1.0, 2.0])
    buffers = [copied(x, INDEX), copied(2 * x, INDEX)]
    for one, other in zip(evaluate(function, buffers), function(*buffers), strict=True):
        np.testing.assert_allclose(one, other)


def test_forgotten_with_the_buffer():
    buffer = jnp.ones(3) + 1
    came_from(buffer, Origin(jnp.ones(1), np.zeros(3, int)))
    at = id(buffer)
    assert origin_of(buffer) is not None
    del buffer
    from akjax.algorithms import origins

    assert at not in origins._origins


@pytest.mark.parametrize("traced", [False, True])
def test_what_does_not_exist_has_no_gradient(traced):
    """Pairs at one place have an infinite derivative of their distance; here no such pair is left."""
    vector = pytest.importorskip("vector")
    vector.register_awkward()
    numbers = {"pt": [[30.0, 20.0, 10.0], [], [5.0, 5.0]], "eta": [[1.0, 1.0, 2.0], [], [0.5, 0.5]]}
    jets = ak.zip({**numbers, "phi": [[0.1, 0.1, 0.2], [], [0.0, 0.0]], "mass": 0.1}, with_name="Momentum4D")

    def nearest(scale, jets):
        moved = ak.with_field(jets, jets.eta * scale, "eta")
        one, two = ak.unzip(ak.combinations(moved, 2))
        apart = one.pt != two.pt + 10.0  # of the first list the first pair, which is at one place, is left out
        far = apart & (abs(one.eta - two.eta) > 0)
        return ak.sum(one[far].deltaR(two[far])) + ak.sum((one + two).mass[far])

    given = akjax.traced(jets) if traced else jets
    value, slope = jax.jit(jax.value_and_grad(nearest))(1.0, given)
    step = 1e-6
    expected = (float(nearest(1.0 + step, jets)) - float(nearest(1.0 - step, jets))) / (2 * step)
    assert np.isclose(value, float(nearest(1.0, jets)))
    assert np.isclose(slope, expected, rtol=1e-5)
    floating, rest = akjax.partition(given)
    gradient = jax.jit(jax.grad(lambda part: nearest(1.0, akjax.combine(part, rest))))(floating)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


EVENTS = ak.zip({
    "x": [[0.1, 0.2], [-999.0], [0.3, 0.4, 0.5, 0.6, 0.7], [0.1, np.nan, 0.2]],
    "y": [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0, 7.0, 8.0], [1.0, np.inf, 2.0]],
})  # fmt: skip


@pytest.mark.parametrize("given", [lambda events: events, akjax.traced], ids=["exact", "traced"])
@pytest.mark.parametrize("select", ["elements", "pairs", "nothing"])
def test_what_is_in_no_pair_has_no_derivative(given, select):
    """Numbers at which a derivative is infinite or NaN stand where no pair that exists comes from."""
    events = EVENTS if select != "nothing" else EVENTS[:3]

    def of_pairs(scale, events):
        if select == "elements":
            events = events[abs(events.x) < 5]
        one, two = ak.unzip(ak.combinations(events, 2))
        if select == "pairs":
            near = (abs(one.x) < 5) & (abs(two.x) < 5)
            one, two = one[near], two[near]
        return ak.sum(np.cosh(one.x * scale) * (two.y * scale) + np.exp(one.y) * 1e-6)

    with np.errstate(all="ignore"):
        differences = (of_pairs(1.0 + 1e-6, events) - of_pairs(1.0 - 1e-6, events)) / 2e-6
    floating, rest = akjax.partition(given(events))
    whole = jax.jit(jax.grad(lambda scale, part: of_pairs(scale, akjax.combine(part, rest)), argnums=(0, 1)))
    slope, each = whole(1.0, floating)
    each = akjax.like(each, given(events))
    assert np.isclose(slope, differences, rtol=1e-7)
    assert ak.all(np.isfinite(each.x))
    assert ak.all(np.isfinite(each.y))


def test_a_weak_scalar_beside_copied_elements():
    """A Python number widens nothing, also where it is kept from elements in no pair."""
    events = ak.values_astype(EVENTS[:3], np.float32)

    def scaled(scale, events):
        one, _ = ak.unzip(ak.combinations(events, 2))
        return one.x * scale

    assert ak.type(jax.jit(scaled)(2.0, events)) == ak.type(scaled(2.0, events))


def closest(x):
    """Few of many pairs, by an index that is known at run time."""
    one, two = ak.unzip(ak.combinations(x, 2))
    apart = np.sqrt(one**2 + two**2) + np.sin(one) * two
    return ak.drop_none(apart[ak.argmin(abs(one * two - 9.0), axis=1, keepdims=True)])


@pytest.mark.parametrize("make", [lambda x: x, akjax.traced], ids=["exact", "traced"])
def test_few_of_many_are_computed_from_few(make):
    many = ak.unflatten(np.random.default_rng(1).normal(3.0, 1.0, 400), np.full(20, 20))
    assert ak.almost_equal(jax.jit(closest)(make(many)), closest(many))
    program = jax.jit(closest).lower(make(many)).compile().as_text()
    assert not re.search(r"\[(3800|[4-9]\d\d\d)\]\S* (sine|sqrt)\(", program)


def test_the_gradient_of_few_of_many():
    rng = np.random.default_rng(2)
    many = ak.unflatten(rng.normal(3.0, 1.0, 60), np.full(6, 10))
    check_grads(lambda leaf: ak.sum(closest(many + leaf)), (np.float32(0.1),), order=1, rtol=0.05)


def test_what_two_places_share_is_computed_once():
    def triples(x):
        one, two, three = ak.unzip(ak.combinations(x, 3))
        return ak.sum(np.sqrt(one) * np.sqrt(two) + np.sqrt(three))

    assert counted(triples, X)["sqrt"] == int(ak.count(X))


def test_values_keep_nothing_alive():
    """Outside of a program: a result does not hold what it was computed from."""
    source = jnp.arange(3.0)
    one, two = copied(source, np.array([0, 1, 2, 0])), copied(source, np.array([1, 2, 0, 1]))
    result = moved((np.add,), jnp.add, [one, two])
    gone = weakref.ref(source)
    del source, one, two
    gc.collect()
    assert gone() is None
    assert result.tolist() == [1.0, 3.0, 2.0, 1.0]


def test_equal_combinations_of_fewer_and_more_elements():
    """Their indices are one object, and which elements they reach is not."""
    fewer, more = ak.Array([[0.5, 2.0]]), ak.Array([[0.5, 2.0], [0.0]])

    def total(x):
        one, two = ak.unzip(ak.combinations(x, 2))
        return ak.sum(np.sqrt(one) * np.sqrt(two))

    slopes = jax.jit(jax.grad(lambda pair: total(pair[0]) + total(pair[1])))((fewer, more))
    np.testing.assert_allclose(ak.flatten(slopes[1]), [*ak.flatten(slopes[0]), 0.0])


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (1, 3), (3, 1)])
def test_sources_of_different_sizes_are_not_combined(sizes):
    """Equal indices are one object, also those of buffers behind which there are more elements."""
    index = np.array([0, 0, 0])

    @jax.jit
    def difference(one, two):
        copies = [came_from(source[index], Origin(source, index)) for source in (one, two)]
        return moved((np.subtract, ""), jnp.subtract, copies)

    one, two = (jnp.arange(1.0, size + 1) * (k + 1) for k, size in enumerate(sizes))
    assert difference(one, two).tolist() == [-1.0, -1.0, -1.0]
