"""`jax.vmap`: rows of rectangular arrays in, stacks of any results out."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrays import ALL
from oracle import plain, same

import akjax

FLAT = ak.Array([1.0, 2.0, 3.0])
MATRIX = ak.Array(np.arange(6.0).reshape(2, 3))
RECORDS = ak.zip({"x": [1.0, 2.0, 3.0], "n": [1, 2, 3]}, with_name="Row")
MIXED: Any = ak.Array({"a": np.arange(6.0).reshape(3, 2), "p": ak.zip({"u": [1.0, 2.0, 3.0]})})
LISTS = ak.Array([[1.0, 2.0], [], [3.0]])


# ------------------------------------------------------------------------------- rows


def test_rows_of_flat_arrays() -> None:
    assert jax.vmap(lambda x: x)(FLAT).to_list() == [1.0, 2.0, 3.0]
    assert plain(jax.vmap(lambda x: x * 2)(FLAT)) == [2.0, 4.0, 6.0]
    same(plain(jax.vmap(jnp.sin)(FLAT)), np.sin([1.0, 2.0, 3.0]).tolist(), rtol=1e-6)
    with pytest.raises(TypeError, match="no length"):
        jax.vmap(len)(FLAT)


def test_rows_of_regular_arrays() -> None:
    assert plain(jax.vmap(ak.sum)(MATRIX)) == [3.0, 12.0]
    assert plain(jax.vmap(lambda x: x * 2)(MATRIX)) == plain(MATRIX * 2)
    assert plain(jax.vmap(lambda x: x[1])(MATRIX)) == [1.0, 4.0]
    assert plain(jax.vmap(lambda x: len(x) * x)(MATRIX)) == plain(MATRIX * 3)
    assert plain(jax.vmap(lambda x: x, in_axes=1)(MATRIX)) == np.arange(6.0).reshape(2, 3).T.tolist()


def test_rows_of_records() -> None:
    assert type(jax.vmap(lambda r: r)(RECORDS)) is type(RECORDS)
    assert plain(jax.vmap(lambda r: r)(RECORDS)) == plain(RECORDS)
    assert plain(jax.vmap(lambda r: r.x * r.n)(RECORDS)) == [1.0, 4.0, 9.0]
    assert plain(jax.vmap(lambda r: r["x"])(RECORDS)) == [1.0, 2.0, 3.0]
    assert plain(jax.vmap(lambda r: ak.sum(r.a) + r.p.u)(MIXED)) == [2.0, 7.0, 12.0]

    def extended(r: Any) -> Any:
        assert "Row" in repr(r)
        assert r.fields == ["x", "n"]
        r["z"] = r.x * 2
        return r

    assert plain(jax.vmap(extended)(RECORDS)) == [{"x": n, "n": n, "z": 2 * n} for n in (1, 2, 3)]
    assert plain(jax.jit(jax.vmap(extended))(RECORDS)) == plain(jax.vmap(extended)(RECORDS))


def test_gradients_by_row() -> None:
    gradient = jax.vmap(jax.grad(lambda x: ak.sum(x**2)))(MATRIX)
    assert plain(gradient) == plain(MATRIX * 2)
    total = jax.grad(lambda x: jnp.sum(jax.vmap(lambda r: r.x**2 * r.n)(x)), allow_int=True)(RECORDS)
    assert total.x.to_list() == [2.0, 8.0, 18.0]


RAGGED = {name: array for name, array in ALL.items() if name in {"lists", "options", "indexed lists", "missing lists"}}


@pytest.mark.parametrize("array", RAGGED.values(), ids=RAGGED.keys())
def test_rows_of_ragged_arrays_say_what_to_do(array: Any) -> None:
    for f in (ak.sum, lambda x: x + 1, lambda x: x[0], len):
        with pytest.raises(akjax.StructureError, match="cannot map over the rows of a ragged array") as caught:
            jax.vmap(f)(array)
        assert "akjax.vmap" in str(caught.value)
    seen = []
    jax.vmap(lambda x: seen.append((repr(x), str(x))))(array)
    assert "traced" in seen[0][0]


def test_fields_of_different_lengths_are_named_by_jax() -> None:
    array = ak.Array([{"a": [1.0, 2.0], "b": 1.0}, {"a": [], "b": 2.0}, {"a": [3.0], "b": 2.0}])
    shorter = ak.Array([{"a": [1.0, 2.0], "b": 1.0}, {"a": [], "b": 2.0}, {"a": [3.0, 4.0], "b": 2.0}])
    with pytest.raises(ValueError, match=r"(?s)x\.a.*x\.b"):
        jax.vmap(lambda x: ak.sum(x.a))(shorter)
    with pytest.raises(akjax.StructureError, match="ragged"):
        jax.vmap(lambda x: ak.sum(x.a))(array)


# ------------------------------------------------------------------------------- stacks


SCALES = jnp.arange(1.0, 3.0)
STACKED = {
    name: array
    for name, array in ALL.items()
    if name not in {"unknown", "no fields", "no rows", "union", "union of records"} and jax.tree.leaves(array)
}


def repeated(array: Any, times: int) -> Any:
    return jax.vmap(lambda s: jax.tree.map(lambda leaf: leaf + jnp.zeros_like(leaf, shape=()), array))(
        jnp.arange(times)
    )


@pytest.mark.parametrize("array", STACKED.values(), ids=STACKED.keys())
def test_stacks_of_any_array(array: Any) -> None:
    stacked = jax.vmap(lambda s: array)(SCALES)
    assert jax.tree.structure(stacked) == jax.tree.structure(array)
    assert plain(stacked) == [plain(array)] * 2
    assert repr(stacked)
    if jax.config.read("jax_enable_x64"):
        assert str(ak.type(stacked)) == f"2 * {ak.type(array)}"
    for k in range(2):
        assert plain(jax.tree.map(lambda leaf: leaf[k], stacked)) == plain(array)  # noqa: B023


def test_stacks_are_ordinary_arrays_outside() -> None:
    stacked = jax.vmap(lambda s: LISTS * s)(SCALES)
    assert plain(stacked) == [plain(LISTS), plain(LISTS * 2)]
    assert plain(stacked + 1) == [plain(LISTS + 1), plain(LISTS * 2 + 1)]
    assert plain(jax.vmap(lambda x: ak.sum(x, axis=1))(stacked)) == [[3.0, 0.0, 3.0], [6.0, 0.0, 6.0]]
    assert jax.lax.scan(lambda c, x: (c + ak.sum(x), None), 0.0, stacked)[0] == 18.0
    with pytest.raises(akjax.StructureError, match="1 more axis"):
        jax.jit(lambda x: x + 1)(stacked)


def test_stacks_of_stacks_and_of_nothing() -> None:
    twice = jax.vmap(jax.vmap(lambda s: LISTS * s))(jnp.arange(4.0).reshape(2, 2))
    assert plain(twice) == [[plain(LISTS * s) for s in row] for row in ((0, 1), (2, 3))]
    nothing = jax.vmap(lambda s: LISTS * s)(jnp.arange(0.0))
    assert plain(nothing) == []
    assert str(ak.type(nothing)).startswith("0 * 3 * var * float")
    scanned = jax.lax.scan(lambda c, s: (c, LISTS * s), 0.0, SCALES)[1]
    assert plain(scanned) == [plain(LISTS), plain(LISTS * 2)]


def test_stacked_records_are_records_of_stacks() -> None:
    stacked = jax.vmap(lambda s: ak.with_field(RECORDS[1], RECORDS[1].x * s, "z"))(SCALES)
    assert type(stacked) is type(RECORDS[1])
    assert plain(stacked) == {"x": [2.0, 2.0], "n": [2, 2], "z": [2.0, 4.0]}
    assert repr(stacked)
    assert plain(jax.vmap(lambda r: r.z)(stacked)) == [2.0, 4.0]


def test_stacked_selections() -> None:
    rows = jax.vmap(lambda cut: FLAT[cut < FLAT])(jnp.arange(0.0, 4.0))
    assert plain(rows) == [[1.0, 2.0, 3.0], [2.0, 3.0], [3.0], []]
    elements = jax.vmap(lambda cut: LISTS[cut < LISTS])(jnp.arange(0.0, 3.0))
    assert plain(elements) == [[[1.0, 2.0], [], [3.0]], [[2.0], [], [3.0]], [[], [], [3.0]]]


def test_parameters_are_mapped_and_data_is_not() -> None:
    f = jax.vmap(lambda s, x: ak.sum(x * s, axis=1), in_axes=(0, None))
    assert plain(f(SCALES, LISTS)) == [[3.0, 0.0, 3.0], [6.0, 0.0, 6.0]]
    out = jax.vmap(lambda s, x: x, in_axes=(0, None), out_axes=None)(SCALES, LISTS)
    assert plain(out) == plain(LISTS)
