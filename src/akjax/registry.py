"""Which implementation stands for which `ak.*` or NumPy function, looked up by the function object."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True)
class Entry:
    """One function on traced arrays.

    Attributes:
        call: what is called in its place.
        route: one of `ROUTES`.
        live: whether it accepts elements whose existence is decided at run time.
        capacity: whether it accepts lists whose lengths are known at run time, as those of `akjax.traced`.
        no_gradient: why the result has no gradient; empty when it has one.
        always: whether it also stands for the function on untraced arrays (Awkward's own would start its
            JAX backend).
        host_only: why it does not work on traced arrays, and what to do instead; empty when it does.
    """

    call: Callable[..., Any]
    route: str
    live: bool = False
    capacity: bool = False
    no_gradient: str = ""
    always: bool = False
    host_only: str = ""


# how a function is implemented
ROUTES = {
    "moves": "Awkward by index tracking",
    "type": "Awkward on the type",
    "composed": "composition",
    "kernel": "kernel",
    "host": "host only",
}

# why a result has no gradient
INTEGERS = "integers"
BOOLEANS = "booleans"
TYPE = "a fact of type"
TEXT = "text"
CONSTANT = "independent of the numbers"


_entries: dict[Any, Entry] = {}


def implements(
    *functions: Any,
    route: str,
    live: bool = False,
    capacity: bool | None = None,
    no_gradient: str = "",
    always: bool = False,
    host_only: str = "",
) -> Callable[[F], F]:
    """Register what to call in place of these functions when an argument is traced (see `Entry`).

    What accepts a live mask accepts lists of run-time length too, unless `capacity` says otherwise.
    """
    capacity = live if capacity is None else capacity

    def register(call: F) -> F:
        assert route in ROUTES
        for function in functions:
            _entries[function] = Entry(call, route, live, capacity, no_gradient, always, host_only)
        return call

    return register


def rename(new: Any, old: Any) -> None:
    """Let another function object stand for one that is registered."""
    _entries[new] = _entries[old]


def find(function: Any) -> Entry | None:
    """The entry of a function, or None."""
    return _entries.get(function)


def entries() -> dict[Any, Entry]:
    """All entries, for the coverage table."""
    return dict(_entries)
