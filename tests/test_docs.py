"""Every Python block of the README and the documentation runs: in order, a fresh process a page, no warnings.

A block is fenced with three or more backticks and marked ``python``, ``pycon`` or ``{code-cell}``. Blocks of
a page share their names. A block with ``>>>`` prompts is also compared with the output it shows.
``<!-- skip: reason -->`` on the line before a block leaves it out; the reason is not optional.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,})(?P<info>(?:python|pycon|\{code-cell\})(?: .*)?)")
OTHER = re.compile(r" *(`{3,})[^`]*")
SKIP = re.compile(r"\s*<!--\s*skip\b(?::\s*(?P<reason>.*?))?\s*-->\s*")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    line: int  # of the first line of code, from 1
    code: str


def blocks(text: str) -> list[Block]:
    """The blocks of a page that are to be run."""
    lines = text.splitlines()
    found: list[Block] = []
    at = 0
    while at < len(lines):
        opening = FENCE.fullmatch(lines[at].rstrip())
        at += 1
        if opening is None:
            if other := OTHER.fullmatch(lines[at - 1]):  # a block of something else: pass over it
                while at < len(lines) and lines[at].strip() != other[1]:
                    at += 1
                at += 1
            continue
        indent, first = len(opening["indent"]), at
        while at < len(lines) and lines[at].strip() != opening["ticks"]:
            at += 1
        if at == len(lines):
            message = f"line {first}: the block is not closed"
            raise ValueError(message)
        code = [line[indent:] for line in lines[first:at]]
        at += 1
        above = next((line for line in reversed(lines[: first - 1]) if line.strip()), "")
        if skip := SKIP.fullmatch(above):
            if not skip["reason"]:
                message = f"line {first}: a skipped block needs a reason, <!-- skip: reason -->"
                raise ValueError(message)
            continue
        # the options of a directive
        while opening["info"].startswith("{") and code and code[0].startswith(":"):
            first, code = first + 1, code[1:]
        found.append(Block(first + 1, "\n".join(code) + "\n"))
    return found


def run(page: Path) -> None:
    """Run the blocks of one page in this process."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text("utf-8")):
        if block.code.lstrip().startswith(">>>"):
            parse = doctest.DocTestParser().get_doctest
            test = parse(block.code, names, page.name, str(page), block.line - 1)
            runner = doctest.DocTestRunner(optionflags=OPTIONS)
            runner.run(test, clear_globs=False)
            names.update(test.globs)
            if runner.failures:
                raise SystemExit(1)
        else:
            exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), names)


PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    if page.is_file() and "_build" not in page.parts and "jupyter_execute" not in page.parts
]


def run_apart(page: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a page as its reader would: JAX's own defaults, apart from the platform."""
    changed = {"JAX_ENABLE_X64", "XLA_FLAGS"}
    env = {name: value for name, value in os.environ.items() if name not in changed}
    env |= {"MPLBACKEND": "agg", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-P", "-W", "error", str(Path(__file__).resolve()), str(page)]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", check=False, timeout=300
    )


@pytest.mark.parametrize("page", PAGES)
def test_page_runs(page: str, tmp_path: Path) -> None:
    if not blocks((ROOT / page).read_text("utf-8")):
        return
    done = run_apart(ROOT / page, tmp_path)
    if done.returncode:
        pytest.fail(f"{page}\n{done.stdout}{done.stderr}", pytrace=False)


@pytest.mark.parametrize(
    ("text", "passes", "says"),
    [
        ("```python\nx = 1\n```\ntext\n```python\nassert x == 1\n```\n", True, ""),
        ("- item\n\n  ```python\n  if True:\n      x = 1\n  ```\n", True, ""),
        ("```\nnot python\n```\n\n```text\n```python\n```\n", True, ""),
        ("```{code-cell} ipython3\n:tags: [x]\nx = 1\n```\n", True, ""),
        ("```python\n>>> 1 + 1\n2\n>>> y = 3\n```\n\n```python\nassert y == 3\n```\n", True, ""),
        ("```python\n>>> 1 + 1\n3\n```\n", False, "Expected:\n    3\nGot:\n    2"),
        ("text\n\n```python\nx = 1\n1 / 0\n```\n", False, "line 5"),
        ("```python\nimport warnings\nwarnings.warn('seen')\n```\n", False, "UserWarning: seen"),
        ("<!-- skip: needs a file -->\n```python\n1 / 0\n```\n", True, ""),
        ("<!-- skip -->\n```python\n1 / 0\n```\n", False, "needs a reason"),
        ("```python\nx = 1\n", False, "is not closed"),
    ],
)
def test_runner(text: str, passes: bool, says: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, "utf-8")
    done = run_apart(page, tmp_path)
    assert (done.returncode == 0) == passes, done.stdout + done.stderr
    assert says in done.stdout + done.stderr


if __name__ == "__main__":
    run(Path(sys.argv[1]))
