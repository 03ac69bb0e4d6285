"""The analysis itself: ordinary Awkward and NumPy code, nothing in it knows of JAX.

The same functions run eagerly on an `ak.Array`, as one program under `jax.jit`, and under `jax.grad` with
respect to the cuts. `cuts` holds plain numbers, or whatever JAX hands over in their place, by name: a muon
has to have more `pt` (GeV), less absolute `eta`, and, where the events have an isolation, less `iso`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import awkward as ak
import numpy as np

__all__ = ["SCALES", "figure_of_merit", "histograms", "invariant_mass", "select_muons"]

Cuts = Mapping[str, Any]

Z_MASS = 91.188
WINDOW = 6.0
"""Half the width of the Z window, GeV."""
SIDEBANDS = (10.0, 22.0)
"""How far from the Z mass the sidebands begin and end, GeV, on both sides."""
SIDEBAND_TO_WINDOW = WINDOW / (SIDEBANDS[1] - SIDEBANDS[0])

SPECTRUM_BINS, SPECTRUM_RANGE = 120, (0.0, 2.4)
"""The whole spectrum, in steps of log10(m / GeV)."""
Z_BINS, Z_RANGE = 60, (60.0, 120.0)
"""Around the Z, GeV."""

SCALES = {"pt": 2.0, "eta": 0.05, "iso": 0.04}
"""How wide the soft edge of each cut is in `figure_of_merit`."""


def select_muons(events: ak.Array, cuts: Cuts) -> ak.Array:
    """The muons that pass the cuts, in the events that have two of them left."""
    muons = events.Muon
    good = (muons.pt > cuts["pt"]) & (abs(muons.eta) < cuts["eta"])
    if "iso" in cuts:
        good = good & (muons.iso < cuts["iso"])
    muons = muons[good]
    return muons[ak.num(muons) >= 2]


def opposite_pairs(muons: ak.Array) -> tuple[ak.Array, ak.Array]:
    """Both muons of every pair of opposite charge."""
    pairs = ak.combinations(muons, 2, fields=["one", "two"])
    one, two = ak.unzip(pairs[pairs.one.charge != pairs.two.charge])
    return one, two


def invariant_mass(one: ak.Array, two: ak.Array) -> ak.Array:
    """The mass of pairs of muons, to about 1 in 1000 for muons much faster than heavy.

    It is m^2 = 2 pt1 pt2 (cosh(eta1 - eta2) - cos(phi1 - phi2)) and what the masses of the muons add. The
    bracket is written as a sum of squares: nothing cancels for muons close to each other, and no square root
    sees a negative number.
    """
    apart = np.sinh((one.eta - two.eta) / 2.0) ** 2 + np.sin((one.phi - two.phi) / 2.0) ** 2
    ratio = two.pt / one.pt
    squared = 4.0 * one.pt * two.pt * apart
    squared = squared + one.mass**2 * (1.0 + ratio) + two.mass**2 * (1.0 + 1.0 / ratio)
    # the slope of a square root at 0 is infinite: two massless muons in one place
    return np.sqrt(np.maximum(squared, 1e-12))


def histograms(events: ak.Array, cuts: Cuts) -> dict[str, Any]:
    """Select muons, pair them and histogram the masses.

    Args:
        events: With `Muon: var * {pt, eta, phi, mass, charge}`, and `iso` where `cuts` has it.
        cuts: The cuts.

    Returns:
        `spectrum` (120 bins of log10(m / GeV)) and `z` (60 bins from 60 to 120 GeV), and the numbers of
        `events` and `muons` selected and of `pairs` with opposite charge.
    """
    muons = select_muons(events, cuts)
    mass = invariant_mass(*opposite_pairs(muons))
    flat = ak.flatten(mass)
    return {
        "spectrum": np.histogram(np.log10(flat), bins=SPECTRUM_BINS, range=SPECTRUM_RANGE)[0],
        "z": np.histogram(flat, bins=Z_BINS, range=Z_RANGE)[0],
        "events": ak.sum(ak.num(muons) >= 2),
        "muons": ak.sum(ak.num(muons)),
        "pairs": ak.sum(ak.num(mass)),
    }


def soft_above(x: ak.Array, cut: Any, width: float) -> ak.Array:
    """A cut with a soft edge: 0 far below it, 1/2 at it, 1 far above it."""
    return 0.5 + 0.5 * np.tanh((x - cut) / (2.0 * width))


def figure_of_merit(events: ak.Array, cuts: Cuts) -> Any:
    """How many of its own standard deviations the Z signal is away from 0: s / sqrt(s + b), with b measured.

    The cuts are soft: every muon has a weight between 0 and 1 and a pair has the product of both, so the
    result has a slope in the cuts. Nothing needs to know which pairs are signal: with w the sum of weights in
    the Z window, and b the sum in the sidebands scaled to the width of the window, s = w - b, and its
    variance is w plus that of b.

    Args:
        events: As for `histograms`.
        cuts: The cuts; the gradient is with respect to them.

    Returns:
        One number.
    """
    muons = events.Muon
    weight = soft_above(muons.pt, cuts["pt"], SCALES["pt"])
    weight = weight * soft_above(-abs(muons.eta), -cuts["eta"], SCALES["eta"])
    if "iso" in cuts:
        weight = weight * soft_above(-muons.iso, -cuts["iso"], SCALES["iso"])
    one, two = opposite_pairs(ak.with_field(muons, weight, "weight"))
    weight = one.weight * two.weight
    away = abs(invariant_mass(one, two) - Z_MASS)
    window = ak.sum(weight[away < WINDOW])
    side = ak.sum(weight[(away > SIDEBANDS[0]) & (away < SIDEBANDS[1])])
    signal = window - SIDEBAND_TO_WINDOW * side
    # the last term only matters when there is next to nothing to count
    variance = window + SIDEBAND_TO_WINDOW**2 * side + 1e-12
    # not np.sqrt: under jax.jit this is one number of JAX, no array of Awkward
    return signal / variance**0.5
