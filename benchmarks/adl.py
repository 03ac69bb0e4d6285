"""The eight ADL queries as users write them, through `jax.jit`, beside everything else one could do.

    python benchmarks/adl.py --events 1000000                  # the table, with ratios
    python benchmarks/adl.py --queries q1,q5,gradient --json out.json
    python benchmarks/adl.py --scaling                         # time against number of events
    python benchmarks/adl.py --keep 0.1 --queries q6           # a cut on events before the heavy part

Results are checked to be equal first. All contenders are in one process and take turns; conversion of the input and
the first call (tracing, compiling) are timed apart.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import awkward as ak
import jax
import numpy as np
from measuring import Contender, Times, machine, measure
from queries.awkward_queries import QUERIES, soft_ht
from queries.events import generate
from queries.flat_queries import FLAT, arguments, soft_ht_arguments, soft_ht_flat
from queries.numba_loops import LOOPS, buffers, soft_ht_loop

import akjax

akjax.register()

CONTENDERS = ("eager", "numba", "flat", "exact", "traced")
CUTS = {"pt": 30.0, "ht": 100.0}
_MOVED = {"q5": 1e-4, "q6": 1e-3, "q7": 1e-4, "q8": 1e-3}
"""How many of the entries may be in another bin; none where nothing is computed. The last bits of a float32 mass differ
between libraries: an entry at the edge of a bin or a cut moves, and of two triples equally close another one wins."""

Results = dict[str, dict[str, Times]]


# --------------------------------------------------------------------------- what is compared


def contenders(query: str, events: ak.Array) -> dict[str, Contender]:
    """All ways to run one query."""
    f = QUERIES[query]
    return {
        "eager": Contender(lambda: (events,), f),
        "numba": Contender(lambda: (buffers(events),), LOOPS[query]),
        "flat": Contender(lambda: (arguments(query, events),), jax.jit(FLAT[query])),
        "exact": Contender(lambda: (jax.device_put(events),), _jitted(f)),
        "traced": Contender(lambda: (akjax.traced(events),), _jitted(f)),
    }


def gradients(events: ak.Array) -> dict[str, Contender]:
    """The gradient of a soft selection, and its own forward pass beside it."""

    def on(*inputs: Any) -> Callable[[], tuple[Any, ...]]:
        return lambda: (CUTS, *(make() for make in inputs))

    exact, traced = on(lambda: jax.device_put(events)), on(lambda: akjax.traced(events))
    flat = on(lambda: soft_ht_arguments(events))
    return {
        "eager": Contender(on(lambda: events), soft_ht),
        "numba": Contender(on(lambda: buffers(events)), soft_ht_loop),
        "flat": Contender(flat, jax.jit(soft_ht_flat)),
        "exact": Contender(exact, _jitted(soft_ht)),
        "traced": Contender(traced, _jitted(soft_ht)),
        "flat gradient": Contender(flat, jax.jit(jax.grad(soft_ht_flat))),
        "exact gradient": Contender(exact, _jitted(jax.grad(soft_ht))),
        "traced gradient": Contender(traced, _jitted(jax.grad(soft_ht))),
    }


def selective(query: str, events: ak.Array, keep: float) -> dict[str, Contender]:
    """A query of the few events with the highest MET: their number is known to nobody before."""
    f = QUERIES[query]
    cut = np.float32(np.quantile(ak.to_numpy(events.MET.pt), 1.0 - keep))
    # as one would choose it: a bit more than is expected
    capacity = math.ceil(1.1 * keep * len(events)) + 100

    def masked(events: ak.Array, cut: Any) -> Any:
        return f(events[events.MET.pt > cut])

    def compacted(events: ak.Array, cut: Any) -> Any:
        return f(akjax.compact(events[events.MET.pt > cut], capacity=capacity, axis=0))

    def above(events: ak.Array, cut: Any) -> Any:
        return events.MET.pt > cut

    rows = min(len(events), 100_000)
    chunks = [events[start : start + rows] for start in range(0, len(events), rows)]
    on_chunk, choose = _jitted(lambda events, cut: f(events)), jax.jit(above)

    def streamed(chunks: Any, cut: Any) -> Any:
        return akjax.stream(on_chunk, chunks, cut, preselect=choose)

    def exact() -> tuple[Any, ...]:
        return jax.device_put(events), cut

    def traced() -> tuple[Any, ...]:
        return akjax.traced(events), cut

    return {
        "eager": Contender(lambda: (events, cut), masked),
        "mask": Contender(exact, _jitted(masked)),
        "mask, traced": Contender(traced, _jitted(masked)),
        "compact": Contender(exact, _jitted(compacted)),
        "compact, traced": Contender(traced, _jitted(compacted)),
        "stream, preselect": Contender(lambda: (chunks, cut), streamed),
    }


def _jitted(f: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled anew: a function of its own, which no contender before has compiled."""
    return jax.jit(lambda *args: f(*args))


# --------------------------------------------------------------------------- whether they are equal


class _SameCounts:
    """Compares counts with those of the first contender."""

    def __init__(self, moved: float) -> None:
        self._moved = moved
        self._expected: list[np.ndarray[Any, Any]] | None = None

    def __call__(self, name: str, result: Any) -> str:
        counts = [np.asarray(one, np.int64) for one in result]
        if self._expected is None:
            self._expected = counts
            return ""
        for one, other in zip(counts, self._expected, strict=True):
            off = int(np.abs(one - other).sum())
            if off > 2 * math.ceil(self._moved * other.sum()):
                return f"counts differ by {off} of {other.sum()}"
        return ""


class _SameNumbers:
    """Compares values with the first value, and gradients with the first gradient."""

    def __init__(self) -> None:
        self._expected: dict[bool, Any] = {}

    def __call__(self, name: str, result: Any) -> str:
        numbers = np.asarray(jax.tree.leaves(result), np.float64)
        expected = self._expected.setdefault("gradient" in name, numbers)
        # float32 sums of millions
        return "" if np.allclose(numbers, expected, rtol=1e-3) else f"{numbers} differs from {expected}"


# --------------------------------------------------------------------------- tables


def _cell(times: Times | None) -> str:
    if times is None:
        return "–"
    return "failed" if times.error else f"{_digits(1e3 * times.median)} ± {_digits(1e3 * (times.high - times.low) / 2)}"


def _digits(value: float) -> str:
    """Three digits, and no powers of ten."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.01 else f"{value:.3f}"


def _geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def _print_rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    rows = [head, *rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    for at, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if at == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def ratios(results: Results, over: str, under: str) -> dict[str, float]:
    """How many times faster `under` is than `over`, by query."""
    found = {}
    for query, times in results.items():
        one, other = times.get(over), times.get(under)
        if one is not None and other is not None and not one.error and not other.error:
            found[query] = one.median / other.median
    return found


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Whose times are divided by whose."""
    ours = [name for name in names if name not in ("eager", "numba", "flat") and not name.endswith(" gradient")]
    pairs = [(over, under) for under in ours for over in ("eager", "numba", "flat")]
    return pairs + [(name, name.removesuffix(" gradient")) for name in names if name.endswith(" gradient")]


def print_results(results: Results) -> None:
    """Tables of times, ratios, and what happens once."""
    names = list(dict.fromkeys(name for times in results.values() for name in times))
    print("\nMilliseconds a call: median ± half the range between quartiles\n")
    _print_rows(["", *results], [[name, *(_cell(results[q].get(name)) for q in results)] for name in names])

    print("\nHow many times faster\n")
    rows = []
    for over, under in _pairs(names):
        found = ratios(results, over, under)
        if found:
            cells = (f"{found[q]:.2f}" if q in found else "–" for q in results)
            # of programs of one kind
            mean = _geometric_mean(value for query, value in found.items() if query != "gradient")
            rows.append([f"{over} / {under}", *cells, "–" if math.isnan(mean) else f"{mean:.2f}"])
    _print_rows(["", *results, "geometric mean of queries"], rows)

    print("\nOnce, in milliseconds: conversion of the input + first call (of which tracing + lowering + compiling)\n")

    def once(times: Times | None) -> str:
        if times is None or times.error:
            return "–"
        stages = (times.trace, times.lower, times.compile)
        inner = f" ({' + '.join(f'{1e3 * s:.0f}' for s in stages)})" if any(stages) else ""
        return f"{1e3 * times.prepare:.0f} + {1e3 * times.first:.0f}{inner}"

    _print_rows(["", *results], [[name, *(once(results[q].get(name)) for q in results)] for name in names])
    for query, times in results.items():
        for name, one in times.items():
            if one.error:
                print(f"\n{query}, {name}: {one.error[:500]}")


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of the logarithm of the time over that of the size: 1 for a cost linear in it."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def print_scaling(by_size: dict[int, Results]) -> None:
    """Time against size and the fitted exponents."""
    sizes = list(by_size)
    first = by_size[sizes[0]]
    rows = []
    for query, times in first.items():
        for name in times:
            found = [by_size[size][query][name] for size in sizes]
            good = [(size, one.median) for size, one in zip(sizes, found, strict=True) if not one.error]
            # what a call costs anyway hides the slope of small sizes: also that between the last two alone
            whole = f"{exponent(*zip(*good, strict=True)):.2f}" if len(good) > 1 else "–"
            last = f"{exponent(*zip(*good[-2:], strict=True)):.2f}" if len(good) > 1 else "–"
            rows.append([query, name, *(_cell(one) for one in found), whole, last])
    print(
        "\nMilliseconds by number of events, and the exponent of the fitted power: of all sizes, and of the last two\n"
    )
    _print_rows(["query", "", *(f"{size:,}" for size in sizes), "exponent", "last two"], rows)


# --------------------------------------------------------------------------- the program


def run(options: argparse.Namespace, events: ak.Array) -> Results:
    """Measure all queries asked for on some events."""
    results: Results = {}
    for query in options.queries:
        if options.keep is not None:
            found, check = selective(query, events, options.keep), _SameCounts(_MOVED.get(query, 0.0))
        elif query == "gradient":
            found, check = gradients(events), _SameNumbers()
        else:
            found, check = contenders(query, events), _SameCounts(_MOVED.get(query, 0.0))
        if options.keep is None:
            found = {name: one for name, one in found.items() if name.split()[0] in options.contenders}
        results[query] = measure(found, check, repeats=options.repeats, seconds=options.seconds)
        said = ", ".join(f"{name} {_cell(times)}" for name, times in results[query].items())
        print(f"{query} ({len(events):,} events): {said} ms", file=sys.stderr, flush=True)
    return results


def _sizes(text: str) -> list[int]:
    return [int(float(part)) for part in text.split(",")]


def _names(known: Sequence[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        found = text.split(",")
        if wrong := [name for name in found if name not in known]:
            message = f"{', '.join(wrong)} not in {', '.join(known)}"
            raise argparse.ArgumentTypeError(message)
        return found

    return names


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    every = [*QUERIES, "gradient"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--queries", type=_names(every), default=None, help=f"of {','.join(every)}; all by default")
    parser.add_argument("--contenders", type=_names(CONTENDERS), default=list(CONTENDERS))
    parser.add_argument("--repeats", type=int, default=9, help="calls of each contender")
    parser.add_argument("--seconds", type=float, default=10.0, help="after which a contender is called no more")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write all numbers")
    parser.add_argument(
        "--scaling",
        type=_sizes,
        nargs="?",
        const="1e4,1e5,1e6",
        help="numbers of events to compare: 1e4,1e5,1e6 if none are given",
    )
    parser.add_argument("--keep", type=float, help="the fraction of events left by a cut before the query")
    options = parser.parse_args(argv)
    if options.queries is None:
        options.queries = ["q6"] if options.keep is not None else every
    if options.keep is not None and (options.scaling or "gradient" in options.queries):
        parser.error("--keep goes with queries, and neither with --scaling nor with the gradient")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write the numbers."""
    options = _options(argv)
    about = machine()
    print(f"{about['processor']}, {about['cores']} cores, {about['device']}; Python {about['python']}, ", end="")
    print(", ".join(f"{name} {version}" for name, version in about["versions"].items()))
    if about["load"] is not None and about["load"] > 0.5:
        print(f"The machine is busy (load {about['load']:.1f}): the numbers are not to be quoted.")
    written: dict[str, Any] = {"machine": about, "keep": options.keep, "seed": options.seed, "sizes": {}}
    by_size: dict[int, Results] = {}
    for size in options.scaling or [options.events]:
        events = generate(size, options.seed)
        by_size[size] = run(options, events)
        jax.clear_caches()
        found = by_size[size]
        written["sizes"][str(size)] = {q: {n: t.as_dict() for n, t in ts.items()} for q, ts in found.items()}
        if options.json is not None:  # after every size: a run that is stopped has not been for nothing
            options.json.write_text(json.dumps(written, indent=1) + "\n")
    if options.scaling:
        print_scaling(by_size)
    else:
        print(f"\n{options.events:,} events" + (f", of which {options.keep:.0%} are kept" if options.keep else ""))
        print_results(by_size[options.events])
    return int(any(t.error for found in by_size.values() for times in found.values() for t in times.values()))


if __name__ == "__main__":
    sys.exit(main())
