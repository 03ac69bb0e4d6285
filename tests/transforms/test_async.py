"""Results stay on the device until something looks at them, and are then built once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from akjax.highlevel import state


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The layouts built so far."""
    found: list[Any] = []
    before = state.layout_over

    def counted(*args: Any) -> Any:
        found.append(args)
        return before(*args)

    monkeypatch.setattr(state, "layout_over", counted)
    return found


def slow(steps: int = 200_000) -> Callable[[Any], Any]:
    return jax.jit(lambda x: jax.lax.fori_loop(0, steps, lambda i, c: jax.tree.map(lambda a: a * 1.0000001, c), x))


def test_a_chain_of_calls_waits_for_nothing(built: list[Any]) -> None:
    array = ak.Array([np.ones(500), np.ones(1000)])
    f = slow()
    jax.block_until_ready(f(array))
    with jax.transfer_guard_device_to_host("disallow"):
        once = f(array)
        assert not jax.tree.leaves(once)[0].is_ready()
        twice = f(once)
        jax.tree.map(jnp.shape, twice)
        jax.tree.structure(twice)
    assert built == []
    assert not jax.tree.leaves(twice)[0].is_ready()
    assert len(twice) == 2
    assert len(built) == 1


def test_first_touch_builds_once(built: list[Any]) -> None:
    result = jax.jit(lambda x: x + 1)(ak.Array([[1.0, 2.0], []]))
    start = threading.Barrier(8)
    layouts = []

    def touch() -> None:
        start.wait()
        layouts.append(result.layout)

    threads = [threading.Thread(target=touch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert len({id(layout) for layout in layouts}) == 1


def test_flattening_at_once() -> None:
    array = ak.Array({"a": np.arange(1000.0), "b": ak.Array([[1.0]] * 1000)})
    start = threading.Barrier(8)
    found = []

    def flatten() -> None:
        start.wait()
        found.append(jax.tree.structure(array))

    threads = [threading.Thread(target=flatten) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_callback_may_look_while_another_thread_waits() -> None:
    """Building a layout waits for the device; the program there may want to build another."""
    other = jax.jit(lambda x: x + 1)(ak.Array([[1.0, 2.0], []]))
    seen: list[Any] = []

    def look(array: Any) -> None:
        seen.append((array.to_list(), other.to_list()))

    @jax.jit
    def f(x: Any) -> Any:
        jax.debug.callback(look, x)
        return x * 2

    result = f(ak.Array([[1.0], [2.0]]))
    thread = threading.Thread(target=result.to_list, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    jax.effects_barrier()
    assert seen == [([[1.0], [2.0]], [[2.0, 3.0], []])]


def test_pure_callback_gets_arrays() -> None:
    def host(array: Any) -> Any:
        return np.asarray(ak.sum(array, axis=1), np.float32)

    out = jax.ShapeDtypeStruct((2,), np.float32)
    array = ak.Array([[1.0, 2.0], [3.0]])
    assert jax.jit(lambda x: jax.pure_callback(host, out, x))(array).tolist() == [3.0, 3.0]


def test_donation() -> None:
    array = jax.jit(lambda x: x + 1)(ak.Array([[1.0], [2.0]]))
    result = jax.jit(lambda x: x + 1, donate_argnums=0)(array)
    assert result.to_list() == [[3.0], [4.0]]
    if jax.tree.leaves(array)[0].is_deleted():
        with pytest.raises(RuntimeError, match="deleted"):
            array.to_list()


def test_devices() -> None:
    array = jax.device_put(ak.Array([[1.0, 2.0], []]), jax.devices()[-1])
    assert {leaf.device for leaf in jax.tree.leaves(array)} == {jax.devices()[-1]}
    doubled = jax.jit(lambda x: x * 2)(array)
    assert {leaf.device for leaf in jax.tree.leaves(doubled)} == {jax.devices()[-1]}
    assert doubled.to_list() == [[2.0, 4.0], []]
