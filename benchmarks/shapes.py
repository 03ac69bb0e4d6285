"""Lists of fixed shapes: a million numbers each (or fewer), from a fixed seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import awkward as ak
import numpy as np

__all__ = ["LISTS", "NUMBERS", "lists"]

NUMBERS = int(float(os.environ.get("BENCH_NUMBERS", "1e6")))
"""About how many numbers there are in all lists; `BENCH_NUMBERS=2e4` for a quick try."""

_rng = np.random.default_rng(0)

LISTS: dict[str, Callable[[], Any]] = {
    "few long": lambda: np.full(100, NUMBERS // 100),
    "many short": lambda: _rng.poisson(0.5, 2 * NUMBERS),
    "equal": lambda: np.full(NUMBERS // 4, 4),
    "events": lambda: _rng.negative_binomial(5, 0.5, NUMBERS // 5),
    "heavy tail": lambda: np.minimum(_rng.zipf(1.8, NUMBERS // 4) - 1, 1000),
}
"""The lengths of the lists, by what they are like."""


def lists(shape: str, dtype: Any = np.float32) -> ak.Array:
    """Random numbers in lists of this shape."""
    counts = LISTS[shape]()
    return ak.unflatten(_rng.normal(size=int(counts.sum())).astype(dtype), counts)
