"""No derivative is disturbed by what does not exist: dead slots may hold anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import check_gradient, same

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not jax.config.jax_enable_x64, reason="compares in 64 bits"),
]

x = ak.Array([[1.5, 2.0, 3.0], [], [4.0, 0.5], [6.0], [0.7, 0.9]])
m = ak.Array([[True, False, True], [], [False, False], [True], [True, True]])
r = ak.Array([True, True, True, False, True])
EVERY = ak.broadcast_arrays(r, x)[0]


def pairs(a: ak.Array) -> tuple[ak.Array, ak.Array]:
    return ak.unzip(ak.combinations(a, 2))


LOSSES: dict[str, Callable[[ak.Array], Any]] = {
    "sum": lambda a: ak.sum(ak.sum(a, axis=1) ** 2),
    "sqrt": lambda a: ak.sum(np.sqrt(a)),
    "log": lambda a: ak.sum(np.log(a)),
    "power": lambda a: ak.sum(a**1.5),
    "inverse": lambda a: ak.sum(1 / a),
    "arccosh": lambda a: ak.sum(np.arccosh(a + 1)),
    "arcsin": lambda a: ak.sum(np.arcsin(a / 7)),
    "hypot": lambda a: ak.sum(np.hypot(a, a)),
    "arctan2": lambda a: ak.sum(np.arctan2(a, a * a)),
    "prod": lambda a: ak.sum(ak.prod(a, axis=1)),
    "max": lambda a: ak.sum(ak.max(a, axis=1)),
    "min": lambda a: ak.sum(ak.fill_none(ak.min(a, axis=1), 0.0)),
    "ptp": lambda a: ak.sum(ak.fill_none(ak.ptp(a, axis=1), 0.0)),
    "mean": lambda a: ak.mean(a),
    "means": lambda a: ak.sum(ak.nan_to_num(ak.mean(a, axis=1))),
    "std": lambda a: ak.std(a),
    "stds": lambda a: ak.sum(ak.nan_to_num(ak.std(a, axis=1))),
    "var": lambda a: ak.var(a),
    "moment": lambda a: ak.moment(a, 3),
    "corr": lambda a: ak.corr(a, a**2),
    "covar": lambda a: ak.sum(ak.nan_to_num(ak.covar(a, a**2, axis=1))),
    "softmax": lambda a: ak.sum(ak.softmax(a, axis=1) ** 2),
    "deviation": lambda a: ak.sum((a - ak.mean(a, axis=1)) ** 2),
    "fraction": lambda a: ak.sum(np.sqrt(a / ak.sum(a, axis=1, keepdims=True))),
    "pairs": lambda a: ak.sum(np.sqrt(pairs(a)[0] * pairs(a)[1])),
    "best pair": lambda a: ak.sum(ak.max(pairs(a)[0] * pairs(a)[1], axis=1)),
    "product": lambda a: ak.sum(np.log(ak.cartesian([a, a])["1"])),
    "where": lambda a: ak.sum(ak.where(a > 1, np.log(a), a)),
    "flatten": lambda a: ak.sum(np.sqrt(ak.flatten(a))),
    "again": lambda a: ak.sum(np.sqrt(a[a > 1])),
    "firsts": lambda a: ak.sum(np.sqrt(ak.firsts(a))),
    "slice": lambda a: ak.sum(np.sqrt(a[:, :1])),
    "mask": lambda a: ak.sum(np.log(ak.mask(a, a > 1))),
    "fill_none": lambda a: ak.sum(np.sqrt(ak.fill_none(ak.max(a, axis=1), 1.0))),
    "drop_none": lambda a: ak.sum(np.log(ak.drop_none(ak.max(a, axis=1)))),
    "zip": lambda a: ak.sum(np.sqrt(ak.zip({"a": a, "b": a * a}).a)),
    "sort": lambda a: ak.sum(np.sqrt(ak.sort(a, axis=1)) * (1 + ak.local_index(a))),
    "argsort": lambda a: ak.sum(np.log(a[ak.argsort(a, axis=1, ascending=False)][:, :1])),
    "argmax": lambda a: ak.sum(np.log(a[ak.argmax(a, axis=1, keepdims=True)])),
    "pad_none": lambda a: ak.sum(np.sqrt(ak.fill_none(ak.pad_none(a, 2, clip=True), 1.0))),
    "concatenate": lambda a: ak.sum(np.sqrt(ak.concatenate([a, a * a], axis=1))),
    "backwards": lambda a: ak.sum(np.sqrt(a[:, ::-1]) * (1 + ak.local_index(a))),
    "unflatten": lambda a: ak.sum(ak.sum(np.sqrt(ak.unflatten(ak.flatten(a), ak.num(a))), axis=1) ** 2),
    "columns": lambda a: ak.sum(ak.sum(np.sqrt(a), axis=0) ** 2),
    "row": lambda a: ak.sum(np.sqrt(a[0:1])),
    "nested product": lambda a: ak.sum(np.sqrt(np.multiply(*ak.unzip(ak.cartesian([a, a], nested=True))))),
    "lined up": lambda a: ak.sum(np.sqrt(a[a > 1] * (a * a)[a * a > 1])),
    "histogram": lambda a: jnp.sum(np.histogram(ak.flatten(a), 3, (0, 8), weights=np.sqrt(ak.flatten(a)))[0]),
}

SELECTIONS: dict[str, tuple[Callable[..., ak.Array], ak.Array, ak.Array]] = {
    "elements": (lambda a, m, r: a[m], m, r),
    "rows": (lambda a, m, r: a[r], ak.ones_like(m), r),
    "elements of rows": (lambda a, m, r: a[m][r], m, r),
    "no element": (lambda a, m, r: a[m], m & False, r),
    "no row": (lambda a, m, r: a[r], ak.ones_like(m), r & False),
}


def flat(array: ak.Array) -> np.ndarray:
    return np.asarray(ak.flatten(array, axis=None))


def kept(which: str) -> np.ndarray:
    _, mask, rows = SELECTIONS[which]
    return flat(mask) & (True if "element" in which and "rows" not in which else flat(ak.broadcast_arrays(rows, x)[0]))


def holding(values: np.ndarray) -> ak.Array:
    return ak.unflatten(values, ak.num(x))


@pytest.mark.parametrize("which", SELECTIONS)
@pytest.mark.parametrize("name", LOSSES)
def test_dead_slots(name: str, which: str) -> None:
    select, mask, rows = SELECTIONS[which]
    alive = kept(which)

    def loss(a: ak.Array, mask: ak.Array, rows: ak.Array) -> jax.Array:
        return LOSSES[name](select(a, mask, rows))

    gradient = jax.jit(jax.grad(loss))
    want = np.zeros(len(alive))
    if alive.any():
        want[alive] = flat(jax.grad(LOSSES[name])(select(x, mask, rows)))
    something = not which.startswith("no ")
    for bad in (1.0, np.nan, np.inf, -np.inf, 0.0, -1.0):
        with jax.debug_nans(something):
            got = flat(gradient(holding(np.where(alive, flat(x), bad)), mask, rows))
        assert not got[~alive].any()
        # of nothing at all some statistics are undefined, but no slot carries that
        np.testing.assert_allclose(got, want, rtol=1e-9, err_msg=str(bad))


@pytest.mark.parametrize(
    "name",
    [
        *("sqrt", "log", "max", "std", "softmax", "pairs", "firsts", "corr", "fraction"),
        *("sort", "argmax", "pad_none", "unflatten", "columns", "lined up"),
    ],
)
def test_every_step_stays_finite(name: str) -> None:
    """Outside jit each primitive is looked at by itself."""
    dirty = holding(np.where(flat(m), flat(x), -1.0))
    scaled = jax.grad(lambda s: LOSSES[name]((dirty * s)[dirty * s > 0]))
    with jax.debug_nans(True):
        assert np.isfinite(scaled(1.0))
        assert np.isfinite(jax.grad(lambda s: scaled(s) ** 2)(1.0))


@pytest.mark.parametrize(
    "name",
    [
        *("sqrt", "log", "power", "prod", "mean", "std", "corr", "softmax", "pairs", "fraction", "firsts"),
        *("sort", "argmax", "pad_none", "concatenate", "columns", "lined up"),
    ],
)
def test_derivatives_of_parameters(name: str) -> None:
    """First and second order, forward and reverse, of a scale that is broadcast into what is left."""
    dirty = holding(np.where(flat(m), flat(x), 0.0))

    def loss(scale: jax.Array) -> jax.Array:
        return LOSSES[name]((dirty[m & (dirty * scale > 0)] + 0.1) * scale)

    check_gradient(lambda s: loss(s), jnp.asarray(1.3))
    by_vmap = jax.vmap(jax.grad(loss))(jnp.array([1.1, 1.3]))
    same([float(g) for g in by_vmap], [float(jax.grad(loss)(s)) for s in (1.1, 1.3)])


def test_second_order_of_data() -> None:
    dirty = holding(np.where(flat(m), flat(x), np.nan))
    clean = x[m]
    for name in ("log", "std", "softmax", "pairs"):

        def steep(a: ak.Array, name: str = name) -> jax.Array:
            slopes = jax.tree.leaves(jax.grad(LOSSES[name])(a))
            return jnp.sum(jnp.stack([jnp.vdot(s, s) for s in slopes]))

        def steep_of_all(a: ak.Array, mask: ak.Array, name: str = name) -> jax.Array:
            slopes = jax.tree.leaves(jax.grad(lambda b: LOSSES[name](b[mask]))(a))
            return jnp.sum(jnp.stack([jnp.vdot(s, s) for s in slopes]))

        want = np.zeros(len(flat(x)))
        want[flat(m)] = flat(jax.grad(steep)(clean))
        np.testing.assert_allclose(flat(jax.jit(jax.grad(steep_of_all))(dirty, m)), want, rtol=1e-8)
