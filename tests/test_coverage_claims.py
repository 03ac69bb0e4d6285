"""What the coverage table claims of each function, tried: all functions in one program an envelope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest
from calls import CALLS, ENTRIES
from oracle import outcome, plain, same

import akjax

akjax.register()

X = ak.Array([[1.5, 0.0, -3.0], [], [4.0, 0.5], [2.0]])
# what eager Awkward has other answers for (its backend is another) or none (its JAX backend is not registered)
NOT_COMPARED = ("ak.backend", "ak.to_backend", "ak.to_layout")


def wrong(prepare: Callable[[Any], Any], argument: Any, expected: Any, claims: Callable[[Any], bool]) -> list[str]:
    """The functions whose claim does not hold."""
    results: dict[str, Any] = {}

    def every(array: Any) -> dict[str, Any]:
        for name, call in CALLS.items():
            results[name] = outcome(call, prepare(array))
        return {name: result for name, result in results.items() if _is_computed(result)}

    computed = jax.jit(every)(argument)
    return [
        f"{name} claims {claims(ENTRIES[name])}: {fault}"
        for name, result in results.items()
        if (fault := _fault(name, computed.get(name, result), claims(ENTRIES[name]), expected))
    ]


def _is_computed(result: Any) -> bool:
    leaves = jax.tree.leaves(result)
    return bool(leaves) and all(isinstance(leaf, jax.Array | np.ndarray) for leaf in leaves)


def _fault(name: str, got: Any, claimed: bool, expected: Any) -> str | None:
    if not claimed:
        if isinstance(got, akjax.StructureError | jax.errors.JAXTypeError):
            return None
        return f"works, or raises {got!r}"
    want = None if name in NOT_COMPARED else outcome(CALLS[name], expected)
    if isinstance(got, Exception):
        return None if type(got) is type(want) else f"raises {got!r}"
    if name in NOT_COMPARED:
        return None
    try:
        same(plain(got), plain(want))
    except AssertionError as error:
        return str(error)
    return None


@pytest.fixture(autouse=True)
def _wide() -> Any:
    with jax.enable_x64(True):
        yield


def test_exact() -> None:
    assert "\n".join(wrong(lambda x: x, X, X, lambda entry: True)) == ""


def test_live() -> None:
    assert "\n".join(wrong(lambda x: x[x > -1], X, X[X > -1], lambda entry: entry.live)) == ""


def test_capacity() -> None:
    assert "\n".join(wrong(lambda x: x, akjax.traced(X), X, lambda entry: entry.capacity)) == ""
