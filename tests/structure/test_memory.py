"""Memory that is used again when nobody holds it."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from akjax.structure.memory import Pool, blank


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("make", [blank, Pool().blank])
@pytest.mark.parametrize(("shape", "dtype"), [((3,), np.int8), ((0,), np.float64), ((5, 2), np.complex64)])
def test_what_is_asked_for(make, shape, dtype):
    found = make(shape, dtype)
    assert (found.shape, found.dtype) == (shape, np.dtype(dtype))
    assert not found.size or address(found) % 64 == 0
    assert found.flags.writeable


HOLDING = {
    "the array": lambda array: array,
    "a view": lambda array: array[2:].reshape(-1, 2),
    "a memoryview": memoryview,
    "JAX": jax.device_put,
    "a result of JAX": lambda array: jax.jit(lambda x: x)(jax.device_put(array)),
    "a view of a result": lambda array: np.asarray(jax.device_put(array)),
}


@pytest.mark.parametrize("holding", HOLDING)
def test_what_is_held_is_left_alone(holding):
    pool = Pool()
    first = pool.blank((4096,), np.float32)
    first[:] = 1
    held = jax.block_until_ready(HOLDING[holding](first))
    del first
    second = pool.blank((4096,), np.float32)
    second[:] = 2
    assert (np.asarray(held) == 1).all()
    there = address(second)
    del held, second
    assert there in {address(one) for one in [pool.blank((4096,), np.float32) for _ in range(2)]}


def test_no_more_than_was_held_at_once():
    pool = Pool()
    places = {address(pool.blank((100,), np.float32)) for _ in range(20)}
    assert len(places) == 1
    assert len({address(one) for one in [pool.blank((100,), np.float32) for _ in range(3)]}) == 3
