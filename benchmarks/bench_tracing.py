"""How long it takes to trace and to lower one function, beside calling it eagerly.

Run with `pytest benchmarks/bench_tracing.py` (pytest-benchmark), or for a table with ratios
`python benchmarks/bench_tracing.py`: no trace should take more than twice the eager call.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest
from shapes import lists

import akjax

akjax.register()

X = lists("events")
FUNCTIONS: dict[str, Callable[[ak.Array], Any]] = {
    "x + 1": lambda x: x + 1,
    "x[x > 0]": lambda x: x[x > 0],
    "x[:, :2]": lambda x: x[:, :2],
    "sum": lambda x: ak.sum(x, axis=1),
    "num": lambda x: ak.num(x),
    "sort": lambda x: ak.sort(x, axis=1),
    "argsort as index": lambda x: x[ak.argsort(x, axis=1)],
    "argmin as index": lambda x: x[ak.argmin(x, axis=1, keepdims=True)],
    "combinations of 2": lambda x: ak.combinations(x, 2),
    "combinations of 3": lambda x: ak.combinations(x, 3),
    "cartesian": lambda x: ak.cartesian([x, x[:, :2]]),
    "cartesian, nested": lambda x: ak.cartesian([x, x[:, :2]], nested=True),
    "concatenate": lambda x: ak.concatenate([x, x], axis=1),
    "pad_none": lambda x: ak.pad_none(x, 3, axis=1),
    "firsts": lambda x: ak.firsts(x),
    "flatten": lambda x: ak.flatten(x),
    "zip": lambda x: ak.zip({"a": x, "b": x}),
    "histogram": lambda x: np.histogram(ak.flatten(x), bins=50, range=(-3, 3))[0],
}


def program(f: Callable[[ak.Array], Any], x: ak.Array) -> Any:
    """Lower without what is remembered of a trace before."""
    return jax.jit(lambda x: f(x)).lower(x)


@pytest.mark.parametrize("name", FUNCTIONS)
class TestTracing:
    def test_eager(self, benchmark: Any, name: str) -> None:
        benchmark.pedantic(FUNCTIONS[name], args=(X,), rounds=3, warmup_rounds=1)

    def test_exact(self, benchmark: Any, name: str) -> None:
        benchmark.pedantic(program, args=(FUNCTIONS[name], X), rounds=3, warmup_rounds=1)

    def test_traced(self, benchmark: Any, name: str) -> None:
        benchmark.pedantic(program, args=(FUNCTIONS[name], akjax.traced(X)), rounds=3, warmup_rounds=1)


def _best(f: Callable[..., Any], *args: Any) -> tuple[float, float]:
    """Milliseconds of the clock and of the processor, the best of three."""
    found = []
    for _ in range(3):
        start, before = time.perf_counter(), time.process_time()
        f(*args)
        found.append((1e3 * (time.perf_counter() - start), 1e3 * (time.process_time() - before)))
    return min(found)


def main() -> int:
    """Print the table."""
    padded = akjax.traced(X)
    print(f"{len(X):,} lists, {int(ak.count(X)):,} numbers; milliseconds to trace and lower (of the processor)")
    print(f"{'':<20} {'eager':>16} {'exact':>16} {'traced':>16} {'exact / eager':>14}")
    for name, f in FUNCTIONS.items():
        eager, exact, traced = _best(f, X), _best(program, f, X), _best(program, f, padded)
        cells = " ".join(f"{clock:>8.1f} ({cpu:>5.0f})" for clock, cpu in (eager, exact, traced))
        print(f"{name:<20} {cells} {exact[1] / max(eager[1], 0.1):>13.2f}x", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
