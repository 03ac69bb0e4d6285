"""What akjax does with every function of Awkward, as a table: `python -m akjax._coverage > docs/coverage.md`."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import awkward as ak

from . import functions as functions  # fills the registry
from .registry import ROUTES, Entry, find

_HEAD = """\
# Coverage

Every name in Awkward's public namespace, and what it does inside a transformation. This page is made from the registry
of akjax by `python -m akjax._coverage > docs/coverage.md`; a test compares the two.

- **how**: *Awkward by index tracking* means that Awkward itself runs, on numbers of elements, and the program gathers
  what they point to; *Awkward on the type*, that it needs no numbers; *composition*, that it is written with other
  functions of this table; *kernel*, that the numbers are computed with `jax.numpy`; *host only*, that it raises one
  sentence, which names the alternative.
- **envelopes**: *exact* is an array as it is; *live* is one from which traced values have selected
  ([what works there](live-masks.md) has the details); *capacity* is one whose list lengths are values of the program,
  made by `akjax.traced`.
- **gradient**: whether floating-point results have derivatives, and why not.

"""


def names() -> Iterator[tuple[str, Any]]:
    """The functions and classes of Awkward's public namespace, by the names users write."""
    for module, prefix in ((ak, "ak"), (ak.str, "ak.str")):
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if callable(value) and not name.startswith("_") and not isinstance(value, types.ModuleType):
                yield f"{prefix}.{name}", value


def unknown() -> list[str]:
    """What the installed Awkward has and the registry does not know."""
    return [name for name, value in names() if find(value) is None]


def rows() -> dict[str, str]:
    """A line of the table for each name."""
    found = ((name, find(value)) for name, value in names())
    return {name: _row(name, entry) for name, entry in found if entry is not None}


def _row(name: str, entry: Entry) -> str:
    if entry.route == "host":
        return f"| `{name}` | host only: {entry.host_only} | – | – |"
    envelopes = "exact" + ", live" * entry.live + ", capacity" * entry.capacity
    gradient = f"no: {entry.no_gradient}" if entry.no_gradient else "yes"
    return f"| `{name}` | {ROUTES[entry.route]} | {envelopes} | {gradient} |"


def page() -> str:
    """The whole page."""
    table = ["| function | how | envelopes | gradient |", "| --- | --- | --- | --- |", *rows().values()]
    return _HEAD + "\n".join(table) + "\n"


if __name__ == "__main__":
    print(page(), end="")
