"""What is remembered goes: with its arrays, with the programs compiled for it, or with `clear_caches`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Collection, Iterator
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest

import akjax
from akjax.kernels.segment import Segments
from akjax.nodes.boundaries import Boundaries
from akjax.nodes.static import Static
from akjax.structure.spec import Spec

akjax.register()


def structures(number: int) -> Iterator[ak.Array]:
    """Arrays of 40 lists, no two of which have lists of the same lengths."""
    rng = np.random.default_rng(0)
    for _ in range(number):
        counts = rng.multinomial(100, [1 / 40] * 40)
        yield ak.Array({"x": ak.unflatten(rng.normal(size=100), counts), "y": rng.normal(size=40)})


def remembered() -> dict[str, int]:
    """How much there is in every mapping and set of every module of akjax, and how many structures are alive."""
    gc.collect()
    found = {
        f"{module}.{name}": len(value)
        for module, content in list(sys.modules.items())
        if module == "akjax" or module.startswith("akjax.")
        for name, value in vars(content).items()
        if not name.startswith("__") and isinstance(value, Collection) and hasattr(value, "clear")
    }
    alive = [type(thing) for thing in gc.get_objects()]
    return found | {kind.__name__: alive.count(kind) for kind in (Spec, Static, Segments, Boundaries)}


def grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: number - before.get(name, 0) for name, number in after.items() if number > before.get(name, 0)}


def selection(array: ak.Array) -> Any:
    return ak.sum(array.x[array.x > 0.0], axis=1) + array.y


@pytest.fixture
def before() -> dict[str, int]:
    """After a first use, which fills what is filled once."""
    for array in structures(1):
        jax.eval_shape(selection, array)
        jax.eval_shape(selection, akjax.traced(array))
    jax.clear_caches()
    return remembered()


def test_of_arrays(before: dict[str, int]) -> None:
    for array in structures(1000):
        leaves, definition = jax.tree.flatten(array)
        jax.tree.unflatten(definition, leaves)
        assert array.x[:, :1].layout.length == 40
    del array, leaves, definition
    assert grown(before, remembered()) == {}


@pytest.mark.parametrize("prepared", [lambda array: array, akjax.traced], ids=["exact", "traced"])
def test_of_functions_that_are_gone(prepared: Any, before: dict[str, int]) -> None:
    for array in structures(100):
        jax.eval_shape(lambda array: selection(array), prepared(array))
    del array
    jax.clear_caches()
    assert grown(before, remembered()) == {}


@pytest.mark.skipif(
    jax.__version_info__ < (0, 10), reason="older JAX keeps structures as long as the function, cleared or not"
)
def test_of_one_function_in_many_traces(before: dict[str, int]) -> None:
    def traced(array: ak.Array) -> Any:
        return selection(array)

    for array in structures(100):
        jax.eval_shape(traced, array)
    del array
    jax.clear_caches()
    akjax.clear_caches()
    # the function is still here, and it is known how often it was traced; of its structures nothing is
    assert grown(before, remembered()) == {"akjax.highlevel.retracing._seen": 1}


def test_clearing_while_programs_are_in_use() -> None:
    total = jax.jit(selection)
    (array,) = structures(1)
    for prepared in (array, akjax.traced(array)):
        expected = total(prepared).to_list()
        akjax.clear_caches()
        assert total(prepared).to_list() == expected
        assert total._cache_size() == 1
        total.clear_cache()
    assert (
        jax.jit(lambda a: ak.num(ak.combinations(a.x, 2)))(akjax.traced(array)).to_list()
        == ak.num(ak.combinations(array.x, 2)).to_list()
    )


def test_traces_are_counted_once_a_structure() -> None:
    def traced(array: ak.Array) -> Any:
        return selection(array)

    (array,) = structures(1)
    with akjax.no_retracing():
        for _ in range(3):  # the same structure, forgotten by JAX in between
            jax.eval_shape(traced, array)
            jax.clear_caches()
