"""Leave out the cases listed as open: a pytest plugin, and ``--count FILE`` on the command line.

A line is ``<node id>  # <reason>``. The node id, relative to the root of the run, may hold spaces and
brackets. It may name one test, a function with all its parameters, or a file. A line without a reason, a line
twice, and a line that names no test are errors.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest


def read(path: Path) -> dict[str, str]:
    """Node id → reason."""
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, separator, reason = line.partition("  # ")
        name = name.strip()
        if not separator or not reason.strip():
            message = f"{path.name}:{number}: expected '<node id>  # <reason>'"
            raise ValueError(message)
        if name in found:
            message = f"{path.name}:{number}: {name} is listed twice"
            raise ValueError(message)
        found[name] = reason.strip()
    return found


def names_of(nodeid: str) -> Iterable[str]:
    """What a line may say to mean this test: itself, its function, its file."""
    yield nodeid
    yield nodeid.partition("[")[0]
    yield nodeid.partition("::")[0]


class OpenCases:
    def __init__(self, path: Path) -> None:
        self.open = read(path)

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        at = collection_path
        inside = at.is_relative_to(config.rootpath)
        return True if inside and at.relative_to(config.rootpath).as_posix() in self.open else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        seen: set[str] = set()
        kept: list[pytest.Item] = []
        gone: list[pytest.Item] = []
        for item in items:
            hits = {name for name in names_of(item.nodeid) if name in self.open}
            seen |= hits
            (gone if hits else kept).append(item)
        unknown = sorted(name for name in self.open if name not in seen and not (config.rootpath / name).is_file())
        if unknown and "PYTEST_XDIST_WORKER" not in os.environ:  # .ci/run collects first
            message = "listed as open, but no such case: " + "; ".join(unknown)
            raise pytest.UsageError(message)
        if gone:
            config.hook.pytest_deselected(items=gone)
            items[:] = kept


def pytest_configure(config: pytest.Config) -> None:
    if path := os.environ.get("AKJAX_CASES_OPEN"):
        config.pluginmanager.register(OpenCases(Path(path)), "akjax-open-cases")


if __name__ == "__main__":
    print(len(read(Path(sys.argv[2]))))
