"""`akjax.stream` over chunks that differ in their lists, beside a loop over the chunks that is eager.

Run with `pytest benchmarks/bench_streams.py` (pytest-benchmark).
"""

from __future__ import annotations

from typing import Any

import jax
import pytest
from queries.awkward_queries import QUERIES
from queries.events import generate
from shapes import NUMBERS

import akjax

akjax.register()

CHUNKS = [generate(NUMBERS // 20, seed) for seed in range(4)]


@pytest.mark.parametrize("query", ["q4", "q5", "q8"])
class TestStreams:
    def test_eager(self, benchmark: Any, query: str) -> None:
        benchmark.pedantic(lambda: [QUERIES[query](chunk) for chunk in CHUNKS], rounds=3, warmup_rounds=1)

    def test_stream(self, benchmark: Any, query: str) -> None:
        """Padding and the copy to the device are part of it."""
        f = jax.jit(QUERIES[query])
        benchmark.pedantic(lambda: jax.block_until_ready(akjax.stream(f, CHUNKS)), rounds=3, warmup_rounds=1)

    def test_traced(self, benchmark: Any, query: str) -> None:
        """Chunks that are padded and on the device already."""
        f = jax.jit(QUERIES[query])
        sizes = akjax.envelope(CHUNKS)
        placed = [akjax.traced(chunk, like=sizes) for chunk in CHUNKS]
        benchmark.pedantic(lambda: jax.block_until_ready([f(chunk) for chunk in placed]), rounds=3, warmup_rounds=1)


def test_padding(benchmark: Any) -> None:
    sizes = akjax.envelope(CHUNKS)
    benchmark.pedantic(
        lambda: jax.block_until_ready([akjax.traced(chunk, like=sizes) for chunk in CHUNKS]), rounds=3, warmup_rounds=1
    )
