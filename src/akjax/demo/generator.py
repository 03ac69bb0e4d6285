"""Synthetic dimuon events: made by random numbers, with the shapes of collider data, no measurement.

Pairs come from Z bosons (a Breit-Wigner), the Drell-Yan continuum (a power law), J/psi and Upsilon mesons,
and two jets back to back (another power law). They decay isotropically, are boosted to the laboratory, and
lose muons outside the acceptance. Single muons from jets come on top. Muons from jets are not isolated.

`python -m akjax.demo.generator` writes the sample that ships with the package.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import awkward as ak
import numpy as np
import numpy.typing as npt

__all__ = ["MUON_MASS", "SAMPLE_EVENTS", "generate", "read_sample", "write_sample"]

MUON_MASS = 0.1056583755
MIN_PT = 3.0
MAX_ETA = 2.4
MAX_MUONS = 5
SEED = 1
SAMPLE_EVENTS = 20_000
FIELDS = ("pt", "eta", "phi", "mass", "charge", "iso")

_BLOCK = SAMPLE_EVENTS
_EFFICIENCY = 0.95
_RESOLUTION = 0.012
_FRACTIONS = {"z": 0.05, "drell_yan": 0.10, "jpsi": 0.06, "upsilon": 0.07, "jets": 0.32, "no pair": 0.40}
_FAKES_ALONE, _FAKES_BESIDE = 1.4, 0.4

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
_Columns = dict[str, npt.NDArray[np.generic]]


def generate(events: int, seed: int = SEED) -> ak.Array:
    """Make synthetic events. A given seed always gives the same ones, and fewer are the first of more.

    Args:
        events: How many.
        seed: Of the random numbers.

    Returns:
        Events with the field `Muon: var * {pt, eta, phi, mass, charge, iso}`, 0 to 5 muons an event, sorted
        by falling pt; GeV and radians in float32, charge in int32, iso the relative isolation.
    """
    blocks = [_block(seed, number) for number in range(-(-events // _BLOCK))]
    counts = np.concatenate([np.zeros(0, np.int64), *(block[0] for block in blocks)])[:events]
    total = int(counts.sum())
    columns: _Columns = {}
    for field in FIELDS:
        dtype = np.int32 if field == "charge" else np.float32
        columns[field] = np.concatenate([np.zeros(0, dtype), *(block[1][field] for block in blocks)])[:total]
    return _as_events(counts, columns)


def write_sample(path: Path, events: int = SAMPLE_EVENTS, seed: int = SEED) -> None:
    """Write synthetic events to a compressed file of flat columns and the number of muons in each event."""
    muons = generate(events, seed).Muon
    columns = {field: ak.to_numpy(ak.flatten(muons[field])) for field in FIELDS}
    columns["charge"] = columns["charge"].astype(np.int8)
    about = f"synthetic events, {events} of them: akjax.demo.generator, seed {seed}; not a measurement"
    counts = ak.to_numpy(ak.num(muons)).astype(np.uint8)
    np.savez_compressed(path, about=np.array(about), counts=counts, **columns)


def read_sample(path: Path) -> ak.Array:
    """Read what `write_sample` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        columns = {field: stored[field] for field in FIELDS}
        columns["charge"] = columns["charge"].astype(np.int32)
        return _as_events(stored["counts"].astype(np.int64), columns)


def _as_events(counts: _Ints, columns: _Columns) -> ak.Array:
    return ak.Array({"Muon": ak.unflatten(ak.Array(dict(columns)), counts)})


def _block(seed: int, number: int) -> tuple[_Ints, _Columns]:
    """One block of events: the number of muons in each, and the columns of the muons."""
    rng = np.random.default_rng([seed, number])
    pairs, event = _pairs(rng, _BLOCK)
    has_pair = np.zeros(_BLOCK, bool)
    has_pair[event] = True
    fakes_each = rng.poisson(np.where(has_pair, _FAKES_BESIDE, _FAKES_ALONE))
    fakes = _fakes(rng, int(fakes_each.sum()))
    columns = {field: np.concatenate([pairs[field], fakes[field]]) for field in FIELDS}
    event = np.concatenate([event, np.repeat(np.arange(_BLOCK), fakes_each)])

    seen = (columns["pt"] > MIN_PT) & (np.abs(columns["eta"]) < MAX_ETA)
    seen &= rng.random(len(event)) < _EFFICIENCY
    event, columns = event[seen], {field: column[seen] for field, column in columns.items()}
    order = np.lexsort((-columns["pt"], event))
    event, columns = event[order], {field: column[order] for field, column in columns.items()}
    counts = np.bincount(event, minlength=_BLOCK)
    rank = np.arange(len(event)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = rank < MAX_MUONS
    stored: _Columns = {field: _stored(field, column[kept]) for field, column in columns.items()}
    return np.minimum(counts, MAX_MUONS), stored


def _stored(field: str, column: _Floats) -> npt.NDArray[np.generic]:
    """A column as it is kept: charge exact, the others with 12 bits of mantissa, as in NanoAOD."""
    if field == "charge":
        return column.astype(np.int32)
    if field == "mass":
        return column.astype(np.float32)
    mantissa, exponent = np.frexp(column)
    bits = 9 if field == "iso" else 12
    rounded: _Floats = np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)
    return rounded.astype(np.float32)


def _pairs(rng: np.random.Generator, events: int) -> tuple[dict[str, _Floats], _Ints]:
    """The two muons of every event that has a pair, and the number of the event of each muon."""
    kind = rng.choice(6, events, p=list(_FRACTIONS.values()))
    event = np.flatnonzero(kind < 5)
    kind = kind[event]
    n = len(event)
    heavy = kind == 0
    continuum, jets = _power_law(rng, n, 1.8, 2.0, 200.0), _power_law(rng, n, 1.25, 5.0, 250.0)
    m = np.choose(kind, [_z_mass(rng, n), continuum, _jpsi_mass(rng, n), _upsilon_mass(rng, n), jets])
    # mesons are made with some pt, or their muons would not be seen
    pt = rng.gamma(np.where(heavy, 1.3, 2.0), np.choose(kind, [14.0, 5.0, 6.0, 3.5, 5.0]))
    rapidity = rng.normal(0.0, np.where(heavy, 1.1, 1.4))
    one, two = _decay(rng, m, pt, rapidity)
    charge = rng.choice([-1.0, 1.0], n)
    other = np.where((kind == 4) & (rng.random(n) < 0.3), charge, -charge)
    # mesons come partly out of jets
    jetty = (kind == 4) | ((kind >= 2) & (rng.random(n) < 0.4))
    iso = [np.where(jetty, _jet_iso(rng, n), _prompt_iso(rng, n)) for _ in range(2)]
    columns = {name: np.concatenate([one[name], two[name]]) for name in ("pt", "eta", "phi")}
    columns["pt"] = columns["pt"] * rng.normal(1.0, _RESOLUTION, 2 * n)
    columns["mass"] = np.full(2 * n, MUON_MASS)
    columns["charge"] = np.concatenate([charge, other])
    columns["iso"] = np.concatenate(iso)
    return columns, np.concatenate([event, event])


def _fakes(rng: np.random.Generator, n: int) -> dict[str, _Floats]:
    """Muons from jets: a steep spectrum with a tail, any charge, much around them."""
    hard = rng.random(n) < 0.4
    pt = MIN_PT + np.where(hard, 35.0 * rng.pareto(4.0, n), rng.exponential(4.0, n))
    return {
        "pt": pt,
        "eta": rng.uniform(-MAX_ETA, MAX_ETA, n),
        "phi": rng.uniform(-np.pi, np.pi, n),
        "mass": np.full(n, MUON_MASS),
        "charge": rng.choice([-1.0, 1.0], n),
        "iso": _jet_iso(rng, n),
    }


def _prompt_iso(rng: np.random.Generator, n: int) -> _Floats:
    """Little around a muon, often nothing at all."""
    return np.where(rng.random(n) < 0.35, 0.0, rng.exponential(0.045, n))


def _jet_iso(rng: np.random.Generator, n: int) -> _Floats:
    """Much around a muon."""
    return rng.gamma(1.6, 0.3, n)


def _z_mass(rng: np.random.Generator, n: int) -> _Floats:
    """A Breit-Wigner of the mass and width of the Z, within 40 and 180 GeV."""
    low, high = (np.arctan((edge - 91.188) / (2.4955 / 2)) for edge in (40.0, 180.0))
    return 91.188 + 2.4955 / 2 * np.tan(rng.uniform(low, high, n))


def _power_law(rng: np.random.Generator, n: int, power: float, low: float, high: float) -> _Floats:
    """Between two masses, falling as 1 / m^power."""
    rest = 1.0 - power
    return np.asarray((low**rest + rng.random(n) * (high**rest - low**rest)) ** (1.0 / rest))


def _jpsi_mass(rng: np.random.Generator, n: int) -> _Floats:
    return rng.normal(3.0969, 0.01, n)


def _upsilon_mass(rng: np.random.Generator, n: int) -> _Floats:
    return rng.choice([9.4604, 10.0234, 10.3551], n, p=[0.6, 0.25, 0.15])


def _decay(rng: np.random.Generator, m: _Floats, pt: _Floats, rapidity: _Floats) -> list[dict[str, _Floats]]:
    """Two muons back to back in the rest frame of the pair, boosted along its pt and then along the beam."""
    n = len(m)
    cos_theta, azimuth = rng.uniform(-1, 1, n), rng.uniform(-np.pi, np.pi, n)
    direction = rng.uniform(-np.pi, np.pi, n)
    sin_theta = np.sqrt(1 - cos_theta**2)
    momentum = np.sqrt(np.maximum(m**2 / 4 - MUON_MASS**2, 0.0))
    x, y, z = (momentum * part for part in (sin_theta * np.cos(azimuth), sin_theta * np.sin(azimuth), cos_theta))
    gamma, gamma_beta = np.hypot(m, pt) / m, pt / m
    muons = []
    for sign in (1, -1):
        energy = gamma * m / 2 + gamma_beta * sign * x
        along, across = gamma_beta * m / 2 + gamma * sign * x, sign * y
        pz = sign * z * np.cosh(rapidity) + energy * np.sinh(rapidity)
        muon_pt = np.hypot(along, across)
        phi = (direction + np.arctan2(across, along) + np.pi) % (2 * np.pi) - np.pi
        muons.append({"pt": muon_pt, "eta": np.arcsinh(pz / np.maximum(muon_pt, 1e-6)), "phi": phi})
    return muons


def main(argv: Sequence[str] | None = None) -> int:
    """Write the sample that ships with the package."""
    parser = argparse.ArgumentParser(prog="python -m akjax.demo.generator", description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data" / "dimuon_synthetic.npz")
    parser.add_argument("--events", type=int, default=SAMPLE_EVENTS)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(argv)
    write_sample(options.out, options.events, options.seed)
    print(f"{options.out}: {options.events} events, {options.out.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
