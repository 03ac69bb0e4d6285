"""Run-time errors reach whoever collects them, and nobody else."""

from __future__ import annotations

from typing import Any

from akjax.algorithms.runtime_errors import check, collecting, is_collecting


def test_told_only_while_somebody_collects() -> None:
    told: list[Any] = []
    check(False, ValueError, "before")
    with collecting(lambda *note: told.append(note)):
        assert is_collecting()
        check(True, IndexError, "during")
    check(False, ValueError, "after")
    assert told == [(True, IndexError, "during")]
    assert not is_collecting()


def test_the_innermost_is_told() -> None:
    outer: list[Any] = []
    inner: list[Any] = []
    with collecting(lambda *note: outer.append(note)):
        with collecting(lambda *note: inner.append(note)):
            check(False, ValueError, "inner")
        check(False, ValueError, "outer")
    assert [note[2] for note in inner] == ["inner"]
    assert [note[2] for note in outer] == ["outer"]
