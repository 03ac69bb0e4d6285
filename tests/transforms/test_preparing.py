"""What a stream does with chunks before the function gets them."""

from __future__ import annotations

import awkward as ak
import jax
import numpy as np
import pytest
from oracle import plain, same

import akjax
from akjax.transforms import preparing
from akjax.transforms.stream import _Called

akjax.register()


def chunk(seed: int, rows: int = 60, jets_a_row: float = 3.0) -> ak.Array:
    rng = np.random.default_rng(seed)
    few, many = rng.poisson(1.0, rows), rng.poisson(jets_a_row, rows)
    hits = rng.poisson(2.0, many.sum())
    jets = ak.zip(
        {
            "pt": rng.exponential(30, many.sum()),
            "eta": rng.normal(size=many.sum()),
            "hits": ak.unflatten(rng.normal(size=hits.sum()), hits),
        },
        depth_limit=1,
    )
    some = ak.mask(rng.normal(size=rows), rng.random(rows) < 0.5)
    muons = ak.unflatten(rng.normal(size=few.sum()), few)
    events = {"met": rng.exponential(20, rows), "some": some, "mu": muons, "jets": ak.unflatten(jets, many)}
    return ak.zip({**events, "pair": ak.zip((rng.normal(size=rows), muons), depth_limit=1)}, depth_limit=1)


CHUNKS = [chunk(seed) for seed in range(5)]
ALL = ak.concatenate(CHUNKS)

FUNCTIONS = {
    "rows": lambda e: ak.sum(e.met),
    "lists": lambda e: ak.sum(e.jets.pt),
    "lengths only": lambda e: ak.sum(ak.num(e.jets) ** 2),
    "lists in lists": lambda e: ak.sum(ak.num(e.jets.hits, axis=2) * e.jets.eta),
    "missing": lambda e: ak.sum(ak.fill_none(e.some, 100.0)),
    "a tuple": lambda e: ak.sum(e.pair["1"]) + ak.sum(e.pair["0"]),
    "shared lists": lambda e: ak.sum(e.mu * e.pair["1"]),
    "two collections": lambda e: ak.count(ak.cartesian([e.mu, e.jets.pt])["0"]),
    "nothing": lambda e: 1.0,
    "elements counted": lambda e: ak.sum(np.histogram(ak.flatten(e.jets.hits, axis=None), bins=3, range=(-1, 1))[0]),
    "selected rows": lambda e: ak.sum(e[e.met > 20].jets.pt),
    "selected elements": lambda e: ak.sum(ak.num(e.jets[e.jets.pt > 20])),
    "longer lists": lambda e: ak.sum(ak.fill_none(ak.pad_none(e.mu, 2), 100.0)),
    "joined lists": lambda e: ak.sum(ak.concatenate([e.mu, e.jets.pt, e.pair["1"]], axis=1) > 0),
    "pairs": lambda e: ak.count(ak.combinations(e.jets.pt, 2)["0"]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_eagerly(name):
    function = FUNCTIONS[name]
    found = akjax.stream(function, CHUNKS)
    same(plain(found), plain(sum(function(one) for one in CHUNKS)), rtol=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_of_a_chunk_is_looked_at_once(name, monkeypatch):
    """Chunks that fit the first one's sizes take the short way, also where columns share their lists."""
    ways = []
    original = preparing._Columns.padded
    monkeypatch.setattr(preparing._Columns, "padded", lambda *args: ways.append(original(*args)) or ways[-1])
    akjax.stream(FUNCTIONS[name], CHUNKS, like=akjax.envelope(CHUNKS))
    assert len(ways) == len(CHUNKS) - 1
    assert all(way is not None for way in ways)


def test_parents_only_where_they_are_needed():
    """What is behind the lists of an array as it was padded is known by where the lists end."""

    def numbers_used(function):
        prepared = preparing.Prepared(lambda one: used.append(_Called(jax.jit(function), ())._used(one)) or used[-1])
        used = []
        prepared(CHUNKS[0])
        names = next(iter(prepared._targets.values())).spec.names()
        return {name for name, one in zip(names, used[0], strict=True) if one}

    assert numbers_used(lambda e: ak.sum(e.jets.pt)) == {"jets.pt", "jets<offsets>"}
    assert "jets<parents>" in numbers_used(lambda e: ak.sum(e[e.met > 20].jets.pt))
    assert numbers_used(lambda e: ak.sum(e.jets.hits)) == {"jets.hits", "jets.hits<offsets>"}


LOOPS = {
    "scan": lambda e: jax.lax.scan(lambda one, cut: (one[one.met > cut], ak.sum(one.met)), e, np.array([5.0, 9.0]))[1],
    "scan that changes nothing": lambda e: jax.lax.scan(lambda one, _: (one, ak.sum(one.mu)), e, None, length=2)[1],
    "cond": lambda e: ak.sum(jax.lax.cond(ak.sum(e.met) > 0, lambda one: one[one.met > 9], lambda one: one, e).mu),
    "jit": lambda e: ak.sum(jax.jit(lambda one: one[one.met > 9])(e).jets.pt),
    "grad": lambda e: jax.grad(lambda k: ak.sum((e.mu * k) ** 2))(1.0),
    "map": lambda e: ak.sum(jax.tree.map(lambda leaf: leaf, e).mu),
}
EAGER = {
    "scan": lambda e: np.array([ak.sum(e.met), ak.sum(e.met[e.met > 5])]),
    "scan that changes nothing": lambda e: np.array([ak.sum(e.mu)] * 2),
    "cond": lambda e: ak.sum(e[e.met > 9].mu),
    "jit": lambda e: ak.sum(e[e.met > 9].jets.pt),
    "grad": lambda e: 2 * ak.sum(e.mu**2),
    "map": lambda e: ak.sum(e.mu),
}


@pytest.mark.parametrize("name", LOOPS)
def test_structure_inside(name):
    """Inside the function a chunk has the structure of what is selected from it."""
    found = akjax.stream(LOOPS[name], CHUNKS)
    same(plain(found), plain(sum(EAGER[name](one) for one in CHUNKS)), rtol=1e-9)


@pytest.mark.parametrize("of", ["jets", "mu", "some"])
def test_chunks_come_back(of):
    found = akjax.stream(lambda e: (e[of], e[e.met > 20][of]), CHUNKS)
    for one, expected in zip(found, (ALL[of], ALL[ALL.met > 20][of]), strict=True):
        assert one.type == expected.type
        assert one.to_list() == expected.to_list()


def test_sizes_of_what_is_not_used_do_not_matter():
    traces = []

    def function(events):
        traces.append(1)
        return ak.sum(events.mu)

    longer = chunk(1, jets_a_row=20.0)
    sizes = akjax.envelope(
        {
            "jets": ak.num(CHUNKS[0].jets),
            "jets[].hits": ak.num(ak.flatten(CHUNKS[0].jets).hits),
            "mu": np.full(60, 6),
            "pair.1": np.full(60, 6),
        }
    )
    found = akjax.stream(function, [CHUNKS[0], longer], like=sizes)
    same(plain(found), float(ak.sum(CHUNKS[0].mu) + ak.sum(longer.mu)), rtol=1e-9)
    assert len(traces) == 1


def test_lists_that_line_up_in_one_chunk_only():
    """Another structure: traced for itself, and not taken for that of the first chunk."""
    rng = np.random.default_rng(3)

    def columns(one, two):
        sizes = [ak.unflatten(rng.normal(size=sum(counts)), counts) for counts in (one, two)]
        return ak.zip(dict(zip("ab", sizes, strict=True)), depth_limit=1)

    alike, other = columns([2, 0, 1], [2, 0, 1]), columns([1, 1, 1], [2, 0, 1])
    found = akjax.stream(lambda e: ak.sum(ak.sum(e.a, axis=1) * ak.sum(e.b, axis=1)), [alike, other, alike])
    expected = sum(float(ak.sum(ak.sum(e.a, axis=1) * ak.sum(e.b, axis=1))) for e in (alike, other, alike))
    same(plain(found), expected, rtol=1e-9)
    with pytest.raises(akjax.StructureError, match="in different lists"):
        akjax.stream(lambda e: ak.sum(e.a * e.b), [alike, other])


@pytest.mark.parametrize(
    "changed",
    [
        ak.with_field(CHUNKS[1], ak.values_astype(CHUNKS[1].met, np.float32), "met"),
        ak.without_field(CHUNKS[1], "met"),
        ak.with_field(CHUNKS[1], ak.with_parameter(CHUNKS[1].met, "unit", "GeV"), "met"),
        ak.Array(CHUNKS[1], with_name="Event"),
        ak.Array(CHUNKS[1], attrs={"year": 2012}),
    ],
    ids=["dtype", "fields", "parameters", "name", "attrs"],
)
def test_a_chunk_of_another_form_is_looked_at(changed):
    """Also where the difference is in what the function of the first chunks did not use."""
    seen = []

    def function(events):
        seen.append((events.fields, str(ak.type(events.met)) if "met" in events.fields else "", dict(events.attrs)))
        return ak.sum(events.mu)

    found = akjax.stream(function, [CHUNKS[0], changed], like=akjax.envelope(CHUNKS))
    same(plain(found), float(ak.sum(CHUNKS[0].mu) + ak.sum(changed.mu)), rtol=1e-9)
    assert len(seen) == 2


def test_columns_that_are_not_used_are_not_read():
    """Of arrays that are read when they are looked at: all of the first chunk, of the others what is used."""
    read = []

    def virtual(number):
        array = ak.Array(CHUNKS[number].layout)[["met", "mu"]]
        form, length, buffers = ak.to_buffers(array)

        def reading(name):
            return lambda: read.append((number, name)) or buffers[name]

        return ak.from_buffers(form, length, {name: reading(name) for name in buffers})

    akjax.stream(
        lambda e: ak.sum(e.met),
        (virtual(number) for number in range(3)),
        like=akjax.envelope([one[["met", "mu"]] for one in CHUNKS]),
    )
    names = {number: {name for where, name in read if where == number} for number in range(3)}
    assert names[0] >= {"node1-data", "node3-data"}
    # the oldest Awkward reads offsets to know how many lists there are
    assert names[1] - {"node2-offsets"} == names[2] - {"node2-offsets"} == {"node1-data"}


def test_a_function_of_which_jax_knows_nothing():
    """Compiled by something else than `jax.jit`: everything is made for it."""

    class Compiled:
        lower = None

        def __call__(self, events):
            return jax.jit(lambda e: ak.sum(e.mu))(events)

    same(plain(akjax.stream(Compiled(), CHUNKS)), float(ak.sum(ALL.mu)), rtol=1e-9)


def test_values_of_a_trace_outside():
    """A function that closes over them has more inputs than it is given."""

    def total(k, column):
        return akjax.stream(lambda e: ak.sum(e[column]) * k, CHUNKS)

    for column in ("met", "mu"):
        expected = float(ak.sum(ALL[column]))
        same(plain(jax.grad(total)(2.0, column)), expected, rtol=1e-9)
        same(plain(jax.vmap(lambda k, column=column: total(k, column))(np.ones(2))), [expected] * 2, rtol=1e-9)
        same(plain(jax.jit(total, static_argnums=1)(2.0, column)), 2 * expected, rtol=1e-9)


def test_missing_lists_of_missing_numbers():
    """Both masks are of one field, at two depths."""
    inside = ak.to_regular(ak.Array([[0.0, 1.0], [2.0, 3.0], [None, 5.0]]))
    array = ak.mask(inside, [True, False, True])
    found = akjax.stream(lambda e: e, [array, array, array])
    assert found.to_list() == 3 * [[0.0, 1.0], None, [None, 5.0]]
