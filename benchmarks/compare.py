"""Two files written by `adl.py --json` side by side: what became faster, what slower.

    python benchmarks/compare.py before.json after.json
    python benchmarks/compare.py --fail-above 1.2 before.json after.json    # exit status 1 if something is slower

Only differences that are larger than the spread of both are marked.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def entries(written: dict[str, Any]) -> Iterator[tuple[tuple[str, str, str], Entry]]:
    """What a file holds, by number of events, query and contender."""
    for size, queries in written["sizes"].items():
        for query, times in queries.items():
            for name, entry in times.items():
                yield (size, query, name), entry


def verdict(before: Entry, after: Entry) -> str:
    """Whether two times are apart, the ranges between their quartiles taken into account."""
    if before["error"] or after["error"]:
        return "failed before" if not after["error"] else "fails"
    if after["low"] > before["high"]:
        return "slower"
    return "faster" if after["high"] < before["low"] else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--fail-above", type=float, help="the ratio of times above which it is an error to be slower")
    options = parser.parse_args(argv)
    before, after = (json.loads(path.read_text()) for path in (options.before, options.after))
    for what in ("processor", "cores", "device", "versions"):
        if before["machine"][what] != after["machine"][what]:
            print(f"Not the same {what}: {before['machine'][what]} and {after['machine'][what]}")
    old = dict(entries(before))
    worst = 1.0
    print(f"{'events':>10} {'query':<9} {'':<18} {'before':>10} {'after':>10} {'ratio':>6} {'compile':>16}")
    for key, new in entries(after):
        if key not in old:
            continue
        was, said = old[key], verdict(old[key], new)
        if was["error"] or new["error"]:
            print(f"{key[0]:>10} {key[1]:<9} {key[2]:<18} {said:>29}")
            worst = float("inf") if new["error"] and not was["error"] else worst
            continue
        ratio = new["median"] / was["median"]
        worst = max(worst, ratio) if said == "slower" else worst
        times = f"{1e3 * was['median']:>7.2f} ms {1e3 * new['median']:>7.2f} ms {ratio:>6.2f}"
        first = f"{1e3 * was['first']:>5.0f} to {1e3 * new['first']:>5.0f} ms"
        print(f"{key[0]:>10} {key[1]:<9} {key[2]:<18} {times} {first} {said}")
    return int(options.fail_above is not None and worst > options.fail_above)


if __name__ == "__main__":
    sys.exit(main())
