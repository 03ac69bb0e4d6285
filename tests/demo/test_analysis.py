"""The analysis, eagerly: masses against vector and by hand, and the figure of merit."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pytest

from akjax.demo.analysis import (
    SCALES,
    figure_of_merit,
    histograms,
    invariant_mass,
    select_muons,
)
from akjax.demo.generator import MUON_MASS, generate
from akjax.demo.loading import load_synthetic

CUTS = {"pt": 20.0, "eta": 2.1, "iso": 0.5}


def mass_of(one: dict[str, float], two: dict[str, float]) -> float:
    muons = ak.Array([[one, two]])
    return float(invariant_mass(muons[:, 0], muons[:, 1])[0])


def test_mass_against_energy_and_momentum() -> None:
    muons = load_synthetic(2000).events.Muon
    one, two = ak.unzip(ak.combinations(muons, 2))
    mass = invariant_mass(one, two)

    def component(muon: ak.Array) -> list[ak.Array]:
        x, y, z = muon.pt * np.cos(muon.phi), muon.pt * np.sin(muon.phi), muon.pt * np.sinh(muon.eta)
        return [np.sqrt(x**2 + y**2 + z**2 + muon.mass**2), x, y, z]

    e, x, y, z = (a + b for a, b in zip(component(one), component(two), strict=True))
    squared = e**2 - x**2 - y**2 - z**2
    assert len(ak.flatten(mass)) > 500
    np.testing.assert_allclose(ak.flatten(mass), ak.flatten(np.sqrt(squared)), rtol=2e-3)


def test_mass_of_muons_in_one_place() -> None:
    muon = {"pt": 500.0, "eta": 2.3, "phi": 1.0, "mass": MUON_MASS}
    assert mass_of(muon, muon) == pytest.approx(2 * MUON_MASS, rel=1e-12)
    assert mass_of({**muon, "mass": 0.0}, {**muon, "mass": 0.0}) == pytest.approx(1e-6)


def test_mass_of_muons_close_to_each_other() -> None:
    # m^2 = 2 pt^2 (cosh d - 1) = (pt d)^2 up to d^4; the textbook form is 0 or nonsense here
    one = {"pt": 500.0, "eta": 1.0, "phi": 0.5, "mass": 0.0}
    assert mass_of(one, {**one, "eta": 1.0 + 2.0**-27}) == pytest.approx(500.0 * 2.0**-27, rel=1e-3)


def test_selection() -> None:
    muons = select_muons(generate(2000), CUTS)
    assert ak.all(muons.pt > 20.0)
    assert ak.all(abs(muons.eta) < 2.1)
    assert ak.all(muons.iso < 0.5)
    assert ak.all(ak.num(muons) >= 2)


def test_histograms_count_every_pair() -> None:
    events = ak.Array(
        {
            "Muon": [
                [muon(45.0, 0.0, 1), muon(45.6, np.pi, -1)],  # 90.6 GeV
                [muon(45.0, 0.0, 1), muon(45.6, np.pi, 1)],  # the same charge
                [muon(45.0, 0.0, 1), muon(10.0, np.pi, -1)],  # one is too soft
                [],
            ]
        }
    )
    counts = histograms(events, {"pt": 20.0, "eta": 2.1})
    assert {name: int(counts[name]) for name in ("events", "muons", "pairs")} == {
        "events": 2,
        "muons": 4,
        "pairs": 1,
    }
    assert np.flatnonzero(counts["z"]).tolist() == [30]
    assert np.sum(counts["spectrum"]) == 1


def test_figure_of_merit_is_that_of_hard_cuts_where_no_muon_is_at_an_edge() -> None:
    events = ak.Array(
        {
            "Muon": [[muon(45.0, 0.0, 1), muon(45.6, np.pi, -1)]] * 9
            + [[muon(38.0, 0.0, 1), muon(38.0, np.pi, -1)]] * 4
            + [[muon(45.0, 0.0, 1), muon(45.6, np.pi, 1)]] * 5
        }
    )
    # 9 in the window, 4 in the sidebands that are twice as wide: 9 - 2 over the root of 9 + 1
    assert float(figure_of_merit(events, {"pt": 5.0, "eta": 2.0})) == pytest.approx(7 / np.sqrt(10), rel=1e-5)


def test_figure_of_merit_of_nothing_is_0() -> None:
    assert float(figure_of_merit(generate(20)[:0], CUTS)) == 0.0


def test_every_cut_has_a_width() -> None:
    assert set(CUTS) == set(SCALES)


def muon(pt: float, phi: float, charge: int) -> dict[str, float]:
    return {"pt": pt, "eta": 0.0, "phi": phi, "mass": MUON_MASS, "charge": charge}
