"""Functions compiled and eager on lists of several shapes, and gradients beside their value.

Run with `pytest benchmarks/bench_functions.py` (pytest-benchmark).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest
from shapes import LISTS, lists

import akjax

akjax.register()

# each function is compiled for all shapes, which is what is measured
pytestmark = pytest.mark.filterwarnings("ignore::akjax.RetraceWarning")

FUNCTIONS: dict[str, Callable[[ak.Array], Any]] = {
    "cut and sum": lambda x: ak.sum(x[x > 0], axis=1),
    "select rows": lambda x: ak.sum(ak.sum(x, axis=1)[ak.num(x[x > 0]) >= 2]),
    "max": lambda x: ak.max(x, axis=1),
    "argmax": lambda x: ak.argmax(x, axis=1),
    "sort": lambda x: ak.sort(x, axis=1),
    "first two": lambda x: ak.sum(ak.pad_none(x, 2, axis=1, clip=True)),
    "histogram": lambda x: np.histogram(ak.flatten(x), bins=50, range=(-3, 3))[0],
    "total": lambda x: ak.sum(np.cos(x)),
}


def cosines(x: ak.Array) -> Any:
    one, two = ak.unzip(ak.combinations(x, 2))
    return ak.sum(np.cos(one) * np.cos(two))


# of lists that are not long
PAIRED: dict[str, Callable[[ak.Array], Any]] = {
    "pairs": lambda x: ak.sum(ak.prod(ak.concatenate(ak.unzip(ak.combinations(x, 2)), axis=1), axis=1)),
    "total of pairs": cosines,
}
CASES = [(name, f, shape) for name, f in FUNCTIONS.items() for shape in LISTS] + [
    (name, f, "events") for name, f in PAIRED.items()
]


def run(benchmark: Any, f: Callable[..., Any], x: Any) -> None:
    compiled = jax.jit(f)
    placed = jax.device_put(x)
    jax.block_until_ready(compiled(placed))
    benchmark.pedantic(lambda: jax.block_until_ready(compiled(placed)), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize(("name", "f", "shape"), CASES, ids=[f"{name}, {shape}" for name, _, shape in CASES])
class TestFunctions:
    def test_eager(self, benchmark: Any, name: str, f: Any, shape: str) -> None:
        x = lists(shape)
        benchmark.pedantic(lambda: f(x), rounds=3, warmup_rounds=1)

    def test_exact(self, benchmark: Any, name: str, f: Any, shape: str) -> None:
        run(benchmark, f, lists(shape))

    def test_traced(self, benchmark: Any, name: str, f: Any, shape: str) -> None:
        run(benchmark, f, akjax.traced(lists(shape)))


LOSSES: dict[str, Callable[[ak.Array], Any]] = {
    "soft cut": lambda x: ak.sum(x / (1 + np.exp(-x))),
    "sum of squares of sums": lambda x: ak.sum(ak.sum(x, axis=1) ** 2),
    "max": lambda x: ak.sum(ak.max(x, axis=1)),
    "total of pairs": PAIRED["total of pairs"],
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("prepared", [lambda x: x, akjax.traced], ids=["exact", "traced"])
class TestGradients:
    def test_value(self, benchmark: Any, name: str, prepared: Any) -> None:
        run(benchmark, LOSSES[name], prepared(lists("events")))

    def test_gradient(self, benchmark: Any, name: str, prepared: Any) -> None:
        def value(moving: Any, fixed: Any) -> Any:
            return LOSSES[name](akjax.combine(moving, fixed))

        moving, fixed = akjax.partition(prepared(lists("events")))
        run(benchmark, lambda both: jax.grad(value)(*both), (moving, fixed))
