"""Many functions of one array against eager Awkward in one compilation, which is what takes the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
from oracle import outcome, plain, same, type_string


def check_many(functions: Mapping[Any, Callable[..., Any]], *arrays: Any, rtol: float = 1e-9) -> None:
    """Compare each `jax.jit(f)(*arrays)` with `f(*arrays)`: values, types, class of exception.

    Args:
        functions: by a name that says in a failure which of them it was.
        arrays: their arguments.
        rtol: relative tolerance of floats.
    """
    raised: dict[str, Exception] = {}

    def every(*traced: Any) -> dict[str, Any]:
        returned = {}
        for name, function in functions.items():
            result = outcome(function, *traced)
            if isinstance(result, Exception):
                raised[str(name)] = result
            else:
                returned[str(name)] = result
        return returned

    got = {**jax.jit(every)(*arrays), **raised}
    failures = []
    for name, function in functions.items():
        want = outcome(function, *arrays)
        try:
            _compare(got[str(name)], want, rtol)
        except AssertionError as error:
            failures.append(f"{name}: {error}")
    assert not failures, "\n".join(failures)


def check_each(function: Callable[..., Any], cases: Mapping[Any, tuple[Any, ...]], rtol: float = 1e-9) -> None:
    """Compare one function of many arrays, each given by a name with what else it is called with."""
    named = {str(name): arguments for name, arguments in cases.items()}

    def of(name: str) -> Callable[[Any], Any]:
        return lambda every: function(*every[name])

    check_many({name: of(name) for name in named}, named, rtol=rtol)


def _compare(got: Any, want: Any, rtol: float) -> None:
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"eager raises {want!r}, compiled gives {plain(got)}"
        assert isinstance(got, type(want)) or isinstance(want, type(got)), (got, want)
        return
    assert not isinstance(got, Exception), f"compiled raises {got!r}, eager gives {plain(want)}"
    same(plain(got), plain(want), rtol=rtol)
    assert type_string(got) == type_string(want), (type_string(got), type_string(want))
