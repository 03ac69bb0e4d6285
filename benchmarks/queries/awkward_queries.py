"""The queries as users write them: Awkward Array, vector and `np.histogram`, nothing of JAX or akjax.

Every function takes events and gives one tuple of counts, one for each of its histograms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import awkward as ak
import numpy as np
import vector

__all__ = ["BINS", "QUERIES", "soft_ht"]

vector.register_awkward()

BINS: dict[str, tuple[tuple[int, float, float], ...]] = {
    "q1": ((100, 0.0, 200.0),),
    "q2": ((100, 0.0, 200.0),),
    "q3": ((100, 0.0, 200.0),),
    "q4": ((100, 0.0, 200.0),),
    "q5": ((100, 0.0, 200.0),),
    "q6": ((100, 0.0, 400.0), (50, 0.0, 1.0)),
    "q7": ((100, 0.0, 400.0),),
    "q8": ((100, 0.0, 200.0),),
}
"""Number of bins, first and last edge of every histogram. Values outside are not counted."""


def _counts(query: str, *values: Any) -> tuple[Any, ...]:
    return tuple(
        np.histogram(entries, bins=bins, range=(low, high))[0]
        for entries, (bins, low, high) in zip(values, BINS[query], strict=True)
    )


def met(events: ak.Array) -> Any:
    """1. MET of all events."""
    return _counts("q1", events.MET.pt)


def jets(events: ak.Array) -> Any:
    """2. pt of all jets."""
    return _counts("q2", ak.flatten(events.Jet.pt))


def central_jets(events: ak.Array) -> Any:
    """3. pt of jets with |eta| < 1."""
    central = events.Jet[abs(events.Jet.eta) < 1]
    return _counts("q3", ak.flatten(central.pt))


def met_of_two_jets(events: ak.Array) -> Any:
    """4. MET of events with at least two jets of pt > 40."""
    hard = events.Jet[events.Jet.pt > 40]
    return _counts("q4", events[ak.num(hard) >= 2].MET.pt)


def met_of_dimuons(events: ak.Array) -> Any:
    """5. MET of events with two muons of opposite charge and a mass between 60 and 120."""
    pairs = ak.combinations(events.Muon, 2, fields=["one", "two"])
    pairs = pairs[pairs.one.charge != pairs.two.charge]
    mass = (pairs.one + pairs.two).mass
    return _counts("q5", events.MET.pt[ak.any((mass > 60) & (mass < 120), axis=1)])


def top_candidates(events: ak.Array) -> Any:
    """6. pt, and highest b-tag among the jets, of the three jets with a mass closest to 172.5."""
    three = ak.combinations(events.Jet, 3, fields=["a", "b", "c"])
    total = three.a + three.b + three.c
    closest = ak.argmin(abs(total.mass - 172.5), axis=1, keepdims=True)
    btag = np.maximum(np.maximum(three.a.btag, three.b.btag), three.c.btag)
    pt, btag = ak.drop_none(total[closest].pt), ak.drop_none(btag[closest])
    return _counts("q6", ak.flatten(pt), ak.flatten(btag))


def ht_of_clean_jets(events: ak.Array) -> Any:
    """7. Sum of pt of the jets above 30 that no lepton above 10 is nearer to than 0.4."""
    good = events.Jet[events.Jet.pt > 30]
    leptons = ak.concatenate([events.Muon, events.Electron], axis=1)
    leptons = leptons[leptons.pt > 10]
    jet, lepton = ak.unzip(ak.cartesian([good, leptons], nested=True))
    clean = good[~ak.any(jet.deltaR(lepton) < 0.4, axis=2)]
    return _counts("q7", ak.sum(clean.pt, axis=1))


def mt_of_third_lepton(events: ak.Array) -> Any:
    """8. Transverse mass of MET and the hardest lepton beside the pair that is closest to a Z."""
    muons = ak.with_field(events.Muon, 13, "flavour")
    electrons = ak.with_field(events.Electron, 11, "flavour")
    leptons = ak.concatenate([muons, electrons], axis=1)
    leptons = ak.with_field(leptons, ak.local_index(leptons), "at")
    three = ak.num(leptons) >= 3
    leptons, missing = leptons[three], events.MET[three]

    pairs = ak.combinations(leptons, 2, fields=["one", "two"])
    same_flavour = pairs.one.flavour == pairs.two.flavour
    pairs = pairs[same_flavour & (pairs.one.charge != pairs.two.charge)]
    closest = ak.argmin(abs((pairs.one + pairs.two).mass - 91.2), axis=1, keepdims=True)
    z = ak.firsts(pairs[closest])

    found = ~ak.is_none(z)
    leptons, missing, z = leptons[found], missing[found], z[found]
    others = leptons[(leptons.at != z.one.at) & (leptons.at != z.two.at)]
    third = ak.firsts(others[ak.argmax(others.pt, axis=1, keepdims=True)])
    mt = np.sqrt(2 * third.pt * missing.pt * (1 - np.cos(third.phi - missing.phi)))
    return _counts("q8", ak.drop_none(mt))


QUERIES: dict[str, Callable[[ak.Array], Any]] = {
    "q1": met,
    "q2": jets,
    "q3": central_jets,
    "q4": met_of_two_jets,
    "q5": met_of_dimuons,
    "q6": top_candidates,
    "q7": ht_of_clean_jets,
    "q8": mt_of_third_lepton,
}


def soft_ht(cuts: Mapping[str, Any], events: ak.Array) -> Any:
    """The sum of HT in events with much of it, both cuts soft: something with a slope in both of them."""
    pt = events.Jet.pt
    ht = ak.sum(pt / (1 + np.exp((cuts["pt"] - pt) / 5)), axis=1)
    return ak.sum(ht / (1 + np.exp((cuts["ht"] - ht) / 20)))
