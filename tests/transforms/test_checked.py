"""`akjax.checked`: what is wrong with values raises Awkward's error, through every transformation."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import known_issues
import numpy as np
import pytest
from jax import lax
from jax.experimental import checkify
from oracle import plain

import akjax
from akjax.algorithms.runtime_errors import check

akjax.register()

x = ak.Array([1.5, 2.5, 3.5])
lists = ak.Array([[1.5, 2.5], [], [3.5]])
GOOD, BAD = jnp.array([0, -1]), jnp.array([0, 7])
TEXT = "index 7 is out of bounds for axis 0 with size 3"


def pick(x: ak.Array, i: Any) -> ak.Array:
    return x[i]


def total(x: ak.Array, i: Any) -> Any:
    return ak.sum(x[i] ** 2)


def scanned(x: ak.Array, i: Any) -> Any:
    return lax.scan(lambda carry, k: (carry + x[k], None), 0.0, i)[0]


def branch(x: ak.Array, i: Any) -> Any:
    return lax.cond(i[1] != 0, lambda: total(x, i), lambda: 0.0)


INSIDE: dict[str, Callable[..., Any]] = {
    "plain": pick,
    "jit": jax.jit(pick),
    "jit in jit": jax.jit(jax.jit(pick)),
    "grad": jax.grad(total),
    "jit of grad": jax.jit(jax.grad(total)),
    "hessian": jax.hessian(lambda s, i: total(s * x, i)),
    "vmap": jax.vmap(lambda x, i: x[i], in_axes=(None, 0)),
    "remat": jax.grad(jax.checkpoint(total)),
    "scan": scanned,
    "cond": branch,
    "checked": akjax.checked(pick),
    "jit of checked": jax.jit(akjax.checked(pick)),
    "vmap of checked": jax.vmap(akjax.checked(total), in_axes=(None, 0)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_transformations_inside(name: str) -> None:
    function = INSIDE[name]
    first = 1.3 if name == "hessian" else x
    good, bad = (jnp.stack([GOOD, each]) if "vmap of" in name else each for each in (GOOD, BAD))
    want = plain(function(first, good))
    jax.jit(function)(first, good)  # traced without checks before, as it may well be
    checked = akjax.checked(function)
    assert plain(checked(first, good)) == want
    with pytest.raises(IndexError, match=f"^{re.escape(TEXT)}$"):
        checked(first, bad)
    if "checked" not in name:  # and without them again afterwards
        jax.block_until_ready(jax.jit(function)(first, bad))


@pytest.mark.parametrize("around", [jax.grad, jax.value_and_grad, lambda f: functools.partial(jax.vjp, f)])
def test_derivatives_around(around: Callable[..., Any]) -> None:
    around(akjax.checked(total))(x, GOOD)
    with pytest.raises(IndexError, match=re.escape(TEXT)):
        around(akjax.checked(total))(x, BAD)


@pytest.mark.parametrize(
    ("around", "axis"),
    [(jax.jit, 0), (lambda f: jax.jit(jax.grad(f)), 0), (lambda f: jax.jit(jax.vmap(f, (None, 0))), 1)],
)
def test_programs_around(around: Callable[..., Any], axis: int) -> None:
    """The error then goes through JAX, which has its own class for what a program raises."""
    good, bad = (jnp.expand_dims(each, tuple(range(axis))) for each in (GOOD, BAD))
    function = around(akjax.checked(total))
    jax.block_until_ready(function(x, good))
    with pytest.raises(jax.errors.JaxRuntimeError, match=re.escape(TEXT)):
        jax.block_until_ready(function(x, bad))


def test_vmap_around() -> None:
    function = jax.vmap(akjax.checked(total), in_axes=(None, 0))
    np.testing.assert_allclose(function(x, GOOD[:, None]), [1.5**2, 3.5**2])
    with pytest.raises(IndexError, match=re.escape(TEXT)):
        function(x, BAD[:, None])


def test_nothing_is_computed_without() -> None:
    checks = [
        str(jax.make_jaxpr(f)(x, BAD)).count("check[") for f in (pick, checkify.checkify(pick), akjax.checked(pick))
    ]
    assert checks == [0, 0, 0]

    def mocked(x: ak.Array, i: Any) -> ak.Array:
        check(i < 3, IndexError, "never")
        return x[i]

    assert str(jax.make_jaxpr(mocked)(x, BAD)) == str(jax.make_jaxpr(lambda x, i: (i < 3, x[i])[1])(x, BAD))


def test_checks_of_the_user() -> None:
    def positive(v: Any) -> Any:
        checkify.check(v > 0, "not positive: {v}", v=v)
        return v

    assert akjax.checked(positive)(1.0) == 1.0
    with pytest.raises(ValueError, match="not positive"):
        akjax.checked(positive)(-1.0)


def test_errors_known_while_tracing() -> None:
    with pytest.raises(IndexError, match="out of range"):
        akjax.checked(lambda x: x[:, 5])(lists)


@pytest.mark.parametrize("k", [1, -2])
def test_lists_that_a_selection_left_too_short(k: int) -> None:
    def second(x: ak.Array, cut: float) -> ak.Array:
        return x[x > cut][ak.num(x[x > cut]) != 1][:, k]

    several = ak.Array([[1.0, 2.0, 3.0], [4.0, 5.0], [6.0]])
    assert plain(akjax.checked(second)(several, 0.0)) == plain(second(several, 0.0))
    with pytest.raises(IndexError, match=f"get index {k}$") as raised:
        akjax.checked(second)(several, 5.5)
    with pytest.raises(IndexError, match=re.escape(str(raised.value))):
        second(several, 5.5)


@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda x, t: x[x > 1] + x[x > t], ValueError, "cannot broadcast nested list"),
        (lambda x, t: ak.zip([x[x > 1], x[x > t]]), ValueError, "cannot broadcast nested list"),
        (lambda x, t: x[x > t][x[x > 1] > 0], IndexError, "cannot fit"),
        (lambda x, t: x[x > t][ak.Array([[1], [], [0]])], IndexError, "index out of range while attempting"),
    ],
)
def test_selections_that_do_not_fit(f: Callable[..., Any], error: type[Exception], text: str) -> None:
    several = ak.Array([[1.5, 2.5, 3.5], [], [3.5]])
    assert plain(akjax.checked(f)(several, 1.2)) == plain(f(several, 1.2))
    jax.jit(f)(several, 2.0)
    with pytest.raises(error, match=text):
        akjax.checked(f)(several, 3.0)
    if known_issues.READS_THE_NEXT_LIST and "attempting" in text:
        return
    with pytest.raises(error):
        f(several, 3.0)


def test_missing_indexes_are_no_error() -> None:
    index = ak.Array([0, None, 2])
    assert plain(akjax.checked(pick)(x, index)) == plain(x[index])


@pytest.mark.parametrize(
    ("array", "index"),
    [
        (x, 5),
        (x, -4),
        (x, np.array([1, 3])),
        (x, np.array([[1, 3]])),
        (ak.Array([1, 2, 3]), np.array([1, 3])),
        (ak.Array([1.0, None, 3.0]), np.array([1, 3])),
        (lists, ak.Array([[0, 2], [], [0]])),
        (lists, ak.Array([[0], [-1], [0]])),
        (lists, ak.Array([[0], [None, 0], [0]])),
        (ak.zip({"a": lists, "b": lists}), ak.Array([[0, 2], [], [0]])),
        (ak.Array([[1, 2], None, [3]]), ak.Array([[0, 2], None, [0]])),
    ],
)
def test_indexes_out_of_range(array: ak.Array, index: Any) -> None:
    with pytest.raises(IndexError) as ours:
        akjax.checked(pick)(array, jnp.asarray(index) if not isinstance(index, ak.Array) else index)
    if known_issues.READS_THE_NEXT_LIST and isinstance(index, ak.Array) and index.ndim > 1:
        return
    with pytest.raises(IndexError, match=re.escape(str(ours.value))):
        array[index]
