"""What JAX and its libraries do around arrays, ragged ones and those of `akjax.traced`."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from oracle import plain, same

import akjax

akjax.register()


def chunk(seed: int) -> ak.Array:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, 5)
    total = int(counts.sum())
    jets = ak.zip({"pt": rng.normal(size=total) * 20, "n": rng.integers(0, 5, total)})
    return ak.zip({"weight": rng.normal(size=5), "jet": ak.unflatten(jets, counts)}, depth_limit=1)


CHUNKS = [chunk(seed) for seed in range(3)]
SIZES = akjax.envelope(CHUNKS)
EVENTS = CHUNKS[0]
TABLE = ak.Array([[1.0, 2.0], [], [3.0]])

# the array as it is, and with its structure as data
BOTH = pytest.mark.parametrize("events", [EVENTS, akjax.traced(EVENTS, like=SIZES)], ids=["exact", "traced"])


def stacked() -> ak.Array:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *(akjax.traced(one, like=SIZES) for one in CHUNKS))


def weighted(events: ak.Array) -> Any:
    return ak.sum(events.jet.pt * events.weight)


def agree(got: Any, want: Any) -> None:
    same(plain(got), plain(want), rtol=1e-6)


class TestControlFlow:
    def test_scan_over_chunks(self) -> None:
        def body(total: Any, events: ak.Array) -> Any:
            return total + weighted(events), (ak.max(events.jet.pt, axis=1), events.jet[events.jet.pt > 0].pt)

        total, (largest, positive) = jax.jit(lambda chunks: lax.scan(body, 0.0, chunks))(stacked())
        agree(total, sum(map(weighted, CHUNKS)))
        agree(largest, [plain(ak.max(one.jet.pt, axis=1)) for one in CHUNKS])
        agree(positive, [plain(one.jet.pt[one.jet.pt > 0]) for one in CHUNKS])

    def test_map_over_chunks(self) -> None:
        for mapped in (lambda f: lambda x: lax.map(f, x), jax.vmap):
            got = mapped(lambda events: (ak.num(events.jet), weighted(events)))(stacked())
            agree(got, ([plain(ak.num(one.jet)) for one in CHUNKS], [plain(weighted(one)) for one in CHUNKS]))

    @BOTH
    def test_branches_and_loops(self, events: ak.Array) -> None:
        def every(events: ak.Array, number: Any) -> Any:
            jets, pt = events.jet, events.jet.pt
            branches = [lambda x: x * 2, lambda x: ak.sort(x), lambda x: x[x > 1e9]]
            return (
                lax.cond(number > 1, lambda j: j[j.pt > 0].pt, lambda j: (j.pt * j.pt)[j.pt < 3], jets),
                lax.switch(number, branches[:2], pt),
                lax.while_loop(lambda x: ak.sum(x) < 1e3, lambda x: x * 2, abs(pt)),
                lax.fori_loop(0, 3, lambda i, x: x + i, pt),
            )

        jets, pt = EVENTS.jet, EVENTS.jet.pt
        steps = int(np.ceil(np.log2(1e3 / ak.sum(abs(pt)))))
        compiled = jax.jit(every)
        agree(compiled(events, 0), ((pt * pt)[pt < 3], pt * 2, abs(pt) * 2**steps, pt + 3))
        agree(compiled(events, 2), (jets[jets.pt > 0].pt, ak.sort(pt), abs(pt) * 2**steps, pt + 3))

    @BOTH
    def test_with_live(self, events: ak.Array) -> None:
        """A loop may select rows and elements from what it carries."""

        def tighter(events: ak.Array, cut: Any) -> Any:
            events = ak.with_field(events, events.jet[abs(events.jet.pt) > cut], "jet")
            events = events[ak.num(events.jet) > 0]
            return events, (ak.num(events, axis=0), ak.sum(events.jet.n))

        def eagerly(events: ak.Array) -> Any:
            numbers = []
            for cut in (5.0, 10.0, 20.0):
                events, number = tighter(events, cut)
                numbers.append(plain(number))
            return events, tuple(zip(*numbers, strict=True))

        start = akjax.with_live(events)
        assert plain(start) == plain(EVENTS)
        assert type(start) is type(events)
        want = eagerly(EVENTS)
        for scan in (lax.scan, jax.jit(lax.scan, static_argnums=0)):
            agree(scan(tighter, start, jnp.array([5.0, 10.0, 20.0])), want)

        @jax.jit
        def drop_smallest(events: ak.Array) -> ak.Array:
            def smaller(pt: ak.Array) -> ak.Array:
                return pt[pt > ak.min(pt, axis=1, mask_identity=False)]

            return lax.while_loop(
                lambda pt: ak.any(ak.num(pt) > 1), smaller, akjax.with_live(events.jet.pt[events.jet.n > 0])
            )

        want = EVENTS.jet.pt[EVENTS.jet.n > 0]
        while ak.any(ak.num(want) > 1):
            want = want[want > ak.min(want, axis=1, mask_identity=False)]
        agree(drop_smallest(events), want)
        structure = jax.tree.structure(start)
        assert jax.tree.structure(akjax.with_live(start)) == structure

    @pytest.mark.parametrize("bad", [1.0, [1.0], ak.Record({"x": 1})])
    def test_with_live_takes_arrays(self, bad: Any) -> None:
        with pytest.raises(TypeError, match=r"takes an ak\.Array"):
            akjax.with_live(bad)


class TestDerivatives:
    @BOTH
    def test_checkpoint(self, events: ak.Array) -> None:
        def loss(scale: Any, events: ak.Array) -> Any:
            return ak.sum(jax.checkpoint(lambda e: np.sqrt(abs(e.jet.pt) * scale))(events))

        got = jax.jit(jax.grad(loss))(2.0, events)
        agree(got, float(ak.sum(np.sqrt(abs(EVENTS.jet.pt) / 2) / 2)))

    @BOTH
    def test_custom_rules(self, events: ak.Array) -> None:
        """The derivative rules are wrong on purpose: only so is it seen that they are used."""

        @jax.custom_jvp
        def twice(pt: ak.Array, events: ak.Array) -> ak.Array:
            return pt * 2

        def seven(tangent: Any) -> Any:
            return tangent if tangent.dtype == jax.dtypes.float0 else 7 * tangent  # structure that is data has none

        twice.defjvp(lambda primals, tangents: (twice(*primals), jax.tree.map(seven, tangents[0])))

        @jax.custom_vjp
        def scaled(scale: Any, events: ak.Array) -> ak.Array:
            return events.jet.pt * scale

        def backward(events: ak.Array, cotangent: ak.Array) -> Any:
            return 5 * ak.sum(events.jet.pt * akjax.like(cotangent, events.jet.pt)), None

        scaled.defvjp(lambda scale, events: (scaled(scale, events), events), backward)
        total = float(ak.sum(EVENTS.jet.pt))

        def sums(scale: Any, events: ak.Array) -> Any:
            return ak.sum(scaled(scale, events)) + ak.sum(twice(events.jet.pt * scale, events))

        agree(jax.jit(jax.grad(sums))(2.0, events), 12 * total)
        agree(jax.grad(lambda scale: sums(scale, events))(2.0), 12 * total)


class TestCompiling:
    @BOTH
    def test_ahead_of_time(self, events: ak.Array) -> None:
        lowered = jax.jit(lambda e: e.jet.pt * e.weight).lower(events)
        assert "module" in lowered.as_text()
        compiled = lowered.compile()
        agree(compiled(events), EVENTS.jet.pt * EVENTS.weight)
        if events is not EVENTS:  # other lists, the same program
            agree(compiled(akjax.traced(CHUNKS[1], like=SIZES)), CHUNKS[1].jet.pt * CHUNKS[1].weight)
        with pytest.raises(TypeError, match="does not match the input pytree it was called with"):
            compiled(akjax.traced(CHUNKS[2], growth=4) if events is not EVENTS else CHUNKS[2])

    def test_donation(self) -> None:
        step = jax.jit(lambda x: x * 2, donate_argnums=0)
        first = jax.device_put(TABLE)
        second = step(first)
        assert all(leaf.is_deleted() for leaf in jax.tree.leaves(first))
        agree(step(second), TABLE * 4)
        agree(step(TABLE), TABLE * 2)  # what the host holds stays
        agree(TABLE, [[1.0, 2.0], [], [3.0]])
        events = akjax.traced(EVENTS)
        moved = jax.jit(lambda e: e, donate_argnums=0)(events)
        assert all(leaf.is_deleted() for leaf in jax.tree.leaves(events))
        agree(moved, EVENTS)

    @BOTH
    def test_static_arguments(self, events: ak.Array) -> None:
        pairs = jax.jit(lambda e, n, field: ak.num(ak.combinations(e.jet[field], n)), static_argnums=(1, 2))
        agree(pairs(events, 2, "pt"), ak.num(ak.combinations(EVENTS.jet.pt, 2)))

    @BOTH
    def test_no_leaks(self, events: ak.Array) -> None:
        def several(events: ak.Array) -> Any:
            jets = events.jet[events.jet.pt > 0]
            return jets, ak.combinations(jets, 2), weighted(events), akjax.vmap(lambda e: ak.sum(e.jet.pt))(events)

        with jax.checking_leaks():
            got = jax.jit(several)(events)
            lax.fori_loop(0, 2, lambda i, x: x * 2, events.jet.pt)
        agree(got[2], weighted(EVENTS))


class TestExport:
    @BOTH
    def test_call(self, events: ak.Array) -> None:
        exported = export.export(jax.jit(lambda e: (e.jet[e.jet.pt > 0], weighted(e))))(events)
        agree(exported.call(events), (EVENTS.jet[EVENTS.jet.pt > 0], weighted(EVENTS)))

    @BOTH
    def test_serialised(self, events: ak.Array) -> None:
        pytest.importorskip("flatbuffers", reason="jax.export needs it")
        exported = export.export(jax.jit(lambda e: {"jets": e.jet[e.jet.pt > 0], "sum": weighted(e)}))(events)
        read = export.deserialize(exported.serialize(vjp_order=1))
        assert read.in_tree == exported.in_tree
        assert read.out_tree == exported.out_tree
        agree(read.call(events), {"jets": EVENTS.jet[EVENTS.jet.pt > 0], "sum": weighted(EVENTS)})
        if events is not EVENTS:
            agree(read.call(akjax.traced(CHUNKS[1], like=SIZES))["sum"], weighted(CHUNKS[1]))
        with pytest.raises(ValueError, match="same pytree structure"):
            read.call(CHUNKS[2])

    def test_classes_and_records(self) -> None:
        pytest.importorskip("flatbuffers", reason="jax.export needs it")
        vector = pytest.importorskip("vector")
        vector.register_awkward()
        muons = ak.zip({"pt": [[3.0, 4.0], []], "phi": [[0.1, 0.2], []]}, with_name="Momentum2D")
        read = export.deserialize(export.export(jax.jit(lambda m: (m * 2, m[0], m[0, 0])))(muons).serialize())
        got, want = read.call(muons), (muons * 2, muons[0], muons[0, 0])
        agree([got[0].px, got[1].px, got[2].px], [want[0].px, want[1].px, want[2].px])
        assert list(map(type, got)) == list(map(type, want))

    def test_in_another_process(self, tmp_path: Any) -> None:
        pytest.importorskip("flatbuffers", reason="jax.export needs it")
        program = export.export(jax.jit(lambda x: x[x > 1.5] * 2))(TABLE).serialize()
        (tmp_path / "program").write_bytes(program)
        code = (
            "import pathlib, awkward as ak, akjax; from jax import export; akjax.register()\n"
            f"read = export.deserialize(bytearray(pathlib.Path({str(tmp_path / 'program')!r}).read_bytes()))\n"
            "print(read.call(ak.Array([[7.0, 1.0], [], [2.0]])).to_list())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stdout == "[[14.0], [], [4.0]]\n", done.stderr

    def test_one_name_twice(self) -> None:
        """As when a cell of a notebook is run again."""
        pytest.importorskip("flatbuffers", reason="jax.export needs it")
        for _ in range(2):
            cls = type("Again", (ak.Array,), {})
            array = ak.Array([{"x": 1.0}], with_name="again", behavior={("*", "again"): cls})
        assert type(array) is cls
        array.behavior = None
        ak.behavior["*", "again"] = cls
        try:
            array = ak.Array([{"x": 1.0}], with_name="again")
            read = export.deserialize(export.export(jax.jit(lambda a: a))(array).serialize())
            assert type(read.call(array)) is cls
        finally:
            del ak.behavior["*", "again"]

    def test_what_cannot_be_written(self) -> None:
        pytest.importorskip("flatbuffers", reason="jax.export needs it")
        array = ak.Array([{"x": 1.0}], behavior={"other": lambda: None})
        with pytest.raises(TypeError, match="cannot be pickled"):
            export.export(jax.jit(lambda a: a.x))(array).serialize()


class TestLooking:
    def test_key_paths(self) -> None:
        def paths(tree: Any) -> list[str]:
            return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]

        assert paths({"a": EVENTS}) == ["['a'].weight", "['a'].jet.pt", "['a'].jet.n"]
        lists = ["['a'].jet<offsets>", "['a'].jet<parents>"]
        dead = ["['a'].<dead>"]
        assert paths({"a": akjax.traced(EVENTS)}) == [*dead, "['a'].weight", *lists, "['a'].jet.pt", "['a'].jet.n"]
        doubled = jax.tree_util.tree_map_with_path(
            lambda path, leaf: leaf * 2 if jax.tree_util.keystr(path).endswith("pt") else leaf, EVENTS
        )
        agree(doubled.jet.pt, EVENTS.jet.pt * 2)

    @BOTH
    def test_debug(self, events: ak.Array, capsys: Any) -> None:
        seen: list[Any] = []

        @jax.jit
        def function(events: ak.Array) -> Any:
            good = events.jet[events.jet.pt > 0].pt
            jax.debug.print("good: {good}", good=good)
            jax.debug.callback(seen.append, good)
            return ak.sum(good)

        jax.block_until_ready(function(events))
        jax.effects_barrier()
        want = EVENTS.jet[EVENTS.jet.pt > 0].pt
        assert capsys.readouterr().out == f"good: {want}\n"
        agree(seen, [want])

    def test_pure_callback(self) -> None:
        def twice(x: ak.Array) -> ak.Array:
            return jax.pure_callback(lambda x: x * np.sum(x.to_list()[0]), x, x)  # any code of the host

        agree(jax.jit(twice)(TABLE), TABLE * 3)


def test_equinox() -> None:
    eqx = pytest.importorskip("equinox")
    optax = pytest.importorskip("optax")

    class Model(eqx.Module):
        scale: jax.Array
        table: ak.Array
        name: str = eqx.field(static=True)

        def __call__(self, events: ak.Array) -> Any:
            return ak.sum(events.jet.pt) * self.scale + ak.sum(self.table**2)

    model = Model(jnp.array(2.0), TABLE, "model")
    parts = eqx.partition(model, eqx.is_inexact_array)
    assert eqx.tree_equal(eqx.combine(*parts), model)
    assert "<Array [[1, 2], [], [3]]" in repr(model)
    file = io.BytesIO()
    eqx.tree_serialise_leaves(file, model)
    file.seek(0)
    empty = eqx.tree_at(lambda m: m.table, model, TABLE * 0)
    assert eqx.tree_equal(eqx.tree_deserialise_leaves(file, empty), model)
    optimizer = optax.adam(0.1)

    @eqx.filter_jit
    def step(model: Any, state: Any, events: ak.Array) -> Any:
        gradient = eqx.filter_grad(lambda m: m(events))(model)
        updates, state = optimizer.update(gradient, state, model)
        return eqx.apply_updates(model, updates), state, gradient

    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    for one in CHUNKS[:2]:
        before = model
        model, state, gradient = step(model, state, akjax.traced(one, like=SIZES))
        agree(gradient.table, before.table * 2)
        agree(gradient.scale, float(ak.sum(one.jet.pt)))
    assert ak.all(model.table < TABLE)


def test_optax() -> None:
    optax = pytest.importorskip("optax")
    tree = {"x": TABLE, "y": TABLE * 2}
    optimizers = {
        "momentum": optax.sgd(0.1, momentum=0.9),
        "clipped": optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.1)),
        "lbfgs": optax.lbfgs(),
        "labelled": optax.partition({"a": optax.sgd(0.1), "b": optax.set_to_zero()}, {"x": "a", "y": "b"}),
    }

    def loss(tree: Any) -> Any:
        return ak.sum((tree["x"] - 5) ** 2) + ak.sum(tree["y"] ** 2)

    @jax.jit
    def after_three(tree: Any) -> Any:
        def run(optimizer: Any) -> Any:
            def step(carry: Any, _: Any) -> Any:
                tree, state = carry
                value, gradient = jax.value_and_grad(loss)(tree)
                more = {"value": value, "grad": gradient, "value_fn": loss}
                more = more if optimizer is optimizers["lbfgs"] else {}
                updates, state = optimizer.update(gradient, state, tree, **more)
                return (optax.apply_updates(tree, updates), state), None

            return lax.scan(step, (tree, optimizer.init(tree)), None, length=3)[0][0]

        return {name: run(optimizer) for name, optimizer in optimizers.items()}

    found = after_three(tree)
    for one in found.values():
        assert loss(one) < loss(tree)
        assert ak.num(one["x"]).tolist() == [2, 0, 1]
    agree(found["labelled"]["y"], tree["y"])
    agree(found["labelled"]["x"], 5 + (TABLE - 5) * 0.8**3)


def test_nnx() -> None:
    nnx = pytest.importorskip("flax.nnx")
    optax = pytest.importorskip("optax")

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.scale = nnx.Param(jnp.array(2.0))
            self.table = nnx.Param(TABLE)

        def __call__(self, events: ak.Array) -> Any:
            return ak.sum(events.jet.pt) * self.scale[...] + ak.sum(self.table.get_value() ** 2)

    model = Model()
    agree(nnx.merge(*nnx.split(model)).table.get_value(), TABLE)
    optimizer = optax.sgd(0.1)

    # nnx.Optimizer takes no parameters that are trees, ragged or not: optax itself does
    @nnx.jit
    def step(model: Any, state: Any, events: ak.Array) -> Any:
        value, gradient = nnx.value_and_grad(lambda m: m(events))(model)
        parameters = nnx.as_pure(nnx.state(model, nnx.Param))
        updates, state = optimizer.update(nnx.as_pure(gradient), state, parameters)
        nnx.update(model, optax.apply_updates(parameters, updates))
        return value, state

    state = optimizer.init(nnx.as_pure(nnx.state(model, nnx.Param)))
    for events in (EVENTS, akjax.traced(EVENTS)):
        want = float(ak.sum(events.jet.pt) * model.scale[...] + ak.sum(model.table.get_value() ** 2))
        value, state = step(model, state, events)
        agree(value, want)
    agree(model.table.get_value(), TABLE * 0.8**2)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # of its own
def test_orbax(tmp_path: Any) -> None:
    checkpoint = pytest.importorskip("orbax.checkpoint")
    tree = {"events": akjax.traced(EVENTS), "step": jnp.array(3), "table": TABLE}
    with checkpoint.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "saved", tree)
        checkpointer.wait_until_finished()
        shapes = jax.tree.map(jnp.zeros_like, tree)
        found = checkpointer.restore(tmp_path / "saved", shapes)
    assert jax.tree.structure(found) == jax.tree.structure(tree)
    agree(found, {"events": EVENTS, "step": 3, "table": TABLE})
