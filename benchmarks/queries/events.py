"""Synthetic events of any number: MET, muons, electrons and jets with the multiplicities of collider data."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
import vector

__all__ = ["generate"]

vector.register_awkward()

_MUON_MASS, _ELECTRON_MASS, _Z_MASS, _Z_WIDTH = 0.10566, 0.000511, 91.19, 2.5
_Columns = dict[str, np.ndarray[Any, Any]]


def generate(events: int, seed: int = 0) -> ak.Array:
    """Make events: on average 1.2 muons, 0.9 electrons and 5 jets each, with a tail up to about 30 jets.

    A third of the events with two leptons of one flavour has a Z among them; most leading electrons have a jet on
    top. Numbers are float32 in GeV and radians, the charge is int32, and every list falls in pt.

    Args:
        events: How many.
        seed: Of the random numbers; the same seed and number give the same events.

    Returns:
        Records of `MET: {pt, phi}`, `Muon` and `Electron: var * {pt, eta, phi, mass, charge}`, and
        `Jet: var * {pt, eta, phi, mass, btag}`, with the names that vector knows.
    """
    rng = np.random.default_rng(seed)
    counts = {"Muon": rng.poisson(1.2, events), "Electron": rng.poisson(0.9, events)}
    leptons = {
        "Muon": _leptons(rng, counts["Muon"], _MUON_MASS, lowest=3.0),
        "Electron": _leptons(rng, counts["Electron"], _ELECTRON_MASS, lowest=5.0),
    }
    # a Poisson number around a number that varies itself: a negative binomial, mean 5, variance 10
    counts["Jet"] = rng.negative_binomial(5, 0.5, events)
    jets = _jets(rng, counts["Jet"], counts["Electron"], leptons["Electron"])
    met = {
        "pt": rng.exponential(35.0, events).astype(np.float32),
        "phi": rng.uniform(-np.pi, np.pi, events).astype(np.float32),
    }
    return ak.zip(
        {
            "MET": ak.zip(met, with_name="Momentum2D"),
            **{name: _lists(counts[name], leptons[name]) for name in ("Muon", "Electron")},
            "Jet": _lists(counts["Jet"], jets),
        },
        depth_limit=1,
    )


def _lists(counts: np.ndarray[Any, Any], columns: _Columns) -> ak.Array:
    """Lists of momenta, those of one list in falling order of pt."""
    event = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-columns["pt"], event))
    kept = {
        name: column[order].astype(np.int32 if name == "charge" else np.float32) for name, column in columns.items()
    }
    return ak.unflatten(ak.zip(kept, with_name="Momentum4D"), counts)


def _leptons(rng: np.random.Generator, counts: np.ndarray[Any, Any], mass: float, *, lowest: float) -> _Columns:
    total = int(counts.sum())
    columns = {
        "pt": lowest + rng.gamma(1.3, 14.0, total),
        "eta": rng.uniform(-2.4, 2.4, total),
        "phi": rng.uniform(-np.pi, np.pi, total),
        "mass": np.full(total, mass),
        "charge": rng.choice([-1, 1], total),
    }
    starts = np.cumsum(counts) - counts
    one = starts[(counts >= 2) & (rng.random(len(counts)) < 1 / 3)]
    two = one + 1
    # the second one gets the pt that makes the pair a Z: m^2 = 2 pt1 pt2 (cosh(eta1 - eta2) - cos(phi1 - phi2))
    columns["phi"][two] = columns["phi"][one] + np.pi + rng.normal(0.0, 0.5, len(one))
    columns["phi"][two] = (columns["phi"][two] + np.pi) % (2 * np.pi) - np.pi
    columns["charge"][two] = -columns["charge"][one]
    m = np.clip(_Z_MASS + _Z_WIDTH / 2 * rng.standard_cauchy(len(one)), 40.0, 150.0)
    apart = np.cosh(columns["eta"][one] - columns["eta"][two]) - np.cos(columns["phi"][one] - columns["phi"][two])
    columns["pt"][two] = m**2 / (2.0 * columns["pt"][one] * apart)
    return columns


def _jets(
    rng: np.random.Generator, counts: np.ndarray[Any, Any], electrons: np.ndarray[Any, Any], electron: _Columns
) -> _Columns:
    total = int(counts.sum())
    hard = rng.random(total) < 0.25
    columns = {
        "pt": 15.0 + np.where(hard, 15.0 + 60.0 * rng.pareto(3.5, total), rng.exponential(18.0, total)),
        "eta": np.clip(rng.normal(0.0, 1.7, total), -4.7, 4.7),
        "phi": rng.uniform(-np.pi, np.pi, total),
    }
    both = (counts > 0) & (electrons > 0) & (rng.random(len(counts)) < 0.8)
    jet, on = (np.cumsum(counts) - counts)[both], (np.cumsum(electrons) - electrons)[both]
    columns["pt"][jet] = np.maximum(1.1 * electron["pt"][on], 15.0)
    columns["eta"][jet] = electron["eta"][on] + rng.normal(0.0, 0.01, len(jet))
    columns["phi"][jet] = np.clip(electron["phi"][on] + rng.normal(0.0, 0.01, len(jet)), -3.1415, 3.1415)
    columns["mass"] = columns["pt"] * rng.uniform(0.08, 0.22, total)
    b_like = rng.random(total) < 0.15
    columns["btag"] = np.where(b_like, rng.beta(6.0, 1.2, total), rng.beta(0.8, 7.0, total))
    return columns
