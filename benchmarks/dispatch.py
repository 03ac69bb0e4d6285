"""What `akjax.register()` costs: eager Awkward with and without it, and the dispatch of a jitted call.

    python benchmarks/dispatch.py            # both tables
    python benchmarks/dispatch.py --rounds 20

Eager: fresh processes with and without `register()` take turns, and the best time of each counts, so that
the ratio is one of this run. Dispatch: from the Python call to the return of a jitted identity on a record
with ragged fields, beside the same buffers in a plain dict.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import timeit
from typing import Any

EXPRESSIONS = ("x + 1", "x[0]", "ak.sum(x)", "ak.sum(x, axis=1)", "ak.num(x)", "x.fields", "len(x)")


def best(statement: Any, names: dict[str, Any] | None = None, number: int = 1000, repeat: int = 7) -> float:
    """Microseconds a call, the best of several."""
    return min(timeit.repeat(statement, globals=names, number=number, repeat=repeat)) / number * 1e6


def eager_times(register: bool) -> dict[str, float]:
    """Times of eager expressions in this process."""
    import awkward as ak

    if register:
        import akjax

        akjax.register()
    names = {"ak": ak, "x": ak.Array([[1.0, 2.0], [], [3.0]])}
    return {expression: best(expression, names) for expression in EXPRESSIONS}


def compare_eager(rounds: int) -> None:
    """Alternate processes with and without `register()`."""
    found: dict[str, dict[str, float]] = {"without": {}, "with": {}}
    for _ in range(rounds):
        for which, times in found.items():
            out = subprocess.run(
                [sys.executable, __file__, "--eager", which], capture_output=True, text=True, check=True
            )
            for expression, time in json.loads(out.stdout).items():
                times[expression] = min(time, times.get(expression, time))
    print(f"{'eager expression':<20} {'without':>10} {'with':>10} {'ratio':>7}")
    for expression in EXPRESSIONS:
        without, with_ = found["without"][expression], found["with"][expression]
        print(f"{expression:<20} {without:>7.2f} us {with_:>7.2f} us {with_ / without:>7.3f}")


def compare_dispatch() -> None:
    """A jitted identity on a record of ragged fields beside a dict of its buffers."""
    import awkward as ak
    import jax
    import numpy as np

    import akjax

    akjax.register()
    rng = np.random.default_rng(1)
    print(f"\n{'jitted identity':<34} {'dict':>10} {'ak.Array':>10} {'ratio':>7}")
    for fields in (1, 20, 200):
        for lists in (1_000, 100_000):
            counts = rng.poisson(3, lists)
            columns = {f"f{i}": rng.normal(size=counts.sum()).astype(np.float32) for i in range(fields)}
            array = ak.Array({name: ak.unflatten(column, counts) for name, column in columns.items()})
            for where in ("host", "device"):
                identity = jax.jit(lambda tree: tree)
                plain: Any = columns
                ragged: Any = array
                if where == "device":
                    plain, ragged = jax.block_until_ready((identity(plain), identity(ragged)))
                identity(plain), identity(ragged)
                number = max(3, 2000 // fields) if lists < 10_000 or where == "device" else 5
                one = two = float("inf")
                for _ in range(5):
                    one = min(one, best(lambda: identity(plain), number=number, repeat=1))  # noqa: B023
                    two = min(two, best(lambda: identity(ragged), number=number, repeat=1))  # noqa: B023
                label = f"{fields} fields, {lists} lists, {where}"
                print(f"{label:<34} {one:>7.1f} us {two:>7.1f} us {two / one:>7.2f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--eager", choices=["with", "without"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.eager:
        print(json.dumps(eager_times(arguments.eager == "with")))
        return
    compare_eager(arguments.rounds)
    compare_dispatch()


if __name__ == "__main__":
    main()
