"""64-bit integers while JAX has no 64-bit types: moved without loss, and arithmetic says what is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import plain

NUMBERS = [2**40 + 1, -5, -(2**50), 2**63 - 1]
EVENTS = ak.Array(
    {
        "event": np.array(NUMBERS),
        "hash": np.array([2**64 - 1, 2**63 + 5, 1, 2], np.uint64),
        "small": np.array([1, 2, 3, 4]),
        "ids": ak.Array([[2**40], [], [1, 2], [-(2**41)]]),
        "pairs": np.array([[2**40, 1], [2, 3], [4, 5], [6, -(2**40)]]),
    }
)


@pytest.fixture(autouse=True)
def _narrow() -> Iterator[None]:
    with jax.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


MOVES = {
    "identity": lambda x: x,
    "map": lambda x: jax.tree.map(lambda leaf: leaf, x),
    "field": lambda x: x.event,
    "slice": lambda x: x[1:3],
    "step": lambda x: x[::-1],
    "mask": lambda x: x[np.array([True, False, True, False])],
    "rows": lambda x: x[np.array([3, 0, 0])],
    "row": lambda x: x[1],
    "lists": lambda x: x.ids[:, :1],
    "pairs": lambda x: x.pairs[:, 0],
    "firsts": lambda x: ak.firsts(x.ids),
    "flatten": lambda x: ak.flatten(x.ids),
    "pad": lambda x: ak.pad_none(x.ids, 2),
    "zip": lambda x: ak.zip({"a": x.event, "b": x.hash}),
    "combinations": lambda x: ak.combinations(x.ids, 2),
    "concatenate": lambda x: ak.concatenate([x.event, x.event]),
    "select": lambda x: x[x.small > 2],
    "select a field": lambda x: x.hash[x.small > 2],
    "assign": lambda x: ak.with_field(x, x.event, "again"),
    "scan": lambda x: jax.lax.scan(lambda c, _: (c, None), x, None, length=2)[0],
    "cond": lambda x: jax.lax.cond(True, lambda y: y, lambda y: y, x),
    "unmapped": lambda x: jax.vmap(lambda s, y: y, in_axes=(0, None), out_axes=None)(jnp.arange(2), x),
    "mapped": lambda x: jax.vmap(lambda y: y)(x[["event", "hash", "small"]]),
}


@pytest.mark.parametrize("name", MOVES)
def test_moving_loses_nothing(name: str) -> None:
    want = EVENTS[["event", "hash", "small"]] if name == "mapped" else MOVES[name](EVENTS)
    for _ in range(2):
        assert plain(jax.jit(MOVES[name])(EVENTS)) == plain(want)


def test_results_go_round() -> None:
    f = jax.jit(lambda x: x[::-1])
    once = f(EVENTS)
    assert plain(f(once)) == plain(EVENTS)
    once.to_list()
    assert plain(f(once)) == plain(EVENTS)
    assert str(ak.type(once.event)) == "4 * int64"
    assert str(ak.type(once.hash)) == "4 * uint64"
    stacked = jax.vmap(lambda s: EVENTS)(jnp.arange(2))
    assert plain(stacked) == [plain(EVENTS)] * 2


ARITHMETIC = {
    "add": lambda x: x.event + 1,
    "negate": lambda x: -x.event,
    "compare": lambda x: x.event == 5,
    "abs": lambda x: np.abs(x.hash),
    "sum": lambda x: ak.sum(x.event),
    "max": lambda x: ak.max(x.ids, axis=1),
    "sort": lambda x: ak.sort(x.event),
    "jnp": lambda x: jnp.sin(x.event),
    "to_jax": lambda x: ak.to_jax(x.event),
    "convert": lambda x: ak.values_astype(x.event, "float32"),
    "select by": lambda x: x[x.event > 2],
    "item": lambda x: x.event[0],
    "pairs": lambda x: x.pairs * 2,
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_names_the_switch(name: str) -> None:
    with pytest.raises(TypeError, match="jax_enable_x64"):
        jax.jit(ARITHMETIC[name])(EVENTS)


def test_closed_over_arrays_too() -> None:
    assert plain(jax.jit(lambda s: EVENTS.event[::-1])(1.0)) == NUMBERS[::-1]
    with pytest.raises(TypeError, match="jax_enable_x64"):
        jax.jit(lambda s: s * EVENTS.event)(1.0)


def test_small_ones_are_silent() -> None:
    small = ak.Array([[1, -2], [], [2**31 - 1]])
    assert plain(jax.jit(lambda x: x)(small)) == plain(small)
    assert plain(jax.jit(lambda x: x - 1)(small)) == plain(small - 1)
    assert jax.jit(lambda x: ak.sum(x, axis=0))(ak.Array([[1, 2], [3]])).to_list() == [4, 2]


def test_switching_between() -> None:
    array = ak.Array([2**40, 1])
    with jax.enable_x64(True):
        wide = jax.jit(lambda x: x + 1)(array)
    narrow = jax.jit(lambda x: x)(array)
    assert plain(jax.jit(lambda x: x)(wide)) == [2**40 + 1, 2]
    with jax.enable_x64(True):
        assert plain(jax.jit(lambda x: x + 1)(array)) == [2**40 + 1, 2]
        assert plain(jax.jit(lambda x: x + 1)(narrow)) == [2**40 + 1, 2]


def test_two_fields_of_one_buffer_stay_one() -> None:
    buffer = np.array(NUMBERS)
    array: Any = ak.Array({"a": buffer, "b": buffer})
    assert len(jax.tree.leaves(array)) == 1
    assert plain(jax.jit(lambda x: x)(array)) == plain(array)
