"""Run-time errors reach whoever collects them, and nobody else."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify

from akjax.algorithms.runtime_errors import check, collecting, is_collecting, raise_error, text_of


def fail(message: str, ok: object = False, **values: object) -> None:
    check(ok, IndexError, message, **values)


def test_told_only_while_somebody_collects() -> None:
    fail("before")
    assert not is_collecting()
    with collecting():
        assert is_collecting()
        error, _ = checkify.checkify(fail)("during")
    assert not is_collecting()
    fail("after")
    assert text_of(error) == ("IndexError", "during")


def test_the_first_place_is_named() -> None:
    with collecting():
        ok, at = np.array([[True, False], [False, True]]), jnp.arange(4).reshape(2, 2)
        error, _ = checkify.checkify(lambda: fail("{at} of {n}", ok, at=at, n=4))()
    with pytest.raises(IndexError, match=r"^1 of 4$"):
        raise_error(error)


@pytest.mark.parametrize("ok", [True, np.ones(3, bool), np.ones(0, bool), jnp.ones((2, 0), bool)])
def test_nothing_is_wrong(ok: object) -> None:
    with collecting():
        error, _ = checkify.checkify(lambda: fail("never", ok))()
    assert text_of(error) is None
    raise_error(error)


def test_a_jitted_function_is_traced_again() -> None:
    function = jax.jit(lambda ok: fail("in jit", ok))
    function(False)
    with collecting():
        error, _ = checkify.checkify(function)(False)
    assert text_of(error) == ("IndexError", "in jit")
    function(False)
