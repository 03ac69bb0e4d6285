"""Which implementation stands for which `ak.*` or NumPy function, looked up by the function object."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True)
class Entry:
    """One function on traced arrays.

    `route` says how: `"moves"` (Awkward itself, by index tracking), `"composed"` (of other functions) or
    `"kernel"`. `live` says whether it accepts elements whose existence is decided at run time; `always`
    that it also stands for the function on untraced arrays (Awkward's own would start its JAX backend).
    """

    call: Callable[..., Any]
    route: str
    live: bool
    differentiable: bool = True
    always: bool = False


_entries: dict[Any, Entry] = {}


def implements(
    *functions: Any, route: str, live: bool = False, differentiable: bool = True, always: bool = False
) -> Callable[[F], F]:
    """Register what to call in place of these functions when an argument is traced."""

    def register(call: F) -> F:
        for function in functions:
            _entries[function] = Entry(call, route, live, differentiable, always)
        return call

    return register


def find(function: Any) -> Entry | None:
    """The entry of a function, or None."""
    return _entries.get(function)


def entries() -> dict[Any, Entry]:
    """All entries, for the coverage table."""
    return dict(_entries)
