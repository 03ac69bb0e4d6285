"""A picture of what `adl.py --json` wrote, for the documentation.

    python benchmarks/plot.py out.json docs/adl.svg

One number of events: how many times faster than eager Awkward each way is, by query. Several (`--scaling`): the time
against the number of events.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LABELS = {
    "eager": "Awkward Array, eager",
    "numba": "Numba loop, one thread",
    "flat": "jax.numpy by hand",
    "exact": "akjax",
    "traced": "akjax.traced",
}


def bars(queries: dict[str, Any], axes: Any) -> None:
    """Speed relative to eager Awkward."""
    shown = [query for query in queries if query != "gradient"]
    names = [name for name in LABELS if name != "eager" and any(name in queries[query] for query in shown)]
    width = 0.8 / max(len(names), 1)
    for at, name in enumerate(names):
        good = [query for query in shown if not queries[query].get(name, {"error": "absent"})["error"]]
        heights = [queries[query]["eager"]["median"] / queries[query][name]["median"] for query in good]
        places = [shown.index(query) + (at - (len(names) - 1) / 2) * width for query in good]
        axes.bar(places, heights, width, label=LABELS[name])
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(shown)), [query.upper() for query in shown])
    axes.set_yscale("log")
    axes.set_ylabel("times as fast as eager Awkward Array")


def lines(sizes: dict[str, Any], axes: Any) -> None:
    """Time against number of events, of the query that takes longest."""
    last = sizes[max(sizes, key=int)]
    query = max(last, key=lambda query: max(times["median"] for times in last[query].values()))
    for name, label in LABELS.items():
        if name not in last[query]:
            continue
        points = [(int(size), found[query][name]) for size, found in sizes.items()]
        good = [(size, 1e3 * times["median"]) for size, times in points if not times["error"]]
        axes.plot(*zip(*good, strict=True), marker="o", label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("events")
    axes.set_ylabel(f"{query.upper()}: milliseconds")


def main(argv: Sequence[str] | None = None) -> int:
    """Draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args(argv)
    written = json.loads(options.json.read_text())
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    sizes = written["sizes"]
    if len(sizes) > 1:
        lines(sizes, axes)
    else:
        bars(next(iter(sizes.values())), axes)
    axes.legend()
    about = written["machine"]
    versions = ", ".join(f"{name} {about['versions'][name]}" for name in ("jax", "awkward", "numba"))
    events = "" if len(sizes) > 1 else f"{int(next(iter(sizes))):,} events; "
    axes.set_title(f"{events}{about['processor']}, {about['cores']} cores; {versions}", fontsize="small")
    figure.savefig(options.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
