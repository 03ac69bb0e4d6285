"""The command line: exit codes, messages, table and picture."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax
import pytest

from akjax.demo import job
from akjax.demo.cli import main


def message(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one line that is printed when something is wrong with the arguments."""
    assert main(["demo", *map(str, arguments)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("akjax demo: ")
    assert printed.err.count("\n") == 1
    return printed.err


def test_alone_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("akjax ")


def test_unknown_command() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["dmeo"])
    assert caught.value.code == 2


def test_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "akjax.demo", "--events", "0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "fewer than one event" in done.stderr


def test_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    was = jax.config.jax_enable_x64
    out = tmp_path / "new" / "folder"
    assert main(["demo", "--events", "1500", "--out", str(out)]) == 0
    assert jax.config.jax_enable_x64 == was
    picture = out / "dimuon.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 5000
    table = capsys.readouterr().out
    for row in (
        "synthetic sample: 1500 events, ",
        "muon pt above, GeV ",
        "muon isolation below ",
        "pairs of opposite charge ",
        "figure of merit, soft cuts ",
        "selection and histograms ",
        "figure of merit * ",
        "per pt cut ",
        "per iso cut ",
        "histograms: all 360 bins equal eager Awkward's",
        f"picture: {picture}",
    ):
        assert f"\n{row}" in f"\n{table}"
    assert "nan" not in table.lower()
    assert "DIFFER" not in table


def test_one_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--events", "1", "--out", str(tmp_path)]) == 0
    table = capsys.readouterr().out
    assert "1 event, " in table
    assert "note: the first cuts leave no muon pair of opposite charge" in table
    assert "nan" not in table.lower()
    assert (tmp_path / "dimuon.png").stat().st_size > 5000


def test_wrong_result(
    outcome: job.Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {name: replace(slope, compiled=2 * slope.compiled) for name, slope in outcome.gradients.items()}
    for changed, line in (
        (replace(outcome, gradients=wrong), "gradient: does NOT agree with finite differences"),
        (replace(outcome, different_bins=3), "3 counts of 360 bins DIFFER from eager Awkward's"),
    ):
        monkeypatch.setattr(job, "run", lambda loaded, changed=changed: changed)
        assert main(["demo", "--events", "5", "--out", str(tmp_path)]) == 1
        assert line in capsys.readouterr().out


@pytest.mark.parametrize("number", [0, -5])
def test_no_events(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"--events {number}: " in message(capsys, "--events", str(number))


def test_not_a_number_of_events() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--events", "many"])
    assert caught.value.code == 2


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.root: no such file" in message(capsys, "--file", tmp_path / "none.root")


def test_not_root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("uproot")
    path = tmp_path / "text.root"
    path.write_text("not ROOT\n" * 100)
    assert "text.root: not a ROOT file" in message(capsys, "--file", path, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_uproot(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "uproot", None)
    assert 'pip install "akjax[root]"' in message(capsys, "--file", "any.root")


def test_without_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert 'pip install "akjax[plot]"' in message(capsys, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_out_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "taken"
    path.touch()
    assert "taken: cannot be made a folder" in message(capsys, "--events", "5", "--out", path)
