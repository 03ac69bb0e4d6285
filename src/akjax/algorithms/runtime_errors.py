"""Errors that only the values can tell: noted where they may occur, raised by a transformation that listens.

Inside a compiled program nothing can be raised. Where Awkward would raise because of a value, the result is
NaN or missing, and `check` says so to whoever `collecting` has put in charge; without one it does nothing
and adds nothing to the program.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Record: TypeAlias = "Callable[[Any, type[Exception], str], None]"

_record: contextvars.ContextVar[Record | None] = contextvars.ContextVar("akjax run-time errors", default=None)


def is_collecting() -> bool:
    """Whether anybody wants to know: what only `check` needs is computed only then."""
    return _record.get() is not None


def check(ok: Any, error: type[Exception], message: str) -> None:
    """Note that something goes wrong at run time unless all of `ok` holds.

    Args:
        ok: booleans of any shape, traced or not.
        error: the class of exception that eager Awkward raises.
        message: what it says.
    """
    record = _record.get()
    if record is not None:
        record(ok, error, message)


@contextlib.contextmanager
def collecting(record: Record) -> Iterator[None]:
    """Hand what `check` is told, while the block runs, to `record(ok, error, message)`."""
    token = _record.set(record)
    try:
        yield
    finally:
        _record.reset(token)
