"""`akjax.compact`: the same values in fewer slots, never a wrong number when there are too many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from many import check_many
from oracle import plain, same
from programs import shape_of

import akjax

akjax.register()

x = ak.Array([[1.5, 2.0, 3.0], [], [4.0, 0.5], [6.0], [0.7, 0.9]])
deep = ak.Array([[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 6.0]], [[]], [[7.0]]])
events = ak.Array(
    {
        "weight": [0.5, 1.0, 2.0, 0.1, 0.3],
        "jets": ak.zip({"pt": x, "eta": -x}, with_name="Jet"),
        "maybe": [None, 1.0, 2.0, None, 3.0],
        "regular": ak.Array(np.arange(10.0).reshape(5, 2)),
    }
)


def rows(a: ak.Array, by: Any, capacity: int = 3) -> ak.Array:
    return akjax.compact(a[ak.sum(by, axis=1) > 4], capacity=capacity)


def elements(a: ak.Array, capacity: int = 2, axis: int | None = None) -> ak.Array:
    return akjax.compact(a[a < 2.5], capacity=capacity, axis=axis)


SAME: dict[str, Callable[..., Any]] = {
    "rows": lambda x, deep, events: rows(x, x),
    "elements": lambda x, deep, events: elements(x),
    "last axis": lambda x, deep, events: akjax.compact(x[x < 2.5], capacity=2, axis=-1),
    "elements, then rows": lambda x, deep, events: rows(x[x < 2.5], x),
    "elements of what was compacted": lambda x, deep, events: elements(rows(x, x), 2, 1),
    "deep rows": lambda x, deep, events: rows(deep, x),
    "deep elements": lambda x, deep, events: akjax.compact(deep[deep > 2], capacity=3),
    "deep lists": lambda x, deep, events: akjax.compact(deep[ak.sum(deep, axis=2) > 0], capacity=2, axis=1),
    "records": lambda x, deep, events: rows(events, x),
    "fields line up": lambda x, deep, events: (lambda e: e.jets.pt * e.jets.eta + e.weight)(rows(events, x)),
    "apart": lambda x, deep, events: rows(x, x) * rows(events.jets.eta, x),
    "elements of a record": lambda x, deep, events: (lambda j: akjax.compact(j[j.pt < 2.5], capacity=2))(events.jets),
    "missing": lambda x, deep, events: rows(events.maybe, x),
    "regular": lambda x, deep, events: ak.sum(rows(events.regular, x), axis=1),
    "pairs": lambda x, deep, events: ak.combinations(rows(x, x), 2),
    "number of rows": lambda x, deep, events: ak.num(rows(x, x), axis=0),
    "numbers": lambda x, deep, events: ak.num(rows(x, x)),
    "sum": lambda x, deep, events: ak.sum(rows(x, x)),
    "largest": lambda x, deep, events: ak.max(elements(x), axis=1),
    "first": lambda x, deep, events: ak.firsts(elements(x)),
    "nothing": lambda x, deep, events: akjax.compact(x[ak.sum(x, axis=1) > 100], capacity=1),
    "nothing was selected": lambda x, deep, events: akjax.compact(x, capacity=3, axis=1),
    "room enough": lambda x, deep, events: rows(x, x, 99),
}


@pytest.mark.skipif(not jax.config.jax_enable_x64, reason="compares in 64 bits")
def test_same_values_and_types() -> None:
    check_many(SAME, x, deep, events)


def test_it_is_smaller() -> None:
    sizes = {
        leaf.shape for leaf in jax.tree.leaves(jax.eval_shape(jax.jit(lambda a: rows(a.weight, a.jets.pt, 3)), events))
    }
    assert sizes == {(3,)}
    leaves = jax.tree.leaves(jax.eval_shape(jax.jit(lambda a: elements(a, 2)), x))
    assert {leaf.shape for leaf in leaves} == {(2 + 0 + 2 + 1 + 2,)}


def test_integers_may_be_missing() -> None:
    kept = jax.jit(lambda n: akjax.compact(n[n > 1], capacity=2))
    assert plain(kept(ak.Array([1, 2, 3]))) == [2, 3]
    assert str(kept(ak.Array([1, 2, 3])).type) == "2 * ?int64"
    assert plain(kept(ak.Array([2, 2, 3]))) == [None, None]


def test_more_than_the_capacity() -> None:
    too_many = jax.jit(lambda e: rows(e, e.jets.pt, 2))(events)
    assert np.isnan(ak.to_numpy(ak.flatten(too_many.jets.pt))).all()
    assert np.isnan(ak.to_numpy(too_many.weight)).all()
    assert np.isnan(jax.jit(lambda x: ak.sum(rows(x, x, 2)))(x))
    # the lists that have too many, and no others
    same(plain(jax.jit(lambda x: elements(x, 1))(x)), [[np.nan], [], [0.5], [], [np.nan]])


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: rows(x, x, 2), "3 elements, more than capacity=2"),
        (lambda x: elements(x, 1), "2 elements, more than capacity=1"),
        (lambda x: akjax.compact(x[x < 2.5][ak.sum(x, axis=1) > 4], capacity=1, axis=1), "2 elements"),
    ],
)
def test_checked(f: Callable[..., Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        akjax.checked(f)(x)


def test_known_excess() -> None:
    for f in (lambda x: akjax.compact(x, capacity=4, axis=0), lambda x: akjax.compact(x, capacity=2, axis=1)):
        for function in (f, jax.jit(f)):
            with pytest.raises(ValueError, match="more than capacity"):
                function(x)


def test_lists_that_do_not_exist_may_have_too_many() -> None:
    def f(x: ak.Array) -> ak.Array:
        return akjax.compact(x[x > 0][ak.sum(x, axis=1) < 5], capacity=2, axis=1)

    assert plain(akjax.checked(f)(x)) == plain(x[ak.sum(x, axis=1) < 5])


def test_gradients() -> None:
    def loss(x: ak.Array) -> Any:
        few = rows(x[x < 5], x)
        return ak.sum(few**2) + ak.sum(np.log(elements(x, 3) + 1))

    got = jax.jit(jax.grad(loss))(x)
    want = jax.grad(lambda x: ak.sum(x[x < 5][ak.sum(x, axis=1) > 4] ** 2) + ak.sum(np.log(x[x < 2.5] + 1)))(x)
    same(plain(got), plain(want))

    def scaled(s: Any) -> Any:
        return ak.sum(np.sqrt(rows(x * s, x * s)))

    check_grads(scaled, (1.1,), order=2, modes=["fwd", "rev"], rtol=1e-4)


def test_what_does_not_exist_stays_out() -> None:
    dirty = ak.Array([[np.nan, 1.0], [2.0, np.inf], [3.0, 4.0]])
    keep = ak.Array([False, False, True])

    def loss(a: ak.Array, keep: ak.Array) -> Any:
        return ak.sum(np.log(akjax.compact(a[keep], capacity=1)))

    with jax.debug_nans(True):
        got = jax.jit(jax.grad(loss))(dirty, keep)
    same(plain(got), [[0.0, 0.0], [0.0, 0.0], [1 / 3, 1 / 4]])


def test_transformations() -> None:
    many = ak.concatenate([x, 0.1 * x])  # where lists get room for the longest: integers have no Jacobian

    def f(s: Any) -> ak.Array:
        return rows(many * s, many * s)

    want = many[ak.sum(many * 2, axis=1) > 4]
    for derivative in (jax.jacfwd(f), jax.jacrev(f)):
        same(plain(derivative(2.0)), plain(want))
        same(plain(akjax.like(jax.jit(derivative)(2.0), jax.jit(f)(2.0))), plain(want))
    same(plain(jax.vmap(f)(jnp.array([1.0, 2.0]))), [plain(many[ak.sum(many, axis=1) > 4]), plain(want * 2)])


def test_crowded_lists() -> None:
    """One long list: not every row gets room for it."""
    long = ak.Array([[1.0] * 50, [2.0], [], [3.0, 4.0], [5.0]])
    kept = jax.jit(lambda a: akjax.compact(a[ak.sum(a, axis=1) > 4], capacity=4))
    assert plain(kept(long)) == plain(long[ak.sum(long, axis=1) > 4])
    shapes = {leaf.shape for leaf in jax.tree.leaves(jax.eval_shape(kept, long))}
    assert max(shape[0] for shape in shapes) <= 54 + 4

    def loss(w: Any) -> Any:
        one, two = ak.unzip(ak.combinations(kept(long * w), 2))
        return ak.sum(np.sin(one * two) * w)

    check_grads(loss, (1.1,), order=2)
    assert jax.vmap(loss)(jnp.array([1.1, 1.2])).shape == (2,)


def test_akjax_traced() -> None:
    several = akjax.traced(x)
    assert plain(jax.jit(lambda x: rows(x, x))(several)) == plain(x[ak.sum(x, axis=1) > 4])
    assert plain(jax.jit(lambda x: elements(x, axis=1))(several)) == plain(x[x < 2.5])


def test_no_sort() -> None:
    shape = shape_of(lambda e: jax.tree.leaves(akjax.compact(e[e.weight > 0.3], capacity=3)), events)
    assert shape.sorts == 0
    assert shape.scatters == 2  # which row comes where, and which list a number is in


@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda x: akjax.compact(x, capacity=-1), ValueError, "negative"),
        (lambda x: akjax.compact(x, capacity=1.5), TypeError, "integer"),
        (lambda x: akjax.compact(x[x > 1], capacity=1, axis=5), akjax.StructureError, "axis=5"),
        (lambda x: akjax.compact(ak.sum(x), capacity=1), TypeError, "ak.Array"),
    ],
)
def test_errors(f: Callable[..., Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        jax.jit(f)(x)


def test_text_does_not_move() -> None:
    named = ak.Array([{"name": "one", "v": 1.0}, {"name": "two", "v": 2.0}])
    with pytest.raises(akjax.StructureError, match="text"):
        jax.jit(lambda a: akjax.compact(a[a.v > 1], capacity=1))(named)


class TestListsOfRunTimeLength:
    """How long they are at most is what only the user can know."""

    numbers, counts = ak.Array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), ak.Array([2, 0, 1, 3])

    def pairs(self, capacity):
        def function(numbers, counts):
            lists = akjax.compact(ak.unflatten(numbers, counts), capacity=capacity, axis=1)
            return lists, ak.combinations(lists, 2)

        return function

    def test_enough(self):
        lists = ak.unflatten(self.numbers, self.counts)
        got = jax.jit(self.pairs(3))(akjax.traced(self.numbers), akjax.traced(self.counts))
        assert plain(got) == plain((lists, ak.combinations(lists, 2)))

    def test_too_few(self):
        numbers, counts = akjax.traced(self.numbers), akjax.traced(self.counts)
        lists, _ = jax.jit(self.pairs(2))(numbers, counts)
        assert plain(lists)[:3] == [[1.0, 2.0], [], [3.0]]
        assert np.isnan(plain(lists)[3]).tolist() == [True, True]
        with pytest.raises(ValueError, match="more than capacity=2"):
            akjax.checked(self.pairs(2))(numbers, counts)

    def test_what_does_not_exist_needs_no_room(self):
        lists = akjax.traced(ak.unflatten(self.numbers, self.counts))

        def few(x):
            return akjax.compact(x[ak.num(x) < 3], capacity=2, axis=1)

        assert plain(akjax.checked(few)(lists)) == [[1.0, 2.0], [], [3.0]]

    def test_too_many_for_any_program(self):
        numbers, counts = akjax.traced(np.arange(2e5) + ak.Array([0.0] * 200000)), akjax.traced(ak.Array([2] * 100000))
        with pytest.raises(akjax.StructureError, match=r"akjax\.compact\(array, capacity=n, axis=1\)"):
            jax.eval_shape(lambda x, c: ak.combinations(ak.unflatten(x, c), 2), numbers, counts)
        lists, _ = jax.eval_shape(self.pairs(2), numbers, counts)
        assert len(jax.tree.leaves(lists)) > 0
