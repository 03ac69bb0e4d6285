"""The climb, on hills whose top is known."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest

from akjax.demo.optimise import BOUNDS, Cuts, climb


def hill(cuts: Cuts) -> tuple[float, Cuts]:
    value = -((cuts["pt"] - 12.0) ** 2) / 100.0 - (cuts["iso"] - 0.3) ** 2 / 0.04
    return value, {"pt": -(cuts["pt"] - 12.0) / 50.0, "iso": -(cuts["iso"] - 0.3) / 0.02, "eta": 1.0}


START = {"pt": 30.0, "eta": 2.1, "iso": 0.8}


def test_goes_up_to_the_top() -> None:
    way = climb(hill, START, ("pt", "iso"), 40)
    assert way[0].cuts == START
    assert all(below.value < above.value for below, above in pairwise(way))
    assert way[-1].cuts == pytest.approx({"pt": 12.0, "eta": 2.1, "iso": 0.3}, abs=0.5)


def test_no_steps() -> None:
    assert len(climb(hill, START, ("pt", "iso"), 0)) == 1


def test_stays_where_there_is_no_slope() -> None:
    way = climb(lambda cuts: (1.0, dict.fromkeys(cuts, 0.0)), START, ("pt", "iso"), 3)
    assert [step.cuts for step in way] == [START]


def test_stays_within_bounds() -> None:
    way = climb(lambda cuts: (-cuts["pt"], {"pt": -1.0, "eta": 0.0, "iso": 0.0}), START, ("pt", "iso"), 30)
    assert way[-1].cuts["pt"] == BOUNDS["pt"][0]


def test_never_goes_to_a_place_that_is_not_a_number() -> None:
    way = climb(lambda cuts: (1.0 if cuts == START else float("nan"), {"pt": 1.0, "iso": 0.0}), START, ["pt"], 3)
    assert [step.cuts for step in way] == [START]


def test_lines_without_tqdm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    climb(hill, START, ("pt", "iso"), 3)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"gradient step {i} of 3" for i in (1, 2, 3)]
    assert "figure of merit" in lines[0]
    assert "iso 0." in lines[0]


def test_bar_with_tqdm(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    climb(hill, START, ("pt", "iso"), 3)
    printed = capsys.readouterr()
    assert "3/3" in printed.err
    assert printed.out == ""
