"""`akjax.stream` over chunks that differ in their lists, beside a loop over the chunks that is eager.

Run with `pytest benchmarks/bench_streams.py` (pytest-benchmark), or for a table of all queries, with ratios,
`python benchmarks/bench_streams.py [EVENTS_A_CHUNK [CHUNKS]]`. It also prints what `akjax.traced` costs beside a copy.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np
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


# --------------------------------------------------------------------------- the table


def _median(run: Callable[[list[ak.Array]], Any], chunks: list[ak.Array], repeats: int = 5) -> list[float]:
    """Milliseconds for all chunks, each of them new to akjax, as chunks of a stream are."""
    found = []
    for _ in range(repeats):
        new = [ak.Array(chunk.layout, behavior=chunk.behavior) for chunk in chunks]
        start = time.perf_counter()
        jax.block_until_ready(run(new))
        found.append(1e3 * (time.perf_counter() - start))
    return float(np.median(found))


def _copied(chunks: list[ak.Array]) -> list[Any]:
    return [[np.array(buffer) for buffer in ak.to_buffers(chunk)[2].values()] for chunk in chunks]


def main(events: int = 100_000, count: int = 10) -> int:
    """Print the table."""
    chunks = [generate(events, seed) for seed in range(count)]
    print(f"{count} chunks of {events:,} events; milliseconds for all of them")
    sizes = akjax.envelope(chunks)
    copy = _median(_copied, chunks)
    traced = _median(lambda new: [akjax.traced(chunk, like=sizes) for chunk in new], chunks)
    print(f"{'a copy of all buffers':<24} {copy:>10.1f}")
    print(f"{'akjax.traced':<24} {traced:>10.1f}   {traced / copy:.2f} of a copy")
    ratios = []
    for name, query in QUERIES.items():
        f = jax.jit(query)
        akjax.stream(f, chunks)  # compiles
        eager = _median(lambda new, query=query: [query(chunk) for chunk in new], chunks, 3)
        streamed = _median(lambda new, f=f: akjax.stream(f, new), chunks)
        ratios.append(eager / streamed)
        print(f"{name:<24} {eager:>10.1f} {streamed:>10.1f}   {eager / streamed:.2f} times faster", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{'geometric mean':<24} {'eager':>10} {'streamed':>10}   {mean:.2f} times faster")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(int(float(argument)) for argument in sys.argv[1:])))
