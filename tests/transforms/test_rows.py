"""`akjax.vmap`: a function of one event, over all events."""

from __future__ import annotations

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import plain, same

import akjax

akjax.register()

EVENTS = ak.Array(
    [
        {"met": 1.0, "w": 2, "jets": [{"pt": 3.0, "sub": [1.0, 2.0]}, {"pt": 1.0, "sub": []}], "pos": [0.0, 1.0]},
        {"met": 2.0, "w": None, "jets": [], "pos": [2.0, 3.0]},
        {"met": 3.0, "w": 4, "jets": [{"pt": 5.0, "sub": [4.0]}], "pos": [4.0, 5.0]},
    ]
)
EVENTS = ak.with_field(EVENTS, ak.to_regular(EVENTS.pos), "pos")

FUNCTIONS = {
    "elementwise": lambda e: e.jets.pt * e.met,
    "total": lambda e: ak.sum(e.jets.pt) * e.met,
    "records": lambda e: e.jets,
    "the event": lambda e: e,
    "number": lambda e: ak.num(e.jets, axis=0),
    "nested": lambda e: ak.sum(e.jets.sub, axis=1),
    "lists of lists": lambda e: e.jets.sub * 2,
    "selection": lambda e: e.jets.pt[e.jets.pt > 2],
    "selected lists": lambda e: e.jets[e.jets.pt > 2].sub,
    "scalar": lambda e: e.met + 1,
    "regular": lambda e: e.pos[0] + e.met,
    "histogram": lambda e: np.histogram(e.jets.pt, bins=3, range=(0, 6))[0],
}


def loop(function, events):
    return [plain(function(event)) for event in events]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_is_the_loop(name):
    function = FUNCTIONS[name]
    expected = loop(function, EVENTS)
    for events in (EVENTS, akjax.traced(EVENTS)):
        same(plain(jax.jit(akjax.vmap(function))(events)), expected)
    same(plain(akjax.vmap(function)(EVENTS)), expected)


def test_after_a_selection():
    def selected(events, cut):
        kept = events[events.met > cut]
        return akjax.vmap(lambda e: ak.sum(e.jets.pt))(ak.with_field(kept, kept.jets[kept.jets.pt > 2], "jets"))

    same(plain(jax.jit(selected)(EVENTS, 1.5)), [0.0, 5.0])


def test_several_arguments():
    x = ak.Array([[1.0, 2.0], [], [3.0]])
    y = ak.Array([[1.0], [2.0, 3.0], []])
    scale = jnp.array([1.0, 10.0, 100.0])

    def function(a, b, s, shift):
        return ak.sum(a) * s + ak.sum(b) + shift

    found = jax.jit(akjax.vmap(function, in_axes=(0, 0, 0, None)))(x, y, scale, 0.5)
    same(plain(found), [4.5, 5.5, 300.5])


def test_transformations():
    x = ak.Array([[1.0, 2.0], [], [3.0]])

    def energy(row, scale):
        return ak.sum((row * scale) ** 2)

    by_row = akjax.vmap(jax.grad(energy, argnums=1), in_axes=(0, None))
    same(plain(jax.jit(by_row)(x, 3.0)), [30.0, 0.0, 54.0])
    outside = jax.grad(lambda s: jnp.sum(akjax.vmap(lambda row: energy(row, s))(x)))
    same(plain(jax.jit(outside)(3.0)), 84.0)
    scales = jnp.array([1.0, 2.0])
    nested = jax.vmap(lambda s: akjax.vmap(lambda row: energy(row, s))(x))(scales)
    same(plain(nested), [[5.0, 0.0, 9.0], [20.0, 0.0, 36.0]])
    by_list = akjax.vmap(lambda row: akjax.like(jax.grad(energy)(row, 1.0), row))
    same(plain(jax.jit(by_list)(x)), [[2.0, 4.0], [], [6.0]])
    of_data = jax.grad(lambda a: jnp.sum(akjax.vmap(lambda row: energy(row, 1.0))(a)))(x)
    same(plain(of_data), [[2.0, 4.0], [], [6.0]])


def test_without_awkward_arrays_is_that_of_jax():
    same(plain(akjax.vmap(lambda a: a + 1)(jnp.arange(3))), [1, 2, 3])


def test_errors():
    x = ak.Array([[1.0], []])
    with pytest.raises(ValueError, match="axis 0"):
        akjax.vmap(lambda row: row, in_axes=1)(x)
    with pytest.raises(ValueError, match="in_axes has 1 entries for 2"):
        akjax.vmap(lambda a, b: a, in_axes=(0,))(x, x)
    with pytest.raises(ValueError, match="out_axes=0"):
        akjax.vmap(lambda row: row, out_axes=1)(x)
    with pytest.raises(akjax.StructureError, match="text"):
        akjax.vmap(lambda row: row)(ak.Array([{"name": "one", "x": 1}]))
    with pytest.raises(akjax.StructureError, match="selected differently"):
        jax.jit(lambda a: akjax.vmap(lambda p, q: ak.sum(p))(a[ak.sum(a, axis=1) > 0], a))(x)


LOSSES = {
    "total": lambda e: e.met * ak.sum(e.jets.pt**2),
    "selection": lambda e: ak.sum(e.jets.pt[e.jets.pt > 2] ** 2),
    "nested": lambda e: ak.sum(ak.sum(e.jets.sub, axis=1) ** 2) + e.met,
    "largest": lambda e: ak.max(e.jets.pt, initial=0.0),
}


@pytest.mark.parametrize("prepare", [lambda x: x, akjax.traced], ids=["exact", "traced"])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_have_the_lists_of_their_event(name, prepare):
    """As the gradient of the sum over all events has."""
    events = ak.values_astype(EVENTS[["met", "jets"]], np.float32)
    expected = jax.grad(lambda e: jnp.sum(akjax.vmap(LOSSES[name])(e)))(events)
    for mapped in (akjax.vmap(jax.jit(jax.grad(LOSSES[name]))), jax.jit(akjax.vmap(jax.grad(LOSSES[name])))):
        found = mapped(prepare(events))
        assert str(found.type) == str(expected.type)
        same(plain(found), plain(expected), rtol=1e-6)


def test_gradients_beside_results_keep_their_own():
    """What a function makes of a row with the same structure is its own: also a row the other way round."""
    x = ak.Array([[1.0, 2.0], [], [3.0, 4.0, 5.0]])

    def function(row):
        return row[::-1], row[row > 1.5], jax.grad(lambda row: ak.sum(row**2))(row), jax.tree.map(jnp.ones_like, row)

    back, selected, slopes, ones = akjax.vmap(function)(x)
    assert back.to_list() == [[2.0, 1.0], [], [5.0, 4.0, 3.0]]
    assert selected.to_list() == [[2.0], [], [3.0, 4.0, 5.0]]
    assert slopes.to_list() == [[2.0, 4.0], [], [6.0, 8.0, 10.0]]
    assert ones.to_list() == [[1.0, 1.0], [], [1.0, 1.0, 1.0]]


def test_gradients_under_jax_vmap():
    x = ak.Array([[1.0, 2.0], [], [3.0]])
    found = jax.vmap(lambda s: akjax.vmap(jax.grad(lambda row: s * ak.sum(row**2)))(x))(jnp.arange(2.0))
    assert found.to_list() == [[[0.0, 0.0], [], [0.0]], [[2.0, 4.0], [], [6.0]]]


def test_jacobians_of_rows():
    with pytest.raises(akjax.StructureError, match="Jacobians of rows"):
        akjax.vmap(jax.jacfwd(lambda row: row * 2.0))(ak.Array([[1.0, 2.0], [], [3.0]]))


NOTHING = {
    "numbers": (ak.Array([[1.0], [], []]), lambda row: row),
    "of records": (
        ak.Array([{"a": [1.0], "b": 2.0}, {"a": [], "b": 3.0}, {"a": [], "b": 3.0}]),
        lambda row: row.a * row.b,
    ),
    "lists of lists": (ak.Array([[[1.0]], [[]], []]), lambda row: ak.flatten(row, axis=None)),
    "missing": (ak.Array([[None, 1.0], [], []]), lambda row: row),
}


@pytest.mark.parametrize("prepare", [lambda x: x, akjax.traced], ids=["exact", "traced"])
@pytest.mark.parametrize("name", ["max", "argmin", "sum"])
@pytest.mark.parametrize("of", NOTHING)
def test_reducers_of_rows_without_elements(of, name, prepare):
    """A row that happens to be empty has the same answer whether or not others are, and no rows give none."""
    events, numbers = NOTHING[of]
    mapped = akjax.vmap(lambda row: getattr(ak, name)(numbers(row)))
    expected = plain(mapped(events))
    assert len(expected) == 3
    for kept in (slice(1, None), slice(2, None), slice(0, 0)):
        same(plain(mapped(prepare(events[kept]))), expected[kept])
    same(plain(jax.jit(mapped)(prepare(events[1:]))), expected[1:])


@pytest.mark.parametrize("events", [array for array, _ in NOTHING.values()], ids=NOTHING)
def test_rows_without_elements_keep_their_type(events):
    for kept in (slice(1, None), slice(2, None), slice(0, 0)):
        found = akjax.vmap(lambda row: row)(events[kept])
        assert plain(found) == plain(events[kept])
        assert str(found.type) == str(jax.jit(lambda x: x)(events[kept]).type)


RAGGED = ak.Array([[1.0, 2.0], [], [3.0]])
SAME = {"number": 2.0, "JAX": jnp.arange(2.0), "flat": ak.Array([1.0, 2.0]), "lists": ak.Array([[1.0, 2.0], []])}


@pytest.mark.parametrize("prepare", [lambda x: x, akjax.traced], ids=["exact", "traced"])
@pytest.mark.parametrize("value", SAME.values(), ids=SAME)
def test_results_that_are_the_same_for_every_row(value, prepare):
    one = akjax.vmap(lambda row, same: same, in_axes=(0, None), out_axes=None)
    assert plain(one(prepare(RAGGED), value)) == plain(jax.jit(one)(prepare(RAGGED), value)) == plain(value)
    tree = akjax.vmap(
        lambda row, same: {"same": same, "own": (ak.sum(row), row * 2.0)},
        in_axes=(0, None),
        out_axes={"same": None, "own": 0},
    )
    for found in (tree(prepare(RAGGED), value), jax.jit(tree)(prepare(RAGGED), value)):
        assert plain(found) == {"same": plain(value), "own": [[3.0, 0.0, 3.0], plain(RAGGED * 2.0)]}
    with pytest.raises(ValueError, match="output was batched"):
        akjax.vmap(lambda row: ak.sum(row), out_axes=None)(prepare(RAGGED))


@pytest.mark.parametrize("axis", [1, -1])
def test_results_over_another_axis(axis):
    twice = akjax.vmap(lambda row: jnp.stack([ak.sum(row), ak.sum(row * 2.0)]), out_axes=axis)
    assert plain(twice(RAGGED)) == [[3.0, 0.0, 3.0], [6.0, 0.0, 6.0]]
    with pytest.raises(ValueError, match="rows that were selected at run time"):
        twice(akjax.traced(RAGGED))
    assert plain(akjax.vmap(ak.sum, out_axes=-1)(akjax.traced(RAGGED))) == [3.0, 0.0, 3.0]


TREE_OF = ak.Array([[1.0, 2.0], [], [3.0]])
TREES = {
    "a dict": (lambda d: ak.sum(d["x"]) * d["k"], 0, ({"x": TREE_OF, "k": np.arange(3.0)},), {}),
    "axes of a dict": (lambda d: ak.sum(d["x"]) * d["k"], ({"x": 0, "k": None},), ({"x": TREE_OF, "k": 2.0},), {}),
    "one axis for a tuple": (
        lambda pair, k: ak.sum(pair[0] * pair[1]) * k,
        (0, None),
        ((TREE_OF, TREE_OF * 2), 3.0),
        {},
    ),
    "a keyword": (lambda x, k: ak.sum(x) * k, 0, (TREE_OF,), {"k": np.arange(3.0)}),
    "nothing": (lambda x, n: ak.sum(x), 0, (TREE_OF, None), {}),
}


@pytest.mark.parametrize("name", TREES)
def test_arguments_that_are_trees(name):
    """As `jax.vmap` takes them: of arrays of rows, here, whose sums a plain one can map."""
    function, in_axes, args, kwargs = TREES[name]
    padded, padded_kwargs = jax.tree.map(
        lambda x: ak.to_numpy(ak.fill_none(ak.pad_none(x, 2), 0.0)) if isinstance(x, ak.Array) else x,
        (args, kwargs),
        is_leaf=lambda x: isinstance(x, ak.Array),
    )
    want = jax.vmap(lambda *a, **k: function(*a, **k), in_axes)(*padded, **padded_kwargs)
    np.testing.assert_allclose(akjax.vmap(function, in_axes)(*args, **kwargs), want)
    np.testing.assert_allclose(jax.jit(akjax.vmap(function, in_axes))(*args, **kwargs), want)


INSIDE = {
    "lists": lambda row: jax.vmap(lambda k: row[row > k])(jnp.arange(2.0)),
    "numbers": lambda row: jax.vmap(lambda k: ak.sum(row[row > k]))(jnp.arange(2.0)),
    "two deep": lambda row: jax.vmap(jax.vmap(lambda k: row * k))(jnp.arange(6.0).reshape(2, 3)),
    "records": lambda row: jax.vmap(lambda k: ak.zip({"a": row[row > k], "b": row[row > k] * k}))(jnp.arange(2.0)),
}


def test_jax_vmap_inside():
    """What it has stacked is a dimension of the rows."""
    rows = TREE_OF.to_list()
    want = {
        "lists": [[[x for x in row if x > k] for k in range(2)] for row in rows],
        "numbers": [[sum(x for x in row if x > k) for k in range(2)] for row in rows],
        "two deep": [[[[x * (3 * i + j) for x in row] for j in range(3)] for i in range(2)] for row in rows],
        "records": [[[{"a": x, "b": x * k} for x in row if x > k] for k in range(2)] for row in rows],
    }
    for name, function in INSIDE.items():
        for mapped in (akjax.vmap(function), jax.jit(akjax.vmap(function))):
            assert plain(mapped(TREE_OF)) == want[name], name


def test_gradients_of_rows_with_integers():
    events = ak.zip({"pt": [[3.0, 4.0], []], "charge": [[1, -1], []]})
    gradient = jax.grad(lambda event: ak.sum(event.pt**2), allow_int=True)
    assert plain(akjax.vmap(gradient)(events)) == plain(jax.grad(lambda x: ak.sum(x.pt**2), allow_int=True)(events))
