"""Where events come from, and what is said when they cannot."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

from akjax.demo.errors import DemoError
from akjax.demo.generator import SAMPLE_EVENTS
from akjax.demo.loading import load_file, load_synthetic

LISTS = ak.Array([[40.0, 30.0], [], [20.0]])
CHARGES = ak.Array([[1, -1], [], [1]])
KINDS = {"pt": "float32", "eta": "float32", "phi": "float32", "mass": "float32", "charge": "int32"}


def branches(**other: Any) -> dict[str, tuple[str, ak.Array]]:
    """The branches of three events with three muons."""
    made: dict[str, tuple[str, ak.Array]] = {
        f"Muon_{field}": (f"var * {kind}", ak.values_astype(CHARGES if field == "charge" else LISTS, kind))
        for field, kind in KINDS.items()
    }
    return {name: value for name, value in {**made, **other}.items() if value is not None}


def test_sample() -> None:
    loaded = load_synthetic()
    assert len(loaded.events) == SAMPLE_EVENTS
    assert loaded.has_isolation
    assert loaded.notes == ()
    assert {str(ak.flatten(loaded.events.Muon[f]).type.content) for f in ("pt", "eta", "iso")} == {"float64"}
    assert str(ak.flatten(loaded.events.Muon.charge).type.content) == "int32"


def test_fewer_and_more_than_the_sample() -> None:
    assert ak.array_equal(load_synthetic(10).events, load_synthetic().events[:10])
    more = load_synthetic(SAMPLE_EVENTS + 5)
    assert len(more.events) == SAMPLE_EVENTS + 5
    assert "the generator makes 20005" in more.notes[0]


def test_file(root_file: Callable[..., Path]) -> None:
    loaded = load_file(root_file(Events=branches()))
    assert loaded.source == "made.root"
    assert loaded.events.Muon.pt.to_list() == LISTS.to_list()
    assert loaded.events.Muon.charge.to_list() == CHARGES.to_list()
    assert not loaded.has_isolation
    assert "no Muon_pfRelIso04_all and no Muon_pfRelIso03_all" in loaded.notes[0]


def test_isolation_of_a_file(root_file: Callable[..., Path]) -> None:
    iso = ak.values_astype(ak.Array([[0.1, 0.2], [], [0.3]]), "float32")
    path = root_file(Events=branches(Muon_pfRelIso03_all=("var * float32", iso)))
    assert np.allclose(ak.flatten(load_file(path).events.Muon.iso), [0.1, 0.2, 0.3])


def test_number_of_events_of_a_file(root_file: Callable[..., Path]) -> None:
    path = root_file(Events=branches())
    assert len(load_file(path, 2).events) == 2
    loaded = load_file(path, 100)
    assert len(loaded.events) == 3
    assert "has 3 events, all of them are used" in loaded.notes[0]


def test_broken_muons_are_left_out(root_file: Callable[..., Path]) -> None:
    pt = ak.values_astype(ak.Array([[40.0, 30.0], [], [0.0]]), "float32")
    eta = ak.values_astype(ak.Array([[np.inf, 0.1], [], [0.2]]), "float32")
    broken = branches(Muon_pt=("var * float32", pt), Muon_eta=("var * float32", eta))
    loaded = load_file(root_file(Events=broken))
    assert loaded.events.Muon.pt.to_list() == [[30.0], [], []]
    assert "2 muons with pt 0 or a number that is not finite are left out" in loaded.notes[-1]


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (
            {"Events": branches(Muon_phi=None, Muon_charge=None)},
            r"no branch Muon_phi, Muon_charge; .* NanoAOD",
        ),
        ({"other": branches()}, r"no Events tree in it, but other;"),
        ({}, r"no Events tree in it, but nothing;"),
        ({"Events": np.histogram([1.0], bins=3)}, r"Events is not a tree but a TH1"),
        ({"Events": branches(Muon_pt=("float32", np.ones(3, "f4")))}, r"Muon_pt is 3 \* float32, not a list"),
        (
            {"Events": branches(Muon_eta=("var * float32", LISTS[:, :1]))},
            r"Muon_eta and Muon_pt count different muons",
        ),
        (
            {"Events": {name: (kind, column[:0]) for name, (kind, column) in branches().items()}},
            r"the Events tree is empty",
        ),
    ],
)
def test_wrong_content(root_file: Callable[..., Path], objects: dict[str, Any], message: str) -> None:
    path = root_file(**objects)
    with pytest.raises(DemoError, match=message) as caught:
        load_file(path)
    assert_one_line(caught.value, path)


def test_wrong_files(tmp_path: Path) -> None:
    pytest.importorskip("uproot")
    text = tmp_path / "text.root"
    text.write_text("not a ROOT file, but more than a few bytes of text\n" * 20)
    empty = tmp_path / "empty.root"
    empty.touch()
    wrong = {
        tmp_path / "none.root": "no such file",
        tmp_path: "not a file",
        text: "not a ROOT file",
        empty: "cannot be read",
    }
    for path, message in wrong.items():
        with pytest.raises(DemoError, match=message) as caught:
            load_file(path)
        assert_one_line(caught.value, path)


def test_cut_short(root_file: Callable[..., Path]) -> None:
    path = root_file(Events=branches())
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(DemoError, match="cannot be read, cut short or damaged") as caught:
        load_file(path)
    assert_one_line(caught.value, path)


def test_without_uproot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "uproot", None)
    with pytest.raises(DemoError, match=r'needs uproot: pip install "akjax\[root\]"'):
        load_file(tmp_path / "any.root")


@pytest.mark.parametrize(
    ("name", "events", "muons"),
    [
        ("nano_dimuon.root", 40, 84),
        ("nano_tt_v12.root", 200, 210),
        ("nanoAOD_2015_CMS_Open_Data_ttbar.root", 200, 41),
    ],
)
def test_real_files(real: Callable[[str], Path], name: str, events: int, muons: int) -> None:
    pytest.importorskip("uproot")
    loaded = load_file(real(name))
    assert (len(loaded.events), int(ak.sum(ak.num(loaded.events.Muon)))) == (events, muons)
    assert loaded.has_isolation


@pytest.mark.parametrize("name", ["uproot-HZZ.root", "PHYSLITE_example.root"])
def test_other_real_files(real: Callable[[str], Path], name: str) -> None:
    pytest.importorskip("uproot")
    with pytest.raises(DemoError, match="no Events tree in it"):
        load_file(real(name))


def assert_one_line(error: DemoError, path: Path) -> None:
    assert str(error).startswith(f"{path}: ")
    assert "\n" not in str(error)
