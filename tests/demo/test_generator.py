"""The synthetic events are the same every time and look like muons."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

from akjax.demo import generator
from akjax.demo.analysis import histograms
from akjax.demo.generator import MUON_MASS, SAMPLE_EVENTS, generate, read_sample, write_sample

SAMPLE = files("akjax.demo") / "data" / "dimuon_synthetic.npz"


def test_same_seed_same_events() -> None:
    one, two = generate(500, seed=3), generate(500, seed=3)
    assert ak.array_equal(one, two)
    assert not ak.array_equal(ak.num(one.Muon), ak.num(generate(500, seed=4).Muon))


def test_fewer_are_the_first_of_more() -> None:
    more = generate(SAMPLE_EVENTS + 100)
    assert len(more) == SAMPLE_EVENTS + 100
    assert ak.array_equal(more[:700], generate(700))


@pytest.mark.parametrize("number", [0, 1, 7])
def test_type(number: int) -> None:
    fields = "pt: float32, eta: float32, phi: float32, mass: float32, charge: int32, iso: float32"
    assert str(generate(number).type) == f"{number} * {{Muon: var * {{{fields}}}}}"


def test_sane() -> None:
    muons = generate(5000).Muon
    counts = ak.num(muons)
    assert set(counts.to_list()) == {0, 1, 2, 3, 4, 5}
    assert ak.all(muons.pt > 2.9)
    assert ak.all(abs(muons.eta) <= 2.4)
    assert ak.all(abs(muons.phi) < 3.1417)
    assert ak.all(muons.mass == np.float32(MUON_MASS))
    assert ak.all(abs(muons.charge) == 1)
    assert ak.all(muons.iso >= 0)
    assert ak.all(muons.pt[:, 1:] <= muons.pt[:, :-1])
    assert ak.all(np.isfinite(ak.flatten(muons.pt)))


def test_has_the_peaks() -> None:
    counts = histograms(generate(5000), {"pt": 3.0, "eta": 2.4, "iso": 0.3})
    z = np.asarray(counts["z"])
    assert np.argmax(z) in (30, 31)  # 90 to 92 GeV
    assert z[25:37].sum() > 5 * z[9:21].sum()
    spectrum = np.asarray(counts["spectrum"])
    jpsi = int(np.log10(3.0969) / 2.4 * 120)
    assert spectrum[jpsi] > 3 * max(spectrum[jpsi - 2], spectrum[jpsi + 2])


def test_shipped_sample_is_what_the_generator_makes() -> None:
    with as_file(SAMPLE) as path:
        assert path.stat().st_size < 400_000
        shipped = read_sample(path)
        with np.load(path) as stored:
            assert "synthetic" in str(stored["about"])
    made = generate(SAMPLE_EVENTS)
    assert len(shipped) == SAMPLE_EVENTS
    assert shipped.type == made.type
    assert ak.array_equal(ak.num(shipped.Muon), ak.num(made.Muon))
    # not bit for bit: cosh, log and so on are not the same everywhere
    for field in shipped.Muon.fields:
        assert ak.almost_equal(shipped.Muon[field], made.Muon[field], rtol=1e-3, atol=1e-3)


def test_write_and_read(tmp_path: Path) -> None:
    write_sample(tmp_path / "few.npz", events=50, seed=9)
    assert ak.array_equal(read_sample(tmp_path / "few.npz"), generate(50, seed=9))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generator.main(["--events", "20", "--out", str(tmp_path / "few.npz")]) == 0
    assert "20 events" in capsys.readouterr().out
    assert len(read_sample(tmp_path / "few.npz")) == 20
