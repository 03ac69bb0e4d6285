"""The coverage table: nothing of Awkward is unknown, and the page says what the registry says."""

from __future__ import annotations

import re
from pathlib import Path

import awkward as ak
import pytest

import akjax
from akjax import _coverage, registry

akjax.register()

PAGE = Path(__file__).resolve().parent.parent / "docs" / "coverage.md"
WRITE = "python -m akjax._coverage > docs/coverage.md (with the newest Awkward)"


def lines() -> dict[str, str]:
    """The rows of the page, by name."""
    return {line.split("`")[1]: line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")}


def test_every_function_is_known() -> None:
    unknown = _coverage.unknown()
    assert not unknown, f"Awkward {ak.__version__} has functions that the registry lacks: {unknown}"


def test_an_unknown_function_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry._entries, ak.flatten)
    assert _coverage.unknown() == ["ak.flatten"]


def test_the_page_is_up_to_date() -> None:
    """Names that an older Awkward has not are on the page all the same."""
    want = lines()
    for name, row in _coverage.rows().items():
        assert want.get(name) == row, f"{name}: write the page again with {WRITE}"
    head = PAGE.read_text("utf-8").split("| function")[0]
    assert _coverage.page().startswith(head), f"write the page again with {WRITE}"


def test_every_reason_is_given() -> None:
    for function, entry in registry.entries().items():
        assert (entry.route == "host") == bool(entry.host_only), function


def test_the_page_names_what_has_no_gradient() -> None:
    without = {re.findall(r"no: (.*) \|", line)[0] for line in lines().values() if "| no: " in line}
    assert without == {registry.BOOLEANS, registry.CONSTANT, registry.INTEGERS, registry.TEXT, registry.TYPE}
