"""Selections as people chain them, compiled, against eager Awkward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest
import vector
from oracle import check

vector.register_awkward()

X64 = bool(jax.config.jax_enable_x64)


def collection(rng: np.random.Generator, counts: np.ndarray, **columns: Any) -> ak.Array:
    size = int(counts.sum())
    made = {
        "pt": rng.exponential(30.0, size) + 5,
        "eta": rng.normal(0.0, 1.5, size),
        "phi": rng.uniform(-3.1, 3.1, size),
        "mass": np.full(size, 0.1),
        "charge": rng.choice(np.array([-1, 1]), size),
        "merit": rng.random(size),
        **columns,
    }
    return ak.unflatten(ak.zip(made, with_name="Momentum4D"), counts)


def make_events(rows: int = 40) -> ak.Array:
    rng = np.random.default_rng(7)
    fields = {name: collection(rng, rng.poisson(mean, rows)) for name, mean in (("jet", 3), ("mu", 1.5), ("el", 1.2))}
    met = ak.zip({"pt": rng.exponential(40.0, rows), "phi": rng.uniform(-3.1, 3.1, rows)}, with_name="Momentum2D")
    return ak.zip({**fields, "met": met, "weight": rng.random(rows)}, depth_limit=1)


EVENTS = make_events()


def leading_jet(e: ak.Array) -> Any:
    good = e.jet[(e.jet.pt > 20) & (abs(e.jet.eta) < 2.4)]
    return ak.firsts(good[ak.argmax(good.pt, axis=1, keepdims=True)])[["pt", "charge"]]


def two_best_and_the_rest(e: ak.Array) -> Any:
    good = e.jet[e.jet.pt > 15]
    order = ak.argsort(good.merit, axis=1, ascending=False)
    best = good[order][:, :2]
    place = ak.local_index(good)
    ranked = good[order]
    return best.merit, ranked[:, 2:].merit, ak.num(ranked[ak.local_index(ranked) >= 2]), place


def overlap_removal(e: ak.Array) -> Any:
    jets = e.jet[e.jet.pt > 20]
    leptons = ak.concatenate([e.mu, e.el], axis=1)
    leptons = leptons[leptons.pt > 10]
    jet, lepton = ak.unzip(ak.cartesian([jets, leptons], nested=True))
    return jets[ak.all(jet.deltaR(lepton) >= 0.8, axis=2)].pt


def opposite_charge_same_flavour(e: ak.Array) -> Any:
    leptons = ak.concatenate([ak.with_field(e.mu, 13, "flavour"), ak.with_field(e.el, 11, "flavour")], axis=1)
    leptons = leptons[leptons.pt > 10]
    pairs = ak.combinations(leptons, 2, fields=["a", "b"])
    pairs = pairs[(pairs.a.charge != pairs.b.charge) & (pairs.a.flavour == pairs.b.flavour)]
    return (pairs.a + pairs.b).mass, pairs.a.flavour


def mass_closest_to_a_value(e: ak.Array) -> Any:
    pairs = ak.combinations(e.jet[e.jet.pt > 15], 2, fields=["a", "b"])
    mass = (pairs.a + pairs.b).mass
    best = ak.argmin(abs(mass - 91.2), axis=1, keepdims=True)
    return ak.flatten(mass[best]), ak.firsts(pairs[best]).a.pt


def argcombinations_as_an_index(e: ak.Array) -> Any:
    leptons = e.mu[e.mu.pt > 10]
    pairs = ak.argcombinations(leptons, 2, fields=["i", "j"])
    return leptons[pairs.i].charge * leptons[pairs.j].charge, leptons[ak.num(pairs) > 0][
        pairs[ak.num(pairs) > 0].i[:, :1]
    ].pt


def objects_and_events_in_turns(e: ak.Array) -> Any:
    e = e[ak.num(e.jet) >= 2]
    jets = e.jet[e.jet.pt > 25]
    e, jets = e[ak.num(jets) >= 1], jets[ak.num(jets) >= 1]
    jets = jets[abs(jets.eta) < 2]
    enough = ak.num(jets) >= 1
    return e[enough].weight * ak.sum(jets[enough].pt, axis=1), ak.num(jets, axis=0)


def sorted_by_one_field(e: ak.Array) -> Any:
    good = e.jet[e.jet.pt > 20]
    by_eta = good[ak.argsort(good.eta, axis=1)]
    return ak.sort(good.pt, axis=1, ascending=False), by_eta[["eta", "charge"]]


def unflattened(e: ak.Array) -> Any:
    good = e.jet[e.jet.pt > 20]
    flat = ak.flatten(good.pt) * 2
    return ak.unflatten(flat, ak.num(good))


def variations(e: ak.Array) -> Any:
    several = []
    for scale in (0.9, 1.0, 1.1):
        jets = e.jet[e.jet.pt * scale > 30]
        several.append((ak.sum(jets.pt * scale, axis=1) * e.weight)[np.newaxis])
    return ak.concatenate(several, axis=0)


def weighted_histogram(e: ak.Array) -> Any:
    good = e.jet[e.jet.pt > 20]
    kept = ak.num(good) > 1
    weights = ak.flatten(ak.broadcast_arrays(e.weight[kept], good[kept].pt)[0])
    return np.histogram(ak.flatten(good[kept].pt), 5, (0, 100), weights=weights)[0]


def padded_table(e: ak.Array) -> Any:
    good = e.jet[e.jet.pt > 20]
    return ak.fill_none(ak.pad_none(good.pt, 3, clip=True), 0.0), ak.pad_none(good.charge, 2)


CHAINS: list[Callable[[ak.Array], Any]] = [
    leading_jet,
    two_best_and_the_rest,
    overlap_removal,
    opposite_charge_same_flavour,
    mass_closest_to_a_value,
    argcombinations_as_an_index,
    objects_and_events_in_turns,
    sorted_by_one_field,
    unflattened,
    variations,
    weighted_histogram,
    padded_table,
]


@pytest.mark.parametrize("chain", CHAINS)
def test_as_eager(chain: Callable[[ak.Array], Any]) -> None:
    check(chain, EVENTS, types=X64 and chain is not weighted_histogram, rtol=1e-9 if X64 else 1e-4)
