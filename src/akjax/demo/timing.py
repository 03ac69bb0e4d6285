"""Fair clocks: the first call apart, then the median of many, each waited for."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

__all__ = ["Timing", "measure"]

_BUDGET = 1.0
_FEWEST, _MOST = 5, 50
_wait: Callable[[Any], Any] = jax.block_until_ready


@dataclass(frozen=True)
class Timing:
    """Seconds.

    Attributes:
        first: Of the first call; for a compiled function that is tracing and compiling and one run.
        median: Of the calls after it.
        calls: How many those were.
    """

    first: float
    median: float
    calls: int


def measure(function: Callable[..., Any], *args: Any) -> tuple[Any, Timing]:
    """Call a function again and again for about a second.

    Returns:
        The result of the last call, and the times.
    """
    result, first = _once(function, args)
    seconds: list[float] = []
    while len(seconds) < _FEWEST or (sum(seconds) < _BUDGET and len(seconds) < _MOST):
        result, once = _once(function, args)
        seconds.append(once)
    return result, Timing(first, statistics.median(seconds), len(seconds))


def _once(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = _wait(function(*args))
    return result, time.perf_counter() - start
