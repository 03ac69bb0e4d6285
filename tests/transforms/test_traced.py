"""`akjax.traced`: lists whose lengths are values of the program."""

from __future__ import annotations

import re

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracle import plain, same, type_string

import akjax


def batch(seed: int, rows: int = 5) -> ak.Array:
    rng = np.random.default_rng(seed)

    def lists(longest: int) -> tuple[np.ndarray, int]:
        counts = rng.integers(0, longest + 1, rows)
        return counts, int(counts.sum())

    jets, total = lists(4)
    muons, few = lists(3)
    jet = ak.zip({name: rng.normal(size=total) * 20 for name in ("pt", "eta")} | {"n": rng.integers(0, 5, total)})
    muon = ak.zip({"pt": rng.normal(size=few) * 20, "charge": rng.choice([-1, 1], few)})
    return ak.zip(
        {
            "met": rng.normal(size=rows),
            "weight": ak.Array([None if k % 3 == 1 else float(k) for k in range(rows)]),
            "jet": ak.unflatten(jet, jets),
            "muon": ak.unflatten(muon, muons),
        },
        depth_limit=1,
    )


FUNCTIONS = {
    "fields": lambda e: e.jet.pt,
    "records": lambda e: e.jet,
    "missing": lambda e: e.weight,
    "ufuncs": lambda e: np.exp(e.jet.pt / 100) - e.jet.n * 2,
    "rows into lists": lambda e: (e.jet.pt + e.met, e.met * e.muon.charge, e.jet.pt * e.weight),
    "reducers": lambda e: tuple(
        getattr(ak, name)(e.jet.pt, axis=1)
        for name in ("sum", "prod", "any", "all", "count", "count_nonzero", "min", "max", "argmin", "argmax", "ptp")
    ),
    "statistics": lambda e: tuple(getattr(ak, name)(e.jet.pt, axis=1) for name in ("mean", "var", "std", "softmax")),
    "two arrays": lambda e: ak.corr(e.jet.pt, e.jet.eta, axis=1),
    "keepdims": lambda e: (
        e.jet.pt - ak.mean(e.jet.pt, axis=1, keepdims=True), ak.max(e.jet.n, axis=1, keepdims=True),
        e.jet.pt / ak.max(e.jet.pt, axis=1, keepdims=True),
    ),
    "totals": lambda e: (ak.sum(e.jet.pt), ak.max(e.jet.pt), ak.count(e.jet.n), ak.any(e.jet.pt > 50)),
    "lengths": lambda e: (ak.num(e.jet), ak.num(e.jet.pt, axis=0), ak.num(e, axis=0)),
    "selection": lambda e: e.jet[(e.jet.pt > 0) & (e.jet.eta < 10)],
    "selected rows": lambda e: e[ak.num(e.jet) >= 2].muon.pt,
    "both": lambda e: ak.sum(e.jet.pt[e.jet.pt > 0], axis=1)[ak.any(e.muon.pt > 0, axis=1)],
    "flat": lambda e: (ak.flatten(e.jet.pt), ak.ravel(e.muon.pt), ak.flatten(e.jet.pt, axis=None)),
    "positions": lambda e: (ak.firsts(e.jet.pt), e.jet.pt[:, :2], e.jet.pt[:, -1:], ak.firsts(e.jet)),
    "missing values": lambda e: (
        ak.fill_none(ak.firsts(e.jet.pt), 0), ak.is_none(ak.firsts(e.jet.pt)), ak.drop_none(ak.firsts(e.jet.pt)),
        ak.mask(e.jet.pt, e.jet.eta > 0), ak.fill_none(e.weight, 9.0),
    ),
    "zip": lambda e: (ak.zip({"a": e.jet.pt, "b": e.met}), ak.with_field(e.jet, e.jet.pt * 2, "q"), ak.unzip(e.muon)),
    "where": lambda e: (
        ak.where(e.jet.pt > 0, e.jet.pt, 0),
        ak.where(e.met > 0, e.jet.pt[e.jet.pt > 0], e.jet.eta[e.jet.eta > 0]),
    ),
    "elementwise": lambda e: (ak.zeros_like(e.jet.pt), ak.values_astype(e.jet.n, "float64"), ak.isclose(e.met, e.met)),
    "broadcast": lambda e: ak.broadcast_arrays(e.jet.pt, e.met),
    "pairs": lambda e: (ak.combinations(e.jet.pt, 2), ak.combinations(e.jet, 2, fields=["a", "b"]).a.pt),
    "triples": lambda e: (ak.combinations(e.jet.pt, 3), ak.combinations(e.jet.n, 2, replacement=True)),
    "positions of pairs": lambda e: (ak.argcombinations(e.jet.pt, 2), e.jet[ak.argcombinations(e.jet.pt, 2)["1"]]),
    "products": lambda e: (
        ak.cartesian([e.jet.pt, e.muon.pt]), ak.cartesian({"j": e.jet, "m": e.muon}).m.charge,
        ak.argcartesian([e.jet.pt, e.muon.pt]),
    ),
    "nested products": lambda e: ak.cartesian([e.jet.pt, e.muon.pt], nested=True),
    "threefold": lambda e: ak.cartesian([e.jet.pt, e.muon.pt, e.jet.n]),
    "nearest": lambda e: (lambda pair: ak.min(abs(pair["0"] - pair["1"]), axis=-1))(
        ak.cartesian([e.jet.pt, e.muon.pt], nested=True)
    ),
    "pairs of what is left": lambda e: ak.combinations(e.jet.pt[e.jet.pt > 0], 2),
    "sort": lambda e: (ak.sort(e.jet.pt), ak.sort(e.jet.n, ascending=False), ak.argsort(e.jet.pt)),
    "order of records": lambda e: e.jet[ak.argsort(e.jet.pt, ascending=False)],
    "sort what is left": lambda e: ak.sort(e.jet.pt[e.jet.eta > 0]),
    "concatenation": lambda e: (
        ak.concatenate([e.jet.pt, e.muon.pt], axis=1), ak.concatenate([e.jet.n, e.muon.pt, e.jet.eta], axis=1),
        ak.concatenate([e.jet[["pt"]], e.muon[["pt"]]], axis=1),
        ak.concatenate([e.jet.pt[e.jet.pt > 0], e.muon.pt], axis=1),
    ),
    "local index": lambda e: (ak.local_index(e.jet.pt), ak.local_index(e.jet.pt[e.jet.pt > 0])),
    "padding": lambda e: (
        ak.pad_none(e.jet.pt, 3), ak.pad_none(e.jet.pt, 2, clip=True), ak.pad_none(e.jet.pt[e.jet.pt > 0], 2),
        ak.fill_none(ak.pad_none(e.jet, 2, clip=True).pt, 0.0),
    ),
    "best": lambda e: (
        e.jet[ak.argmax(e.jet.pt, axis=1, keepdims=True)],
        ak.firsts(e.jet[ak.argmin(e.jet.eta, axis=1, keepdims=True)]),
    ),
    "rows in another order": lambda e: (
        e[ak.argsort(e.met)].jet.pt, e[ak.argsort(e.met)[:2]].muon, e.jet.pt[2], e.jet[ak.num(e.jet) > 1][:2],
    ),
    "rows of two selections": lambda e: (
        e.jet.pt[e.met > ak.max(e.met) - 1e-9] * e.met[e.met < ak.min(e.met) + 1e-9]
    ),
    "singletons": lambda e: ak.singletons(ak.firsts(e.jet.pt)),
    "histogram": lambda e: jnp.asarray(np.histogram(ak.flatten(e.jet.pt), bins=5, range=(-10, 10))[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_answers_of_other_lists_from_one_program(name):
    traces = []

    @jax.jit
    def compiled(events):
        traces.append(1)
        return FUNCTIONS[name](events)

    batches = [batch(seed) for seed in range(3)]
    for events in batches:
        agree(compiled(akjax.traced(events, like=akjax.envelope(batches))), FUNCTIONS[name](events))
    assert len(traces) == 1


def agree(got, expected):
    same(plain(got), plain(expected), rtol=1e-9)
    arrays = [jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, ak.Array)) for tree in (got, expected)]
    for one, other in zip(*arrays, strict=True):
        if isinstance(other, ak.Array):
            assert type_string(one) == type_string(other)


def test_arrays_that_were_padded_separately():
    """They pair by position; where lengths differ the numbers are NaN, and `checked` raises."""
    one, other = ak.Array([[1.0, 2.0], [], [3.0]]), ak.Array([[1.0, 2.0], [1.0], [3.0]])

    def pair(x, y, z):
        return x + y, x * z, ak.cartesian([x, y])

    padded = [akjax.traced(array) for array in (one, one * 2, other, ak.num(one) * 1.0)]
    agree(jax.jit(pair)(padded[0], padded[1], padded[3]), pair(one, one * 2, ak.num(one) * 1.0))
    assert str(jax.jit(pair)(padded[0], padded[2], padded[3])[0].to_list()) == "[[2.0, 4.0], [nan], [6.0]]"
    with pytest.raises(ValueError, match="different numbers of elements"):
        akjax.checked(pair)(padded[0], padded[2], padded[3])


def test_is_the_array_outside():
    """Outside a transformation nothing has changed."""
    events = batch(0)
    traced = akjax.traced(events)
    assert traced.to_list() == events.to_list()
    assert traced.type == events.type
    assert (traced.jet.pt * 2).to_list() == (events.jet.pt * 2).to_list()
    assert jax.jit(lambda e: e)(traced).to_list() == events.to_list()


def test_results_go_into_the_next_call():
    events = batch(0)
    selected = jax.jit(lambda e: e.jet[e.jet.pt > 0])(akjax.traced(events))
    total = jax.jit(lambda jets: ak.sum(jets.pt, axis=1))(selected)
    agree(total, ak.sum(events.jet.pt[events.jet.pt > 0], axis=1))


def test_gradients():
    """Of a parameter, and of the data through `partition`: its structure is the array's."""
    events = batch(1)
    traced = akjax.traced(events)

    def loss(scale, e):
        return ak.sum(np.sqrt(abs(e.jet.pt * scale))) + ak.sum(ak.std(e.jet.eta * scale, axis=1)[ak.num(e.jet) > 1])

    gradient = jax.jit(jax.grad(loss))
    agree(gradient(2.0, traced), gradient(2.0, events))
    floating, rest = akjax.partition(traced)
    found = jax.jit(jax.grad(lambda part: loss(2.0, akjax.combine(part, rest))))(floating)
    exact, others = akjax.partition(events)
    wanted = jax.jit(jax.grad(lambda part: loss(2.0, akjax.combine(part, others))))(exact)
    same(plain(akjax.combine(found, rest).jet.pt), plain(wanted.jet.pt), rtol=1e-9)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(found))


def test_nested_lists():
    arrays = [ak.Array([[[1.0, 2.0], []], [], [[3.0]]]), ak.Array([[], [[4.0], [5.0, 6.0, 7.0]], []])]

    def several(x):
        return (
            ak.sum(x, axis=-1),
            ak.max(ak.max(x, axis=-1), axis=-1),
            x - ak.mean(x, axis=-1, keepdims=True),
            (ak.num(x, axis=1), ak.num(x, axis=2)),
            x[ak.num(x) > 0],
            (ak.flatten(x, axis=1), ak.flatten(x, axis=None)),
        )

    for array in arrays:
        agree(jax.jit(several)(akjax.traced(array)), several(array))


def test_classes_and_behaviors_stay():
    vector = pytest.importorskip("vector")
    vector.register_awkward()
    events = batch(2)
    jets = ak.zip({"pt": abs(events.jet.pt), "eta": events.jet.eta / 20, "phi": events.jet.eta, "mass": 0.1},
                  with_name="Momentum4D")  # fmt: skip
    met = ak.zip({"pt": abs(events.met), "phi": events.met}, with_name="Momentum2D")

    def kinematics(j, m):
        return j.px, j.E, j.deltaphi(m), (j + j).mass

    pair = akjax.traced(ak.zip({"jets": jets, "met": met}, depth_limit=1))
    agree(jax.jit(lambda e: kinematics(e.jets, e.met))(pair), kinematics(jets, met))


UNSUPPORTED = {
    "an outer axis": lambda e: ak.sort(e.jet.pt, axis=0),
    "to_regular": lambda e: ak.to_regular(e.jet.pt),
    "other lists": lambda e: e.jet.pt + e.muon.pt,
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_needs_known_lists_says_so(name):
    with pytest.raises(akjax.StructureError):
        jax.jit(UNSUPPORTED[name])(akjax.traced(batch(0)))


def test_too_many_combinations():
    with pytest.raises(akjax.StructureError, match="use smaller chunks"):
        jax.eval_shape(lambda x: ak.combinations(x, 3), akjax.traced(ak.Array([np.arange(3000.0)])))


def test_callbacks_do_not_see_other_lists():
    def nosy(layout, **kwargs):
        if layout.is_list:
            return ak.contents.NumpyArray(np.diff(layout.offsets.data))
        return None

    with pytest.raises(akjax.StructureError):
        jax.jit(lambda e: ak.transform(nosy, e.jet.pt))(akjax.traced(batch(0)))


def test_lists_made_twice_line_up():
    events = batch(3)

    def sums(e):
        pairs = ak.combinations(e.jet.pt, 2)["0"] + ak.combinations(e.jet.eta, 2)["1"]
        products = ak.cartesian([e.jet.pt, e.muon.pt])["0"] - ak.cartesian([e.jet.n, e.muon.charge])["1"]
        joined = ak.concatenate([e.jet.pt, e.muon.pt], axis=1) * ak.concatenate([e.jet.eta, e.muon.charge], axis=1)
        return pairs, products, joined

    agree(jax.jit(sums)(akjax.traced(events)), sums(events))

    def total(scale, e):
        return ak.sum(ak.combinations(e.jet.pt * scale, 2)["0"] * ak.combinations(e.jet.eta, 2)["1"])

    slope = jax.jit(jax.grad(total))(2.0, akjax.traced(events))
    np.testing.assert_allclose(slope, total(1.0, events), rtol=1e-5)


def test_products_at_three_levels():
    events = ak.Array({name: [[float(k) for k in range(12)], [], [1.0]] for name in "abc"})

    def nested(e):
        return ak.cartesian([e.a, e.b, e.c], nested=True)

    agree(jax.jit(nested)(akjax.traced(events)), nested(events))


class TestSizes:
    def test_buckets(self):
        assert akjax.traced(batch(0), growth=2).nbytes > 0
        small, large = batch(0), batch(1, 100)
        joint = akjax.envelope([small, large])
        structures = [jax.tree.structure(akjax.traced(events, like=joint)) for events in (small, large)]
        assert structures[0] == structures[1] != jax.tree.structure(akjax.traced(small))

    @pytest.mark.parametrize("growth", [1, 1.0, 0.5, 0, -1, np.inf, np.nan])
    def test_growth_is_above_one(self, growth):
        for make in (
            lambda: akjax.traced(batch(0), growth=growth),
            lambda: akjax.traced(batch(0), growth=growth, like=akjax.envelope(batch(0))),
            lambda: akjax.envelope(batch(0), growth=growth),
            lambda: akjax.envelope({"x": [1, 2]}, growth=growth),
            lambda: akjax.envelope(akjax.envelope(batch(0)), growth=growth),
        ):
            with pytest.raises(ValueError, match=f"a number above 1, not {growth}"):
                make()

    @pytest.mark.parametrize("growth", [1.01, 2, np.float32(4)])
    def test_any_growth_above_one(self, growth):
        assert akjax.traced(batch(0), growth=growth).to_list() == batch(0).to_list()

    def test_like_another_array(self):
        large = akjax.traced(batch(1, 100))
        assert jax.tree.structure(akjax.traced(batch(0), like=large)) == jax.tree.structure(large)

    def test_says_what_does_not_fit(self):
        small = akjax.traced(ak.Array([[1.0], [2.0]]))
        with pytest.raises(akjax.StructureError, match="rows, the envelope room for 7"):
            akjax.traced(ak.Array([[1.0]] * 8), like=small)
        with pytest.raises(akjax.StructureError, match="longest list of 9, the envelope room for 8"):
            akjax.traced(ak.Array([[1.0] * 9]), like=akjax.envelope([ak.Array([[1.0] * 8] * 9)]))
        with pytest.raises(akjax.StructureError, match="it has lists at"):
            akjax.traced(ak.Array([1.0]), like=small)

    def test_counts_pairs_of_two_lists(self):
        """Where one list is long the other is short: a product has room for the pairs there are."""
        counts = np.arange(400) % 2
        events = ak.zip({name: ak.unflatten(np.ones(800), c * 4) for name, c in (("a", counts), ("b", 1 - counts))}, 1)
        traced = akjax.traced(events)
        assert dict(akjax.envelope(traced).products) == {("a[]", "b[]"): 64}
        assert akjax.envelope(traced) == akjax.envelope(events)

        def sums(e):
            one, two = ak.unzip(ak.cartesian([e.a, ak.concatenate([e.b, e.b], axis=1)]))
            return ak.sum(one + two, axis=1)

        assert max(int(size) for size in re.findall(r"tensor<(\d+)x", jax.jit(sums).lower(traced).as_text())) < 2000
        swapped = ak.zip({"a": events.a, "b": events.a}, 1)
        with pytest.raises(akjax.StructureError, match=r"the lists a\[\] and b\[\] have a number of pairs"):
            akjax.traced(swapped, like=traced)

    def test_equal_structure_is_one_buffer(self):
        events = ak.Array({"pt": [[1.0], [2.0, 3.0]], "eta": [[4.0], [5.0, 6.0]]})
        traced = akjax.traced(events)
        assert len(jax.tree.leaves(traced)) == 5  # offsets, parents, which rows exist, and two columns
        agree(jax.jit(lambda e: e.pt + e.eta)(traced), events.pt + events.eta)

    @pytest.mark.parametrize("bad", [3, [1.0], ak.Record({"x": 1})])
    def test_takes_arrays(self, bad):
        with pytest.raises(TypeError, match=r"take an ak\.Array"):
            akjax.traced(bad)

    @pytest.mark.parametrize("bad", [["text"], [1, "text"], [[1.0], 2.0]])
    def test_takes_numbers(self, bad):
        with pytest.raises(akjax.StructureError, match="has something else"):
            akjax.traced(ak.Array(bad))

    def test_takes_no_lists_of_the_regular_length_0(self):
        with pytest.raises(akjax.StructureError, match="regular length 0"):
            akjax.traced(ak.Array(np.zeros((2, 0))))

    def test_not_inside(self):
        with pytest.raises(akjax.StructureError, match="cannot be called inside"):
            jax.jit(akjax.traced)(ak.Array([1.0]))

    def test_wrong_like(self):
        with pytest.raises(TypeError, match="`like`"):
            akjax.traced(ak.Array([1.0]), like=ak.Array([1.0]))

    def test_of_counts_and_envelopes(self):
        events = batch(0)
        counts = {"muon": ak.num(events.muon), "jet": ak.num(events.jet).to_numpy()}
        assert akjax.envelope(counts) == akjax.envelope(events)
        large = akjax.envelope(batch(1, 100))
        joint = akjax.envelope([counts, large, akjax.traced(events)])
        assert joint == large == akjax.envelope(akjax.traced(events, like=large))
        nested = ak.Array([[[1.0, 2.0], []], [], [[3.0]]])
        assert akjax.envelope({"": [2, 0, 1], "[]": [2, 0, 1]}) == akjax.envelope(nested)

    def test_shows_what_is_used(self):
        shown = repr(akjax.envelope(akjax.traced(ak.Array([[1.0, 2.0], [3.0]]), like=akjax.envelope({"": [5] * 10}))))
        assert shown == (
            "Envelope of 12 rows (2 used, 83% waste)\n"
            "  []: 51 elements (3 used, 94% waste); longest 8 (2), 100 pairs (1), 512 triples (0)"
        )

    @pytest.mark.parametrize("bad", [{"": [1.0]}, {"": [[1]]}, {"": [-1]}, {"": 3}])
    def test_takes_lengths(self, bad):
        with pytest.raises(ValueError, match="must be a flat array of integers"):
            akjax.envelope(bad)

    @pytest.mark.parametrize("bad", [{}, {"[]": [1]}, {"a": [1], "b": [1, 2]}])
    def test_takes_lengths_of_all_rows(self, bad):
        with pytest.raises(ValueError, match="the lengths of the outermost lists are needed"):
            akjax.envelope(bad)

    def test_no_arrays(self):
        with pytest.raises(ValueError, match="at least one"):
            akjax.envelope([])
