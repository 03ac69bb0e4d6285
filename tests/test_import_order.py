"""The one-way order of the package, and which libraries and private names a file may use; by ``ast``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parent.parent / "src" / "akjax"

# A module imports only from lower tiers or its own folder. Imports inside functions count too.
TIERS: tuple[frozenset[str], ...] = (
    frozenset({"caches", "errors", "_compat", "_config"}),
    frozenset({"registry", "pydag", "kernels"}),
    frozenset({"nodes"}),
    frozenset({"structure"}),
    frozenset({"algorithms"}),
    frozenset({"highlevel"}),
    frozenset({"functions"}),
    frozenset({"transforms", "behaviors"}),
    frozenset({"_coverage", "debug", "demo", "__init__"}),
)
TIER = {name: number for number, names in enumerate(TIERS) for name in names}
TOP = len(TIERS) - 1  # what is made of the public names, and what gathers them: these may import each other

# Libraries a folder does not know; and the files in it that are the exception.
UNKNOWN: dict[str, frozenset[str]] = {
    "pydag": frozenset({"jax", "jaxlib", "awkward"}),
    "kernels": frozenset({"awkward"}),
}
EXCEPT: dict[str, frozenset[str]] = {"pydag/jax.py": frozenset({"jax", "jaxlib"})}

# Private names of these are used in one file only.
GUARDED = frozenset({"awkward", "jax", "jaxlib", "vector"})
PRIVATE_ALLOWED = frozenset({"_compat.py"})

FILES = sorted(path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py"))


def module_of(file: str) -> tuple[str, ...]:
    """``nodes/list.py`` → ``("akjax", "nodes", "list")``; a package keeps its ``__init__``."""
    return ("akjax", *file.removesuffix(".py").split("/"))


def imports(tree: ast.AST, file: str) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of everything imported anywhere in a file."""
    package = module_of(file)[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            base = ".".join(part for part in (base, node.module or "") if part)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def part_of(name: str) -> str:
    """The part of akjax that an absolute name belongs to: ``akjax.nodes.flat`` → ``nodes``."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in TIER else "__init__"


def order_errors(source: str, file: str) -> list[str]:
    own = module_of(file)[1]
    if own not in TIER:
        return [f"{file}: {own!r} has no tier; give it one in {Path(__file__).name}"]
    found = []
    for line, name in imports(ast.parse(source), file):
        if name.split(".")[0] != "akjax":
            continue
        other = part_of(name)
        if other == own or TIER[other] < TIER[own] or TIER[other] == TIER[own] == TOP:
            continue
        found.append(f"{file}:{line}: {own} (tier {TIER[own]}) imports {name} (tier {TIER[other]})")
    return found


def library_errors(source: str, file: str) -> list[str]:
    unknown = UNKNOWN.get(module_of(file)[1], frozenset()) - EXCEPT.get(file, frozenset())
    return [
        f"{file}:{line}: imports {name}"
        for line, name in imports(ast.parse(source), file)
        if name.split(".")[0] in unknown
    ]


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def chain(node: ast.expr) -> tuple[str | None, list[str]]:
    """``ak.Array(x)._layout`` → ``("ak", ["Array", "_layout"])``; None for what does not start at a name."""
    names: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=inner, attr=attr):
                names.append(attr)
                node = inner
            case ast.Call(func=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Name(id=name):
                return name, names[::-1]
            case _:
                return None, []


def private_errors(source: str, file: str) -> list[str]:
    if file in PRIVATE_ALLOWED:
        return []
    tree = ast.parse(source)
    found: list[str] = []
    bound: dict[str, str] = {}  # local name → what of a guarded library it stands for
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (root := alias.name.split(".")[0]) in GUARDED:
                    bound[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            if module.split(".")[0] in GUARDED:
                for alias in node.names:
                    bound[alias.asname or alias.name] = f"{module}.{alias.name}"
    for line, name in imports(tree, file):
        root, *rest = name.split(".")
        if root in GUARDED and any(map(is_private, rest)):
            found.append(f"{file}:{line}: imports {name}")
    dotted = re.compile(rf"({'|'.join(sorted(GUARDED))})(\.\w+)+")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            root, names = chain(node)
            if root in bound:
                found.append(f"{file}:{node.lineno}: uses {'.'.join([bound[root], *names])}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2:
            match node.func.id, node.args[1]:
                case "getattr" | "setattr" | "delattr" | "hasattr", ast.Constant(value=str(attr)):
                    root, names = chain(node.args[0])
                    if root in bound and is_private(attr):
                        found.append(f"{file}:{node.lineno}: uses {'.'.join([bound[root], *names, attr])}")
        elif (
            isinstance(node, ast.Constant)
            and isinstance(text := node.value, str)
            and dotted.fullmatch(text)
            and any(map(is_private, text.split(".")))
        ):
            found.append(f"{file}:{node.lineno}: names {text}")
    return found


@pytest.mark.parametrize("file", FILES)
def test_tiers(file: str) -> None:
    assert order_errors((SRC / file).read_text("utf-8"), file) == []


@pytest.mark.parametrize("file", FILES)
def test_libraries(file: str) -> None:
    assert library_errors((SRC / file).read_text("utf-8"), file) == []


@pytest.mark.parametrize("file", FILES)
def test_private_names(file: str) -> None:
    assert private_errors((SRC / file).read_text("utf-8"), file) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("kernels/live.py", "from akjax.nodes import flat"),
        ("kernels/live.py", "from ..nodes.flat import Flat"),
        ("kernels/live.py", "from .. import registry"),
        ("kernels/live.py", "def f():\n    import akjax.transforms.pytree"),
        ("kernels/live.py", "import akjax"),
        ("registry.py", "from . import highlevel"),
        ("registry.py", "from akjax import register"),
        ("nodes/__init__.py", "from ..algorithms import x"),
        ("nodes/__init__.py", "from ..structure import x"),
        ("errors.py", "from ._config import x"),
        ("novel.py", ""),
    ],
)
def test_tiers_are_seen(file: str, source: str) -> None:
    assert len(order_errors(source, file)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("kernels/live.py", "from . import partition\nfrom .partition import x\nfrom ..errors import E"),
        ("nodes/__init__.py", "from .flat import Flat as Flat\nfrom ..pydag import flatten"),
        ("nodes/__init__.py", "from .. import errors\nfrom akjax import registry, errors"),
        ("__init__.py", "from . import debug as debug\nfrom .transforms.pytree import x as x"),
        ("demo/cli.py", "import akjax\nfrom .analysis import run"),
    ],
)
def test_tiers_allow(file: str, source: str) -> None:
    assert order_errors(source, file) == []


@pytest.mark.parametrize(
    ("file", "source", "count"),
    [
        ("pydag/flatten.py", "import jax.numpy as jnp", 1),
        ("pydag/flatten.py", "def f():\n    from awkward import Array", 1),
        ("pydag/jax.py", "import jax", 0),
        ("pydag/jax.py", "import awkward", 1),
        ("kernels/live.py", "import jax\nimport numpy", 0),
        ("kernels/live.py", "import awkward as ak", 1),
        ("kernels/live.py", "from . import awkward", 0),
    ],
)
def test_libraries_are_seen(file: str, source: str, count: int) -> None:
    assert len(library_errors(source, file)) == count


@pytest.mark.parametrize(
    "source",
    [
        "import awkward._do",
        "from awkward import _do",
        "from awkward._do import x",
        "from jax._src.core import Tracer",
        "from jax._src import core",
        "import awkward as ak\nak._do.f()",
        "import awkward as ak\nak.Array(x)._layout",
        "import awkward as ak\nak.contents.Content._to_list",
        "from awkward.contents import Content as C\nC._to_list",
        "import jax.numpy as jnp\njnp._f",
        "def f():\n    import jax\n    return jax.lax._f",
        "import vector\nvector._compute.planar",
        "import awkward as ak\ngetattr(ak.Array, '_layout')",
        "import importlib\nimportlib.import_module('jax._src.core')",
    ],
)
def test_private_names_are_seen(source: str) -> None:
    assert len(private_errors(source, "nodes/flat.py")) == 1
    assert private_errors(source, "_compat.py") == []


@pytest.mark.parametrize(
    "source",
    [
        "from .. import _compat\n_compat._x",
        "from .._compat import x",
        "import awkward as ak\nak.__version__\nak.Array.__getitem__",
        "import numpy as np\nself._layout\nnp.x",
        '"""Never uses awkward._do or jax._src."""',
    ],
)
def test_private_names_allow(source: str) -> None:
    assert private_errors(source, "nodes/flat.py") == []
