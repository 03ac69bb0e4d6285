"""The queries as loops over buffers, compiled by Numba for one thread.

Written to be fast: momenta of an event are computed once, before pairs and triples of it are looked at. Numbers
between are float64, where the arrays' are float32.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, cosh, exp, pi, sin, sinh, sqrt
from typing import Any

import awkward as ak
import numba
import numpy as np

from .awkward_queries import BINS

__all__ = ["LOOPS", "buffers", "soft_ht_loop"]

compiled = numba.njit(nogil=True)
_MOST = 64
"""The most particles of an event these loops have room for."""


def buffers(events: ak.Array) -> dict[str, Any]:
    """The buffers of events by name: `Jet` are offsets, `Jet_pt` numbers."""
    found: dict[str, Any] = {f"MET_{field}": ak.to_numpy(events.MET[field]) for field in events.MET.fields}
    for name in ("Muon", "Electron", "Jet"):
        counts = ak.to_numpy(ak.num(events[name]))
        if counts.size and counts.max() > _MOST:
            message = f"an event has {counts.max()} of {name}, more than the {_MOST} the loops are made for"
            raise ValueError(message)
        found[name] = np.concatenate([[0], np.cumsum(counts)])
        for field in events[name].fields:
            found[f"{name}_{field}"] = ak.to_numpy(ak.flatten(events[name][field]))
    return found


@compiled
def _fill(counts, x, bins, low, high):  # type: ignore[no-untyped-def]
    if low <= x < high:
        counts[int((x - low) * (bins / (high - low)))] += 1
    elif x == high:
        counts[bins - 1] += 1


@compiled
def _q1(bins, met):  # type: ignore[no-untyped-def]
    n, low, high = bins[0]
    counts = np.zeros(n, np.int64)
    for x in met:
        _fill(counts, x, n, low, high)
    return (counts,)


@compiled
def _q3(bins, pt, eta):  # type: ignore[no-untyped-def]
    n, low, high = bins[0]
    counts = np.zeros(n, np.int64)
    for k in range(pt.size):
        if abs(eta[k]) < 1:
            _fill(counts, pt[k], n, low, high)
    return (counts,)


@compiled
def _q4(bins, met, offsets, pt):  # type: ignore[no-untyped-def]
    n, low, high = bins[0]
    counts = np.zeros(n, np.int64)
    for event in range(met.size):
        hard = 0
        for k in range(offsets[event], offsets[event + 1]):
            hard += pt[k] > 40
        if hard >= 2:
            _fill(counts, met[event], n, low, high)
    return (counts,)


@compiled
def _momenta(p, first, start, stop, pt, eta, phi, mass):  # type: ignore[no-untyped-def]
    """Fill columns of `p` (4, most), from column `first`, with px, py, pz and E."""
    for k in range(start, stop):
        at = first + k - start
        p[0, at] = pt[k] * cos(phi[k])
        p[1, at] = pt[k] * sin(phi[k])
        p[2, at] = pt[k] * sinh(eta[k])
        p[3, at] = sqrt((pt[k] * cosh(eta[k])) ** 2 + mass[k] ** 2)


@compiled
def _mass_of_two(p, i, j):  # type: ignore[no-untyped-def]
    x, y, z, e = p[0, i] + p[0, j], p[1, i] + p[1, j], p[2, i] + p[2, j], p[3, i] + p[3, j]
    return sqrt(max(e * e - x * x - y * y - z * z, 0.0))


@compiled
def _q5(bins, met, offsets, pt, eta, phi, mass, charge):  # type: ignore[no-untyped-def]
    n, low, high = bins[0]
    counts = np.zeros(n, np.int64)
    p = np.empty((4, _MOST))
    for event in range(met.size):
        start, stop = offsets[event], offsets[event + 1]
        if stop - start < 2:
            continue
        _momenta(p, 0, start, stop, pt, eta, phi, mass)
        found = False
        for i in range(stop - start):
            for j in range(i + 1, stop - start):
                if charge[start + i] != charge[start + j] and 60 < _mass_of_two(p, i, j) < 120:
                    found = True
        if found:
            _fill(counts, met[event], n, low, high)
    return (counts,)


@compiled
def _best_three(p, many):  # type: ignore[no-untyped-def]
    best, one, two, three = np.inf, 0, 0, 0
    for i in range(many):
        for j in range(i + 1, many):
            x, y, z, e = p[0, i] + p[0, j], p[1, i] + p[1, j], p[2, i] + p[2, j], p[3, i] + p[3, j]
            for k in range(j + 1, many):
                squared = (e + p[3, k]) ** 2 - (x + p[0, k]) ** 2 - (y + p[1, k]) ** 2 - (z + p[2, k]) ** 2
                away = abs(sqrt(max(squared, 0.0)) - 172.5)
                if away < best:
                    best, one, two, three = away, i, j, k
    return one, two, three


@compiled
def _q6(bins, offsets, pt, eta, phi, mass, btag):  # type: ignore[no-untyped-def]
    (n, low, high), (n_btag, low_btag, high_btag) = bins
    counts, counts_btag = np.zeros(n, np.int64), np.zeros(n_btag, np.int64)
    p = np.empty((4, _MOST))
    for event in range(offsets.size - 1):
        start, stop = offsets[event], offsets[event + 1]
        if stop - start < 3:
            continue
        _momenta(p, 0, start, stop, pt, eta, phi, mass)
        i, j, k = _best_three(p, stop - start)
        x, y = p[0, i] + p[0, j] + p[0, k], p[1, i] + p[1, j] + p[1, k]
        _fill(counts, sqrt(x * x + y * y), n, low, high)
        best_btag = max(btag[start + i], btag[start + j], btag[start + k])
        _fill(counts_btag, best_btag, n_btag, low_btag, high_btag)
    return (counts, counts_btag)


@compiled
def _near(eta, phi, offsets, event, pts, etas, phis):  # type: ignore[no-untyped-def]
    for k in range(offsets[event], offsets[event + 1]):
        if pts[k] > 10:
            apart = abs(phi - phis[k])
            if apart > pi:
                apart = 2 * pi - apart
            if (eta - etas[k]) ** 2 + apart**2 < 0.4**2:
                return True
    return False


@compiled
def _q7(bins, jets, jet_pt, jet_eta, jet_phi, muons, pt, eta, phi, electrons, e_pt, e_eta, e_phi):  # type: ignore[no-untyped-def]
    n, low, high = bins[0]
    counts = np.zeros(n, np.int64)
    for event in range(jets.size - 1):
        ht = 0.0
        for k in range(jets[event], jets[event + 1]):
            if (
                jet_pt[k] > 30
                and not _near(jet_eta[k], jet_phi[k], muons, event, pt, eta, phi)
                and not _near(jet_eta[k], jet_phi[k], electrons, event, e_pt, e_eta, e_phi)
            ):
                ht += jet_pt[k]
        _fill(counts, ht, n, low, high)
    return (counts,)


@compiled
def _q8(  # type: ignore[no-untyped-def]
    bins, met, met_phi, muons, pt, eta, phi, mass, charge, electrons, e_pt, e_eta, e_phi, e_mass, e_charge
):
    n, low, high = bins[0]
    counts = np.zeros(n, np.int64)
    p = np.empty((4, 2 * _MOST))
    for event in range(met.size):
        start, stop, e_start, e_stop = muons[event], muons[event + 1], electrons[event], electrons[event + 1]
        split, many = stop - start, stop - start + e_stop - e_start
        if many < 3:
            continue
        _momenta(p, 0, start, stop, pt, eta, phi, mass)
        _momenta(p, split, e_start, e_stop, e_pt, e_eta, e_phi, e_mass)
        best, one, two = np.inf, -1, -1
        for i in range(many):
            for j in range(i + 1, split if i < split else many):
                if i < split:
                    opposite = charge[start + i] != charge[start + j]
                else:
                    opposite = e_charge[e_start + i - split] != e_charge[e_start + j - split]
                if opposite:
                    away = abs(_mass_of_two(p, i, j) - 91.2)
                    if away < best:
                        best, one, two = away, i, j
        if one < 0:
            continue
        lead, lead_phi = -1.0, 0.0
        for k in range(many):
            if k not in (one, two):
                this = pt[start + k] if k < split else e_pt[e_start + k - split]
                if this > lead:
                    lead = this
                    lead_phi = phi[start + k] if k < split else e_phi[e_start + k - split]
        _fill(counts, sqrt(2 * lead * met[event] * (1 - cos(lead_phi - met_phi[event]))), n, low, high)
    return (counts,)


@compiled
def _soft_ht(cut_pt, cut_ht, offsets, pt):  # type: ignore[no-untyped-def]
    total = 0.0
    for event in range(offsets.size - 1):
        ht = 0.0
        for k in range(offsets[event], offsets[event + 1]):
            ht += pt[k] / (1 + exp((cut_pt - pt[k]) / 5))
        total += ht / (1 + exp((cut_ht - ht) / 20))
    return total


_MOMENTUM = ("pt", "eta", "phi", "mass")
_ARGUMENTS: dict[str, tuple[Any, list[str]]] = {
    "q1": (_q1, ["MET_pt"]),
    "q2": (_q1, ["Jet_pt"]),
    "q3": (_q3, ["Jet_pt", "Jet_eta"]),
    "q4": (_q4, ["MET_pt", "Jet", "Jet_pt"]),
    "q5": (_q5, ["MET_pt", "Muon", *(f"Muon_{field}" for field in (*_MOMENTUM, "charge"))]),
    "q6": (_q6, ["Jet", *(f"Jet_{field}" for field in (*_MOMENTUM, "btag"))]),
    "q7": (
        _q7,
        [f"{name}{field}" for name in ("Jet", "Muon", "Electron") for field in ("", "_pt", "_eta", "_phi")],
    ),
    "q8": (
        _q8,
        [
            *("MET_pt", "MET_phi"),
            *(
                f"{n}{f}"
                for n in ("Muon", "Electron")
                for f in ("", *(f"_{field}" for field in (*_MOMENTUM, "charge")))
            ),
        ],
    ),
}


def _loop(query: str) -> Callable[[dict[str, Any]], Any]:
    loop, names = _ARGUMENTS[query]
    bins = BINS[query]
    return lambda found: loop(bins, *(found[name] for name in names))


LOOPS: dict[str, Callable[[dict[str, Any]], Any]] = {query: _loop(query) for query in _ARGUMENTS}
"""The loops by query; each takes what `buffers` gives and gives the counts of its histograms."""


def soft_ht_loop(cuts: dict[str, float], found: dict[str, Any]) -> float:
    """The value of `soft_ht`; Numba has no derivatives."""
    value: float = _soft_ht(cuts["pt"], cuts["ht"], found["Jet"], found["Jet_pt"])
    return value
