"""Segments of every kind, and eager Awkward and NumPy as the oracle."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from akjax.kernels.segment import Segments

jax.config.update("jax_enable_x64", True)

DTYPES = (
    *(np.bool_, np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64),
    *(np.float32, np.float64, np.complex64, np.complex128),
)
KINDS = ("static", "traced", "static unsorted", "traced unsorted")
# empty lists first, last and in between; regular; one list; only empty lists; no list at all
COUNTS = ([0, 2, 0, 3, 1, 0], [2, 2, 2], [5], [0, 0], [])
# every dtype for the first, two dtypes for the others
CASES = [(COUNTS[0], d) for d in DTYPES] + [(c, d) for c in COUNTS[1:] for d in (np.bool_, np.float64)]


@contextlib.contextmanager
def x64_off() -> Iterator[None]:
    """JAX as it is by default."""
    jax.config.update("jax_enable_x64", False)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", True)


def ranks(counts: list[int]) -> np.ndarray:
    """Position of each element in its list."""
    return np.concatenate([np.arange(c) for c in counts] or [[]]).astype(np.int64)


def make(counts: list[int], kind: str) -> tuple[Segments, np.ndarray]:
    """Segments of a kind, and the order in which they take the elements of the lists."""
    parents = np.repeat(np.arange(len(counts)), counts)
    is_sorted = "unsorted" not in kind
    order = np.arange(parents.size) if is_sorted else np.argsort(ranks(counts), kind="stable")
    chosen = parents[order] if "static" in kind else jnp.asarray(parents[order])
    return Segments(chosen, len(counts), sorted=is_sorted), order


def lists(data: np.ndarray, counts: list[int]) -> ak.Array:
    """Data as lists."""
    return ak.unflatten(data, np.asarray(counts, dtype=np.int64))


def keep(data: np.ndarray, counts: list[int], live: np.ndarray) -> ak.Array:
    """Only the live elements, as lists."""
    return lists(data, counts)[lists(live, counts)]
