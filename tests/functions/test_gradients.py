"""Derivatives of every function that has some, and the list of those that have none."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from calls import CALLS, ENTRIES
from jax.test_util import check_grads
from oracle import outcome

import akjax
from akjax import registry

akjax.register()
jax.config.update("jax_enable_x64", True)

DIFFERENTIABLE = [name for name, entry in ENTRIES.items() if not entry.no_gradient]
ARRAYS = {
    "ragged": ak.Array([[1.25, 0.0, -3.0], [], [4.0, 0.75], [2.0]]),
    "options": ak.Array([[1.25, None, -3.0], [], None, [4.0, 0.75]]),
    "records": ak.zip({"a": [[1.25, 0.0, -3.0], [], [4.0]], "b": [[0.75, 2.25, 3.25], [], [-1.75]]}),
}
TIES = ak.Array([[2.0, 2.0, 0.0, 0.0], [], [0.0], [3.0, 3.0]])
# a straight line through points of one place has no slope
UNDEFINED = ("ak.corr", "ak.linear_fit")
# a step at zero for real numbers; infinite errors for a single point; records, which Awkward sorts field by field
LEFT_OUT = {"ragged": ("ak.angle", "ak.linear_fit"), "options": (), "records": ("ak.angle", "ak.sort")}
GROUPS = [DIFFERENTIABLE[k : k + 12] for k in range(0, len(DIFFERENTIABLE), 12)]


def total(result: Any) -> Any:
    """A number that depends on all numbers of a result that are there and defined."""
    if isinstance(result, ak.Array) and not ak.fields(result):
        return ak.nansum(ak.flatten(result, axis=None) ** 2)
    if isinstance(result, ak.Array | ak.Record):
        return sum(total(result[field]) for field in ak.fields(result))
    if isinstance(result, tuple | list):
        return sum(map(total, result))
    if result is None:  # the categories of numbers
        return jnp.zeros(())
    return jnp.sum(jnp.asarray(result) ** 2)


def test_without_a_gradient() -> None:
    """Functions without one, and why, are exactly those whose results hold no floating-point numbers of the array."""
    reasons = {name: entry.no_gradient for name, entry in ENTRIES.items() if entry.no_gradient}
    assert set(reasons.values()) <= {
        registry.BOOLEANS,
        registry.CONSTANT,
        registry.INTEGERS,
        registry.TEXT,
        registry.TYPE,
    }
    x = ARRAYS["ragged"]
    kinds = {registry.BOOLEANS: "b", registry.INTEGERS: "iu"}
    for name, reason in reasons.items():
        result = CALLS[name](x)
        if reason in kinds:
            dtypes = {np.asarray(leaf).dtype.kind for leaf in jax.tree.leaves(result)}
            assert dtypes <= set(kinds[reason]), (name, dtypes)
    constant = [name for name, reason in reasons.items() if reason == registry.CONSTANT]
    slopes = jax.jit(jax.grad(lambda x: sum(total(CALLS[name](x)) for name in constant)))(x)
    assert ak.all(slopes == 0, axis=None)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group[0]} to {group[-1]}")
def test_finite_at_ties_and_zeros(group: list[str]) -> None:
    names = [name for name in group if name not in UNDEFINED and not isinstance(outcome(CALLS[name], TIES), Exception)]
    slopes = jax.jit(lambda x: {name: jax.grad(lambda x, n=name: total(CALLS[n](x)))(x) for name in names})(TIES)
    bad = [name for name, slope in slopes.items() if not np.isfinite(ak.to_numpy(ak.flatten(slope, axis=None))).all()]
    assert not bad


@pytest.mark.slow
@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group[0]} to {group[-1]}")
def test_second_order(group: list[str], kind: str) -> None:
    array = ARRAYS[kind]
    names = [name for name in group if name not in LEFT_OUT[kind]]
    names = [name for name in names if not isinstance(outcome(CALLS[name], array), Exception)]
    leaves, structure = jax.tree.flatten(array)

    @jax.jit
    def of_leaves(*leaves: Any) -> Any:
        array = jax.tree.unflatten(structure, leaves)
        return jnp.stack([total(CALLS[name](array)) for name in names])

    if names:
        check_grads(of_leaves, tuple(map(jnp.asarray, leaves)), order=2, modes=["fwd", "rev"], rtol=1e-3, atol=1e-3)
