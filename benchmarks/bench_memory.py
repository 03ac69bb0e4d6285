"""The largest memory of a fresh process that runs one query: eager, compiled, and compiled with `akjax.traced`.

python benchmarks/bench_memory.py --events 1e6 --queries q5,q6
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

WAYS = ("nothing", "eager", "exact", "traced")


def run(way: str, query: str, events: int) -> None:
    """Run a query in this process and print the largest memory, in MB; `nothing` only makes the events."""
    import jax
    from queries.awkward_queries import QUERIES
    from queries.events import generate

    import akjax

    akjax.register()
    made = generate(events)
    f = QUERIES[query]
    if way == "eager":
        f(made)
    elif way != "nothing":
        jax.block_until_ready(jax.jit(f)(akjax.traced(made) if way == "traced" else made))
    scale = 1e6 if sys.platform == "darwin" else 1e3
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--queries", default="q1,q4,q5,q7")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        run(*options.one, options.events)
        return 0
    print(f"{options.events:,} events; largest memory in MB, and what a query needs beside the events")
    print(f"{'':<6}" + "".join(f"{way:>18}" for way in WAYS))
    for query in options.queries.split(","):
        found = []
        for way in WAYS:
            command = [sys.executable, __file__, "--events", str(options.events), "--one", way, query]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found.append(float(done.stdout))
        cells = "".join(f"{peak:>9.0f} (+{peak - found[0]:>5.0f})" for peak in found)
        print(f"{query:<6}{cells}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
