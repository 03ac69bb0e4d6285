"""What one call costs: flattening, and the dispatch of a jitted identity.

Run with `pytest benchmarks/bench_calls.py` (pytest-benchmark).
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest

import akjax

akjax.register()

RNG = np.random.default_rng(0)
FIELDS = [1, 20, 200]
ROWS = [1_000, 100_000, 1_000_000]
PAIRS = [(fields, rows) for fields in FIELDS for rows in ROWS if fields * rows <= 20_000_000]


def record(fields: int, rows: int) -> ak.Array:
    """Fields that are lists of one structure each, every one with offsets of its own."""
    columns = {}
    for number in range(fields):
        counts = RNG.poisson(1, rows)
        columns[f"f{number}"] = ak.unflatten(np.ones(int(counts.sum()), np.float32), counts)
    return ak.Array(columns)


@pytest.mark.parametrize(("fields", "rows"), PAIRS)
class TestCalls:
    def test_flatten_first(self, benchmark: Any, fields: int, rows: int) -> None:
        """An array that was not seen before: its structure is compared by value."""
        array = record(fields, rows)

        def fresh() -> tuple[tuple[Any], dict[str, Any]]:
            return (ak.Array(array.layout),), {}

        benchmark.pedantic(jax.tree.flatten, setup=fresh, rounds=5, warmup_rounds=1)

    def test_flatten_again(self, benchmark: Any, fields: int, rows: int) -> None:
        array = record(fields, rows)
        benchmark(jax.tree.flatten, array)

    def test_flatten_result(self, benchmark: Any, fields: int, rows: int) -> None:
        """What came out of one call and goes into the next."""
        benchmark(jax.tree.flatten, jax.device_put(record(fields, rows)))

    def test_call(self, benchmark: Any, fields: int, rows: int) -> None:
        identity = jax.jit(lambda array: array)
        array = jax.block_until_ready(identity(record(fields, rows)))
        benchmark(identity, array)

    def test_call_of_buffers(self, benchmark: Any, fields: int, rows: int) -> None:
        """The same buffers in a list, for comparison."""
        identity = jax.jit(lambda buffers: buffers)
        leaves = jax.block_until_ready(identity(jax.tree.leaves(record(fields, rows))))
        benchmark(identity, leaves)
