"""What several tests of the demo need: ROOT files, real and made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

import akjax
from akjax.demo import job, timing
from akjax.demo.loading import load_synthetic

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Real files, beside the checkout or not at all."""


@pytest.fixture
def real() -> Callable[[str], Path]:
    """A real file by name, or a skip."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"no {path}: the real data are not beside this checkout")
        return path

    return find


@pytest.fixture
def root_file(tmp_path: Path) -> Callable[..., Path]:
    """Write objects by name to a small ROOT file."""
    uproot = pytest.importorskip("uproot", reason="writes ROOT files")

    def write(**objects: Any) -> Path:
        path = tmp_path / "made.root"
        with uproot.recreate(path) as file:
            for name, value in objects.items():
                if isinstance(value, dict):
                    file.mktree(name, {branch: kind for branch, (kind, _) in value.items()})
                    columns = {branch: column for branch, (_, column) in value.items()}
                    if all(len(column) for column in columns.values()):
                        file[name].extend(columns)
                else:
                    file[name] = value
        return path

    return write


@pytest.fixture(scope="session", autouse=True)
def quick() -> Iterator[None]:
    """No repeated calls for a time that nobody reads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "_BUDGET", 0.0)
        patch.setattr(timing, "_FEWEST", 1)
        yield


@pytest.fixture(scope="session")
def outcome(quick: None) -> job.Outcome:
    """The job done on a few events."""
    akjax.register()
    with jax.enable_x64(True):
        return job.run(load_synthetic(1500), steps=4)
