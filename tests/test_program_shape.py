"""What programs consist of, so that one that gathers, scatters or sorts more than it did shows without a clock."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest
from programs import Shape, shape_of

import akjax

akjax.register()

RNG = np.random.default_rng(0)


def lists(mean: float, *fields: str) -> ak.Array:
    counts = RNG.poisson(mean, 200)
    numbers = {field: ak.unflatten(RNG.gamma(2.0, 20.0, counts.sum()).astype(np.float32), counts) for field in fields}
    return ak.zip(numbers)


EVENTS = ak.zip(
    {
        "met": RNG.gamma(2.0, 20.0, 200).astype(np.float32),
        "jets": lists(4.0, "x", "y", "z", "e"),
        "muons": lists(1.5, "x", "y", "z", "e"),
    },
    depth_limit=1,
)
TRACED = akjax.traced(EVENTS)


def mass(*members: ak.Array) -> ak.Array:
    x, y, z, e = (sum(member[field] for member in members) for field in ("x", "y", "z", "e"))
    return np.sqrt(np.maximum(e**2 - x**2 - y**2 - z**2, 0.0))


def sums(events: ak.Array) -> Any:
    return ak.sum(events.jets.x, axis=1)


def cut(events: ak.Array) -> Any:
    return ak.sum(events.jets.x[events.jets.x > 30.0], axis=1)


def twice(events: ak.Array) -> Any:
    """The same cut written twice is one."""
    return ak.sum(events.jets[events.jets.x > 30.0].x * events.jets[events.jets.x > 30.0].y, axis=1)


def rows(events: ak.Array) -> Any:
    return events.met[ak.num(events.jets[events.jets.x > 30.0]) >= 2]


def spread(events: ak.Array) -> Any:
    return events.jets.x * events.met + events.jets.y * events.met


def pairs(events: ak.Array) -> Any:
    one, two = ak.unzip(ak.combinations(events.muons, 2))
    return ak.any(mass(one, two) > 60.0, axis=1)


def computed_pairs(events: ak.Array) -> Any:
    """Work on elements that are copied into pairs is done before."""
    one, two = ak.unzip(ak.combinations(events.jets, 2))
    return ak.sum(np.cos(one.x) * np.cos(two.x), axis=1)


def closest(events: ak.Array) -> Any:
    three = ak.combinations(events.jets, 3, fields=["a", "b", "c"])
    best = ak.argmin(abs(mass(three.a, three.b, three.c) - 100.0), axis=1, keepdims=True)
    return ak.flatten(three.a.x[best])


def far(events: ak.Array) -> Any:
    jet, muon = ak.unzip(ak.cartesian([events.jets, events.muons], nested=True))
    return ak.sum(events.jets.x[ak.all(abs(jet.x - muon.x) > 5.0, axis=2)], axis=1)


def clean(events: ak.Array) -> Any:
    """What is selected of what was selected stands where it stood."""
    good = events.jets[events.jets.x > 30.0]
    jet, muon = ak.unzip(ak.cartesian([good, events.muons[events.muons.y > 10.0]], nested=True))
    return ak.sum(good[~ak.any(abs(jet.x - muon.x) < 5.0, axis=2)].x, axis=1)


def leading(events: ak.Array) -> Any:
    return ak.firsts(events.jets[ak.argmax(events.jets.x, axis=1, keepdims=True)]).y


def sorted_two(events: ak.Array) -> Any:
    return ak.sort(events.jets.x, axis=1, ascending=False)[:, :2]


def histogram(events: ak.Array) -> Any:
    return np.histogram(ak.flatten(events.jets.x), bins=20, range=(0.0, 100.0))[0]


def gradient(events: ak.Array) -> Any:
    def soft(cut: Any) -> Any:
        return ak.sum(ak.sum(events.jets.x / (1.0 + np.exp(cut - events.jets.x)), axis=1))

    return jax.grad(soft)(30.0)


SELECTIONS: dict[str, Callable[[ak.Array], Any]] = {
    f.__name__: f
    for f in (
        *(sums, cut, twice, rows, spread, pairs, computed_pairs),
        *(closest, far, clean, leading, sorted_two, histogram, gradient),
    )
}
# --- the tests


# the most of each that is allowed, for the array as it is and for `akjax.traced`: gathers, scatters, sorts, and the
# bytes of constants. Lower the numbers when a program becomes smaller; the oldest JAX needs a few gathers more
ALLOWED: dict[str, tuple[Shape, Shape]] = {
    "sums": (Shape(0, 1, 0, 3184), Shape(0, 1, 0, 0)),
    "cut": (Shape(0, 1, 0, 3184), Shape(1, 1, 0, 0)),
    "twice": (Shape(0, 1, 0, 3184), Shape(1, 1, 0, 0)),
    "rows": (Shape(0, 1, 0, 3184), Shape(1, 1, 0, 0)),
    "spread": (Shape(1, 0, 0, 3184), Shape(3, 0, 0, 0)),
    "pairs": (Shape(8, 1, 0, 2460), Shape(13, 2, 0, 56)),
    "computed_pairs": (Shape(2, 1, 0, 19696), Shape(7, 4, 0, 132)),
    "closest": (Shape(20, 2, 0, 40188), Shape(22, 3, 0, 440)),
    "far": (Shape(2, 2, 0, 11968), Shape(9, 3, 0, 0)),
    "clean": (Shape(4, 2, 0, 16360), Shape(12, 3, 0, 0)),
    "leading": (Shape(7, 2, 0, 11324), Shape(4, 2, 0, 0)),
    "sorted_two": (Shape(3, 1, 0, 8664), Shape(4, 1, 0, 0)),
    "histogram": (Shape(0, 1, 0, 0), Shape(1, 1, 0, 0)),
    "gradient": (Shape(1, 0, 0, 3184), Shape(2, 1, 0, 0)),
}


@pytest.mark.parametrize("which", [0, 1], ids=["exact", "traced"])
@pytest.mark.parametrize("name", SELECTIONS)
def test_shape(name: str, which: int) -> None:
    found = shape_of(SELECTIONS[name], (EVENTS, TRACED)[which])
    allowed = ALLOWED[name][which]
    over = {field: (is_, most) for field, is_, most in zip(Shape._fields, found, allowed, strict=True) if is_ > most}
    assert not over, f"{name} has more than allowed: {over}"


def test_what_nothing_needs_is_not_counted() -> None:
    def program(x: jax.Array) -> jax.Array:
        (x[np.array([0, 1])] * np.arange(2.0)).sum()
        return x + 1.0

    assert shape_of(program, np.ones(3, np.float32)) == Shape(0, 0, 0, 0)


def test_everything_is_counted() -> None:
    def program(x: jax.Array) -> jax.Array:
        return jax.jit(lambda x: jax.lax.sort(x.at[np.array([0, 0])].add(1.0)[np.array([1, 2])]))(x)

    found = shape_of(program, np.ones(3, np.float32))
    assert found[:3] == Shape(1, 1, 1, 0)[:3]
    assert found.constants > 0


# ------------------------------------------------------------------------------- what XLA makes of it, on the CPU


def compiled(f: Callable[..., Any], *args: Any) -> str:
    text: str = jax.jit(f).lower(*args).compile().as_text()
    return text


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="about the compiler for the CPU")
@pytest.mark.parametrize("events", [EVENTS, TRACED], ids=["exact", "traced"])
def test_functions_of_elements_are_not_computed_for_every_copy(events: ak.Array) -> None:
    program = compiled(computed_pairs, events)
    pairs = int(ak.sum(ak.num(ak.combinations(EVENTS.jets, 2))))
    many = [int(number) for number in re.findall(r"= f32\[(\d+)[,\]][^=]* cosine\(", program)]
    assert many
    # more than there are jets by what `akjax.traced` pads, and far less than there are pairs
    assert max(many) < 1000 < pairs
    # a cosine is not asked for by a gather inside what is computed together, which would compute it for each copy
    for computation in re.split(r"\n}\n", program):
        cosines = set(re.findall(r"(%\S+) = \S+ cosine\(", computation))
        asked = set(re.findall(r" gather\((%[^,]+),", computation))
        assert not cosines & asked


def test_an_index_of_combinations_is_held_once() -> None:
    """Of a constant in two shapes XLA keeps both, and compiling takes time in proportion to constants."""
    triples = int(ak.sum(ak.num(ak.combinations(EVENTS.jets.x, 3))))
    constants = re.findall(rf"= s32\[({triples}(?:,1)?)\]\S* constant\(", compiled(closest, EVENTS))
    # one for each place, and one for the list that a triple is in
    assert constants == [f"{triples},1"] * 4
