"""The public names: sorted, documented in docs/api, each with an example."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import akjax

DOCS = Path(__file__).resolve().parent.parent / "docs" / "api"
PAGES = sorted(DOCS.glob("**/*.md"))
DOCUMENTED = {
    name: page.name for page in PAGES for name in re.findall(r"\bakjax\.([A-Za-z_]\w*)", page.read_text("utf-8"))
}
PLAIN = {"__version__"}  # a value: it can carry no docstring


def test_sorted_and_unique() -> None:
    assert list(akjax.__all__) == sorted(set(akjax.__all__))


@pytest.mark.parametrize("name", akjax.__all__)
def test_exists(name: str) -> None:
    assert hasattr(akjax, name)


@pytest.mark.parametrize("name", [name for name in akjax.__all__ if name not in PLAIN])
def test_is_documented(name: str) -> None:
    assert name in DOCUMENTED, f"docs/api/*.md nowhere says akjax.{name}"


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_documented_is_public(name: str) -> None:
    public = name in akjax.__all__ or importlib.util.find_spec(f"akjax.{name}") is not None
    assert public, f"docs/api/{DOCUMENTED[name]} speaks of akjax.{name}, which is not public"
    assert name in akjax.__all__ or not name.startswith("_"), f"akjax.{name} is private"


@pytest.mark.parametrize("name", [name for name in akjax.__all__ if name not in PLAIN])
def test_has_a_docstring_with_an_example(name: str) -> None:
    doc = getattr(akjax, name).__doc__ or ""
    assert doc.strip(), f"akjax.{name} has no docstring"
    assert ">>> " in doc, f"the docstring of akjax.{name} has no example"


def test_typed_and_versioned() -> None:
    assert Path(akjax.__file__).with_name("py.typed").is_file()
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|(a|b|rc)\d+)?", akjax.__version__)
