"""Where the events come from: the sample in the package, the generator, or a NanoAOD file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt

from akjax.demo.errors import DemoError
from akjax.demo.generator import SAMPLE_EVENTS, generate, read_sample

__all__ = ["Loaded", "load_file", "load_synthetic"]

REQUIRED = ("pt", "eta", "phi", "mass", "charge")
ISOLATION = ("Muon_pfRelIso04_all", "Muon_pfRelIso03_all")
"""The first of these that a file has becomes `iso`."""


@dataclass(frozen=True)
class Loaded:
    """Events, and what to say about them.

    Attributes:
        events: With `Muon: var * {pt, eta, phi, mass, charge}` and perhaps `iso`; float64, the charge int32.
        source: Where they come from, for titles.
        notes: Lines for the user.
    """

    events: ak.Array
    source: str
    notes: tuple[str, ...] = ()

    @property
    def has_isolation(self) -> bool:
        """Whether the muons have an `iso`."""
        return "iso" in self.events.Muon.fields


def load_synthetic(events: int | None = None) -> Loaded:
    """Load the sample in the package, or make more events than it has.

    Args:
        events: How many; without a number, all of the sample.
    """
    if events is not None and events > SAMPLE_EVENTS:
        muons = generate(events).Muon
        notes: tuple[str, ...] = (f"the sample has {SAMPLE_EVENTS} events: the generator makes {events}",)
    else:
        with as_file(files("akjax.demo") / "data" / "dimuon_synthetic.npz") as path:
            muons = read_sample(path).Muon[:events]
        notes = ()
    return _loaded({field: muons[field] for field in muons.fields}, "synthetic sample", notes)


def load_file(path: str | Path, events: int | None = None) -> Loaded:
    """Load the muons of a NanoAOD file, a tree or an RNTuple.

    Args:
        path: The file.
        events: At most so many, the first ones.

    Raises:
        DemoError: uproot is missing, the file cannot be read or has not what is needed.
    """
    path = Path(path)
    if find_spec("uproot") is None:
        msg = 'reading a ROOT file needs uproot: pip install "akjax[root]"'
        raise DemoError(msg)
    if not path.exists():
        msg = f"{path}: no such file"
        raise DemoError(msg)
    if not path.is_file():
        msg = f"{path}: not a file"
        raise DemoError(msg)
    columns, entries = _read(path, events)
    notes = []
    if events is not None and events > entries:
        notes.append(f"{path.name} has {entries} events, all of them are used")
    if "iso" not in columns:
        notes.append(f"{path.name} has no {' and no '.join(ISOLATION)}: cuts on pt and |eta| only")
    return _loaded(columns, path.name, tuple(notes))


def _read(path: Path, events: int | None) -> tuple[dict[str, ak.Array], int]:
    """The columns of the muons by field, and how many events the file has."""
    import uproot

    try:
        file = uproot.open(path)
    except ValueError:
        msg = f"{path}: not a ROOT file"
        raise DemoError(msg) from None
    except Exception as error:
        raise _unreadable(path, error) from error
    with file:
        tree = _events_tree(file, path)
        names = set(tree.keys())
        missing = [f"Muon_{field}" for field in REQUIRED if f"Muon_{field}" not in names]
        if missing:
            msg = f"{path}: the Events tree has no branch {', '.join(missing)}; the demo reads NanoAOD muons"
            raise DemoError(msg)
        entries = int(tree.num_entries)
        if entries == 0:
            msg = f"{path}: the Events tree is empty"
            raise DemoError(msg)
        branches = {field: f"Muon_{field}" for field in REQUIRED}
        isolation = next((name for name in ISOLATION if name in names), None)
        if isolation is not None:
            branches["iso"] = isolation
        try:
            columns = {field: tree[name].array(entry_stop=events) for field, name in branches.items()}
        except Exception as error:
            raise _unreadable(path, error) from error
    for field, column in columns.items():
        if column.ndim != 2 or not np.issubdtype(_numbers(column).dtype, np.number):
            msg = f"{path}: {branches[field]} is {column.type}, not a list of numbers for each event"
            raise DemoError(msg)
        if not ak.array_equal(ak.num(column), ak.num(columns["pt"])):
            msg = f"{path}: {branches[field]} and Muon_pt count different muons"
            raise DemoError(msg)
    return columns, entries


def _events_tree(file: Any, path: Path) -> Any:
    """The Events tree of an open file."""
    there = file.keys(recursive=False, cycle=False)
    if "Events" not in there:
        what = ", ".join(there) or "nothing"
        msg = f"{path}: no Events tree in it, but {what}; the demo reads NanoAOD files"
        raise DemoError(msg)
    try:
        tree = file["Events"]
    except Exception as error:
        raise _unreadable(path, error) from error
    if not (hasattr(tree, "num_entries") and hasattr(tree, "keys")):
        msg = f"{path}: Events is not a tree but a {tree.classname}"
        raise DemoError(msg)
    return tree


def _unreadable(path: Path, error: Exception) -> DemoError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return DemoError(f"{path}: cannot be read, cut short or damaged ({first.rstrip(',')})")


def _loaded(columns: dict[str, ak.Array], source: str, notes: tuple[str, ...]) -> Loaded:
    """Widen the columns to float64, so that no mass crosses a bin edge by rounding, and drop broken muons."""
    counts = ak.num(columns["pt"])
    flat = {field: _numbers(column).astype(np.float64) for field, column in columns.items()}
    broken = ~np.logical_and.reduce([flat["pt"] > 0.0, *(np.isfinite(column) for column in flat.values())])
    if broken.any():
        notes = (*notes, f"{int(broken.sum())} muons with pt 0 or a number that is not finite are left out")
        counts = ak.sum(ak.unflatten(ak.Array(~broken), counts), axis=1)
        flat = {field: column[~broken] for field, column in flat.items()}
    muons = {field: ak.Array(column) for field, column in flat.items()}
    muons["charge"] = ak.Array(flat["charge"].astype(np.int32))
    return Loaded(ak.Array({"Muon": ak.unflatten(ak.Array(muons), counts)}), source, notes)


def _numbers(column: ak.Array) -> npt.NDArray[Any]:
    return np.asarray(ak.to_numpy(ak.flatten(column, axis=None)))
