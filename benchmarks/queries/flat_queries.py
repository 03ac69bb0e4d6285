"""The queries as one writes them by hand for JAX: flat buffers, numbers of events and pairs as arguments, segment sums.

This is what a user who knows XLA well can do without akjax. Whatever depends on the lists alone is made once, by
NumPy: `arguments` takes it and the buffers together, so its time is not in that of the query.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from .awkward_queries import BINS

__all__ = ["FLAT", "arguments", "soft_ht_arguments", "soft_ht_flat"]

_Arguments = dict[str, Any]


def _numbers(events: ak.Array, name: str, *fields: str) -> _Arguments:
    return {f"{name}_{field}": ak.to_numpy(ak.flatten(events[name][field], axis=None)) for field in fields}


def _parents(events: ak.Array, name: str) -> _Arguments:
    counts = ak.to_numpy(ak.num(events[name]))
    return {name: np.repeat(np.arange(len(counts), dtype=np.int32), counts)}


def _tuples(lists: ak.Array, many: int) -> tuple[Any, list[Any]]:
    """The event of every combination, and the places of its members in the flat buffers."""
    at = ak.unflatten(np.arange(int(ak.sum(ak.num(lists))), dtype=np.int32), ak.num(lists))
    combined = ak.combinations(at, many)
    counts = ak.to_numpy(ak.num(combined))
    members = [ak.to_numpy(ak.flatten(member)) for member in ak.unzip(combined)]
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts), members


def _histogram(values: Any, spec: tuple[int, float, float], valid: Any = True) -> Any:
    bins, low, high = spec
    at = jnp.floor((values - low) * (bins / (high - low))).astype(jnp.int32)
    at = jnp.where(values == high, bins - 1, at)
    counted = valid & (values >= low) & (values <= high)
    return jnp.zeros(bins, jnp.int32).at[jnp.where(counted, at, bins)].add(1, mode="drop")


def _momenta(a: _Arguments, name: str) -> Any:
    """px, py, pz and E in the minor axis, so that one gather fetches a particle; computed before any gather."""
    pt, eta, phi, mass = (a[f"{name}_{field}"] for field in ("pt", "eta", "phi", "mass"))
    pz = pt * jnp.sinh(eta)
    energy = jnp.sqrt(pt**2 + pz**2 + mass**2)
    return jax.lax.optimization_barrier(jnp.stack([pt * jnp.cos(phi), pt * jnp.sin(phi), pz, energy], axis=1))


def _mass(p: Any) -> Any:
    return jnp.sqrt(jnp.maximum(p[:, 3] ** 2 - p[:, 0] ** 2 - p[:, 1] ** 2 - p[:, 2] ** 2, 0.0))


def _take(array: Any, at: Any) -> Any:
    return array.at[at].get(mode="promise_in_bounds")


def _segment(reduction: Any, data: Any, segments: Any, many: int) -> Any:
    return reduction(data, segments, num_segments=many, indices_are_sorted=True)


def _first_smallest(values: Any, segments: Any, many: int) -> tuple[Any, Any]:
    """Where the smallest number of every segment is, the first one of equals, and whether there is one."""
    smallest = _segment(jax.ops.segment_min, values, segments, many)
    here = jnp.arange(values.size, dtype=jnp.int32)
    candidates = jnp.where(values == _take(smallest, segments), here, values.size)
    at = _segment(jax.ops.segment_min, candidates, segments, many)
    return jnp.minimum(at, max(values.size - 1, 0)), (at < values.size) & (smallest < jnp.inf)


def _q1(a: _Arguments) -> Any:
    return (_histogram(a["MET_pt"], BINS["q1"][0]),)


def _q2(a: _Arguments) -> Any:
    return (_histogram(a["Jet_pt"], BINS["q2"][0]),)


def _q3(a: _Arguments) -> Any:
    return (_histogram(a["Jet_pt"], BINS["q3"][0], jnp.abs(a["Jet_eta"]) < 1),)


def _q4(a: _Arguments) -> Any:
    hard = _segment(jax.ops.segment_sum, (a["Jet_pt"] > 40).astype(jnp.int32), a["Jet"], a["MET_pt"].size)
    return (_histogram(a["MET_pt"], BINS["q4"][0], hard >= 2),)


def _q5(a: _Arguments) -> Any:
    p = _momenta(a, "Muon")
    one, two = a["one"], a["two"]
    mass = _mass(_take(p, one) + _take(p, two))
    good = (_take(a["Muon_charge"], one) != _take(a["Muon_charge"], two)) & (mass > 60) & (mass < 120)
    many = a["MET_pt"].size
    return (
        _histogram(
            a["MET_pt"], BINS["q5"][0], _segment(jax.ops.segment_sum, good.astype(jnp.int32), a["pair"], many) > 0
        ),
    )


def _q6(a: _Arguments) -> Any:
    p = _momenta(a, "Jet")
    members = [a["one"], a["two"], a["three"]]
    total = sum(_take(p, member) for member in members)
    best, found = _first_smallest(jnp.abs(_mass(total) - 172.5), a["triple"], a["events"].size)
    members = [_take(member, best) for member in members]
    total = sum(_take(p, member) for member in members)
    btag = jnp.max(jnp.stack([_take(a["Jet_btag"], member) for member in members]), axis=0)
    pt_bins, btag_bins = BINS["q6"]
    return (
        _histogram(jnp.hypot(total[:, 0], total[:, 1]), pt_bins, found),
        _histogram(btag, btag_bins, found),
    )


def _q7(a: _Arguments) -> Any:
    near = jnp.zeros(a["Jet_pt"].size, jnp.int32)
    for name in ("Muon", "Electron"):
        jet, lepton = a[f"{name}_jet"], a[f"{name}_lepton"]
        angles = jnp.stack([a["Jet_eta"], a["Jet_phi"]], axis=1)
        others = jnp.stack([a[f"{name}_eta"], a[f"{name}_phi"], a[f"{name}_pt"]], axis=1)
        here, there = (_take(jax.lax.optimization_barrier(both), at) for both, at in ((angles, jet), (others, lepton)))
        apart = jnp.abs(here[:, 1] - there[:, 1])
        apart = jnp.where(apart > math.pi, 2 * math.pi - apart, apart)
        close = ((here[:, 0] - there[:, 0]) ** 2 + apart**2 < 0.4**2) & (there[:, 2] > 10)
        near = near + _segment(jax.ops.segment_sum, close.astype(jnp.int32), jet, near.size)
    pt = jnp.where((a["Jet_pt"] > 30) & (near == 0), a["Jet_pt"], 0.0)
    return (_histogram(_segment(jax.ops.segment_sum, pt, a["Jet"], a["events"].size), BINS["q7"][0]),)


def _q8(a: _Arguments) -> Any:
    p = jnp.concatenate([_momenta(a, "Muon"), _momenta(a, "Electron")])
    pt, phi, charge = (jnp.concatenate([a[f"Muon_{f}"], a[f"Electron_{f}"]]) for f in ("pt", "phi", "charge"))
    p, charge, pt, phi = jax.lax.optimization_barrier((p, charge, pt, phi))
    one, two, many = a["one"], a["two"], a["MET_pt"].size
    away = jnp.abs(_mass(_take(p, one) + _take(p, two)) - 91.2)
    away = jnp.where(_take(charge, one) != _take(charge, two), away, jnp.inf)
    best, found = _first_smallest(away, a["pair"], many)
    one, two = _take(one, best), _take(two, best)
    # leptons of an event, its muons and then its electrons, which are at `lepton` in the joined buffers
    lepton, event = a["lepton"], a["event"]
    other = (lepton != _take(one, event)) & (lepton != _take(two, event))
    third, left = _first_smallest(jnp.where(other, -_take(pt, lepton), jnp.inf), event, many)
    third = _take(lepton, third)
    dphi = _take(phi, third) - a["MET_phi"]
    mt = jnp.sqrt(2 * _take(pt, third) * a["MET_pt"] * (1 - jnp.cos(dphi)))
    return (_histogram(mt, BINS["q8"][0], found & left),)


FLAT: dict[str, Callable[[_Arguments], Any]] = {
    "q1": _q1,
    "q2": _q2,
    "q3": _q3,
    "q4": _q4,
    "q5": _q5,
    "q6": _q6,
    "q7": _q7,
    "q8": _q8,
}
"""The queries; each takes what `arguments` gives, through `jax.jit`, and gives the counts of its histograms."""

_FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    "q1": {"MET": ("pt",)},
    "q2": {"Jet": ("pt",)},
    "q3": {"Jet": ("pt", "eta")},
    "q4": {"MET": ("pt",), "Jet": ("pt",)},
    "q5": {"MET": ("pt",), "Muon": ("pt", "eta", "phi", "mass", "charge")},
    "q6": {"Jet": ("pt", "eta", "phi", "mass", "btag")},
    "q7": {"Jet": ("pt", "eta", "phi"), "Muon": ("pt", "eta", "phi"), "Electron": ("pt", "eta", "phi")},
    "q8": {
        "MET": ("pt", "phi"),
        "Muon": ("pt", "eta", "phi", "mass", "charge"),
        "Electron": ("pt", "eta", "phi", "mass", "charge"),
    },
}


def arguments(query: str, events: ak.Array) -> _Arguments:
    """The buffers of a query on the device, and everything that follows from the lists alone."""
    found: _Arguments = {}
    for name, fields in _FIELDS[query].items():
        found |= _numbers(events, name, *fields)
    if query in ("q4", "q7"):
        found |= _parents(events, "Jet")
    if query in ("q6", "q7"):
        found["events"] = np.zeros(len(events), np.int8)  # its length is what is needed
    if query == "q5":
        found["pair"], (found["one"], found["two"]) = _tuples(events.Muon, 2)
    if query == "q6":
        found["triple"], (found["one"], found["two"], found["three"]) = _tuples(events.Jet, 3)
    if query == "q7":
        for name in ("Muon", "Electron"):
            found[f"{name}_jet"], found[f"{name}_lepton"] = _crossed(events.Jet, events[name])
    if query == "q8":
        found |= _leptons(events)
    return jax.device_put(found)


def soft_ht_arguments(events: ak.Array) -> _Arguments:
    """The buffers of `soft_ht_flat`."""
    return jax.device_put(
        _numbers(events, "Jet", "pt") | _parents(events, "Jet") | {"events": np.zeros(len(events), np.int8)}
    )


def soft_ht_flat(cuts: dict[str, Any], a: _Arguments) -> Any:
    """`soft_ht` by hand."""
    pt = a["Jet_pt"]
    ht = _segment(jax.ops.segment_sum, pt * jax.nn.sigmoid((pt - cuts["pt"]) / 5), a["Jet"], a["events"].size)
    return jnp.sum(ht * jax.nn.sigmoid((ht - cuts["ht"]) / 20))


def _at(lists: ak.Array, first: int = 0) -> ak.Array:
    counts = ak.num(lists)
    return ak.unflatten(np.arange(first, first + int(ak.sum(counts)), dtype=np.int32), counts)


def _crossed(jets: ak.Array, leptons: ak.Array) -> list[Any]:
    return [ak.to_numpy(ak.flatten(side)) for side in ak.unzip(ak.cartesian([_at(jets), _at(leptons)]))]


def _leptons(events: ak.Array) -> _Arguments:
    muons, electrons = _at(events.Muon), _at(events.Electron, int(ak.sum(ak.num(events.Muon))))
    three = ak.num(muons) + ak.num(electrons) >= 3
    both = ak.concatenate([muons, electrons], axis=1)
    pairs = ak.concatenate([ak.combinations(one, 2)[three] for one in (muons, electrons)], axis=1)
    numbers = np.arange(len(events), dtype=np.int32)
    return {
        "lepton": ak.to_numpy(ak.flatten(both)),
        "event": np.repeat(numbers, ak.to_numpy(ak.num(both))),
        "pair": np.repeat(numbers[ak.to_numpy(three)], ak.to_numpy(ak.num(pairs))),
        "one": ak.to_numpy(ak.flatten(pairs["0"])),
        "two": ak.to_numpy(ak.flatten(pairs["1"])),
    }
