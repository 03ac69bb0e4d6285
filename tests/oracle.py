"""The oracle: eager Awkward. `check(f, *arrays)` says whether a compiled function answers as the eager one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
from jax.test_util import check_grads

import akjax

akjax.register()


def plain(value: Any) -> Any:
    """Any result as nested Python values."""
    if isinstance(value, ak.Array | ak.Record):
        return ak.to_list(value)
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        return np.asarray(value).tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def same(got: Any, want: Any, rtol: float = 1e-9, atol: float = 1e-12, at: str = "result") -> None:
    """Assert that two nested values are equal, floats nearly."""
    if isinstance(want, dict):
        assert isinstance(got, dict), (at, got, want)
        assert list(got) == list(want), (at, got, want)
        for key in want:
            same(got[key], want[key], rtol, atol, f"{at}.{key}")
    elif isinstance(want, list | tuple):
        assert isinstance(got, list | tuple), (at, got, want)
        assert len(got) == len(want), (at, got, want)
        for i, (one, two) in enumerate(zip(got, want, strict=True)):
            same(one, two, rtol, atol, f"{at}[{i}]")
    elif isinstance(want, float | complex) and not isinstance(want, bool):
        assert got is not None, (at, got, want)
        assert np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True), (at, got, want)
    else:
        assert got == want, (at, got, want)
        assert isinstance(got, bool) == isinstance(want, bool), (at, got, want)


def type_string(value: Any) -> str:
    """The type as Awkward prints it; of a scalar its dtype."""
    if isinstance(value, ak.Array | ak.Record):
        return str(ak.type(value))
    return str(np.asarray(value).dtype) if value is not None else "None"


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    """What a function returns, or the exception it raises."""
    try:
        with np.errstate(all="ignore"):
            return f(*args)
    except Exception as error:
        return error


def check(f: Callable[..., Any], *arrays: Any, rtol: float = 1e-9, types: bool = True) -> Any:
    """Compare `jax.jit(f)(*arrays)` with `f(*arrays)`: values, types, class of exception.

    Returns:
        The compiled result (or the exception both raise).
    """
    return compare(outcome(jax.jit(f), *arrays), outcome(f, *arrays), rtol, types)


def compare(got: Any, want: Any, rtol: float = 1e-9, types: bool = True) -> Any:
    """Assert that a compiled outcome is the eager one: values, types, class of exception; gives the compiled one."""
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"eager raises {want!r}, compiled gives {got!r}"
        assert isinstance(got, type(want)) or isinstance(want, type(got)), (got, want)
        return got
    if isinstance(got, Exception):
        raise got
    same(plain(got), plain(want), rtol=rtol)
    if types:
        _same_types(got, want)
    return got


def _same_types(got: Any, want: Any, at: str = "result") -> None:
    if isinstance(want, dict):
        for key in want:
            _same_types(got[key], want[key], f"{at}.{key}")
    elif isinstance(want, list | tuple):
        for i, (one, two) in enumerate(zip(got, want, strict=True)):
            _same_types(one, two, f"{at}[{i}]")
    elif isinstance(want, ak.Array | ak.Record | np.generic | np.ndarray):
        assert type_string(got) == type_string(want), (at, type_string(got), type_string(want))


def check_gradient(f: Callable[..., Any], *arrays: Any, order: int = 2, rtol: float = 1e-4) -> None:
    """Compare derivatives of a scalar function with finite differences, forward and reverse."""
    leaves, structure = jax.tree.flatten(arrays)
    floating = [i for i, leaf in enumerate(leaves) if np.issubdtype(np.asarray(leaf).dtype, np.floating)]

    def of_leaves(values: list[Any]) -> Any:
        new = list(leaves)
        for i, value in zip(floating, values, strict=True):
            new[i] = value
        return jnp.asarray(f(*jax.tree.unflatten(structure, new)), jnp.float64)

    start = [jnp.asarray(leaves[i], jnp.float64) for i in floating]
    check_grads(of_leaves, (start,), order=order, modes=["fwd", "rev"], rtol=rtol, atol=rtol)
    for gradient in jax.tree.leaves(jax.jit(jax.grad(of_leaves))(start)):
        assert np.isfinite(np.asarray(gradient)).all()
