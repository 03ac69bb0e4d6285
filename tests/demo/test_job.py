"""The compiled analysis: the same counts as eager Awkward, and the slope of finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest

import akjax
from akjax.demo import job
from akjax.demo.analysis import SCALES, figure_of_merit, histograms
from akjax.demo.loading import Loaded, load_file, load_synthetic
from akjax.demo.report import table

CUTS = {"pt": 18.0, "eta": 2.0, "iso": 0.35}


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    akjax.register()
    with jax.enable_x64(True):
        yield


def test_counts_are_those_of_eager_awkward() -> None:
    events = load_synthetic(1500).events
    traces = []

    def traced_histograms(events: ak.Array, cuts: dict[str, float]) -> dict[str, Any]:
        traces.append(1)
        return histograms(events, cuts)

    compiled = jax.jit(traced_histograms)
    for cuts in (CUTS, {**CUTS, "pt": 5.0}, {**CUTS, "pt": 500.0}):
        eager, traced = histograms(events, cuts), compiled(events, cuts)
        assert set(eager) == set(traced)
        for name, counts in eager.items():
            np.testing.assert_array_equal(np.asarray(traced[name]), np.asarray(counts))
    assert len(traces) == 1


def test_value_and_slopes_of_the_figure_of_merit() -> None:
    events = load_synthetic(1500).events
    value, slopes = jax.jit(jax.value_and_grad(figure_of_merit, argnums=1))(events, CUTS)
    assert float(value) == pytest.approx(float(figure_of_merit(events, CUTS)), rel=1e-12)
    for name in CUTS:
        h = 1e-4 * SCALES[name]
        above, below = (float(figure_of_merit(events, {**CUTS, name: CUTS[name] + d})) for d in (h, -h))
        assert float(slopes[name]) == pytest.approx((above - below) / (2 * h), rel=1e-6)


def test_outcome(outcome: job.Outcome) -> None:
    assert outcome.right
    assert (outcome.events, outcome.bins, outcome.tuned) == (1500, 360, ("pt", "iso"))
    assert outcome.device.endswith("float64")
    assert outcome.way[-1].value > outcome.way[0].value
    assert int(outcome.before["pairs"]) > 0
    assert outcome.notes == []


def test_without_isolation() -> None:
    events = load_synthetic(600).events
    del events["Muon", "iso"]
    outcome = job.run(Loaded(events, "cut down", ()), steps=1)
    assert outcome.right
    assert outcome.tuned == ("pt", "eta")
    assert set(outcome.way[0].cuts) == {"pt", "eta"}


def test_no_pairs_at_all() -> None:
    events = load_synthetic(30).events
    outcome = job.run(Loaded(events[[len(muons) < 2 for muons in events.Muon]], "no pairs", ()), steps=3)
    assert outcome.right
    assert len(outcome.way) == 1
    assert [note.split(":")[0] for note in outcome.notes] == [
        "the first cuts leave no muon pair of opposite charge",
        "no pair near the Z that the cuts could keep or lose",
    ]


def test_no_peak() -> None:
    events = load_synthetic(2000).events
    muons = events.Muon
    muons["pt"] = 0.85 * muons.pt
    outcome = job.run(Loaded(type(events)({"Muon": muons}), "moved", ()), steps=3)
    assert outcome.right
    assert len(outcome.way) == 1
    assert "no peak, no step taken" in outcome.notes[0]


def test_real_files_without_a_pair(real: Callable[[str], Path]) -> None:
    pytest.importorskip("uproot")
    outcome = job.run(load_file(real("nanoAOD_2015_CMS_Open_Data_ttbar.root")), steps=2)
    assert outcome.right
    assert len(outcome.way) == 1
    assert "nan" not in table(outcome).split("\n", 1)[1].lower()


def test_a_real_file(real: Callable[[str], Path]) -> None:
    pytest.importorskip("uproot")
    outcome = job.run(load_file(real("nano_dimuon.root")), steps=2)
    assert outcome.right
    assert int(outcome.before["pairs"]) == 3
