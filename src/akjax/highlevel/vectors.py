"""vector's formulas on traced arrays, and on the other vectors that stand beside them.

A formula of vector computes with the one library that all its vectors name, and raises when they name several.
Inside a transformation every vector names ours, so that arrays from outside it, `vector.obj` and NumPy vectors
can be mixed with traced ones.
"""

from __future__ import annotations

import sys
from typing import Any

from .. import _compat
from .facade import BACKEND

_adapted: set[type] = set()


def adapt(cls: type) -> None:
    """Let the vectors of vector name our library while something is traced; `cls` may be any class."""
    bases = [base for base in cls.__mro__ if base.__module__.startswith("vector.backends.") and "lib" in vars(base)]
    if not bases:
        return
    for name in ("object", "numpy"):
        module: Any = sys.modules.get(f"vector.backends.{name}")
        bases += [found for found in vars(module).values() if isinstance(found, type) and "lib" in vars(found)]
    for base in bases:
        if base not in _adapted:
            _adapted.add(base)
            base.lib = _Library(vars(base)["lib"])  # type: ignore[attr-defined]


class _Library:
    """The attribute `lib` of a vector's class: as it was, and ours while something is traced."""

    def __init__(self, before: Any) -> None:
        self._before = before

    def __get__(self, vector: Any, owner: type | None = None) -> Any:
        if vector is not None and _compat.is_tracing():
            return BACKEND.nplike
        return self._before.__get__(vector, owner) if hasattr(self._before, "__get__") else self._before
