"""`akjax.stream`: many chunks through one compiled function."""

from __future__ import annotations

import logging
import warnings
from types import SimpleNamespace

import awkward as ak
import jax
import numpy as np
import pytest
from oracle import plain, same

import akjax
from akjax.structure.padding import Padded

akjax.register()


def chunk(seed: int, most: int = 300) -> ak.Array:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2.5, rng.integers(1, most))
    pt = rng.exponential(30, counts.sum())
    return ak.zip({"weight": rng.normal(size=len(counts)), "pt": ak.unflatten(pt, counts)}, depth_limit=1)


def counts(events):
    return np.histogram(ak.flatten(events.pt[events.pt > 20]), bins=8, range=(0, 100))[0]


def kept(events, cut=2):
    return events.pt[ak.num(events.pt[events.pt > 20]) >= cut]


CHUNKS = [chunk(seed) for seed in range(6)]
ALL = ak.concatenate(CHUNKS)


def test_sums_and_arrays():
    found = akjax.stream(lambda e: {"n": counts(e), "kept": kept(e), "sum": ak.sum(e.weight)}, CHUNKS)
    same(plain(found["n"]), plain(counts(ALL)))
    same(plain(found["kept"]), plain(kept(ALL)))
    same(plain(found["sum"]), float(ak.sum(ALL.weight)), rtol=1e-9)


def test_arguments_and_combine():
    found = akjax.stream(kept, CHUNKS, 3, combine=lambda a, b: ak.concatenate([a, b]))
    same(plain(found), plain(kept(ALL, 3)))
    largest = akjax.stream(lambda e: ak.max(e.pt), CHUNKS, combine=max)
    same(plain(largest), float(ak.max(ALL.pt)))


def test_without_64_bits():
    """Floats become narrower without a word, as everywhere in JAX; integers that do not fit stay."""
    chunks = [ak.with_field(c, np.arange(len(c)) + 2**40, "event") for c in CHUNKS[:2]]
    with jax.enable_x64(False):
        found = akjax.stream(lambda e: {"n": counts(e), "event": e.event[e.weight > 0]}, chunks)
    together = ak.concatenate(chunks)
    same(plain(found["n"]), plain(counts(together)))
    same(plain(found["event"]), plain(together.event[together.weight > 0]))


def test_preselection():
    given = []

    def seen(events):
        given.append(events)
        return counts(events)

    found = akjax.stream(seen, CHUNKS, preselect=lambda e: ak.num(e.pt) >= 6)
    same(plain(found), plain(counts(ALL[ak.num(ALL.pt) >= 6])))
    assert len(given) <= 2  # traced, not called for every chunk
    filled = akjax.stream(counts, CHUNKS, preselect=lambda e: ak.fill_none(ak.max(e.pt, axis=1) > 90, False))
    same(plain(filled), plain(counts(ALL[ak.any(ALL.pt > 90, axis=1)])))


NO_SELECTIONS = {
    "numbers": (lambda e: e.weight, r"3 \* float64"),
    "missing values": (lambda e: ak.max(e.pt, axis=1) > 2, r"3 \* \?bool"),
    "lists": (lambda e: e.pt > 2, r"3 \* var \* bool"),
    "too few": (lambda e: (e.weight > 0)[e.weight > 0], r"2 \* bool"),
    "records": (lambda e: ak.zip({"one": e.weight > 0}), r"3 \* \{one: bool\}"),
    "one for all": (lambda e: ak.any(e.pt > 2), r"bool of shape \(\)"),
    "columns": (lambda e: jax.numpy.ones((3, 2), bool), r"bool of shape \(3, 2\)"),
}


@pytest.mark.parametrize("name", NO_SELECTIONS)
def test_preselection_takes_a_boolean_for_each_row(name):
    condition, found = NO_SELECTIONS[name]
    events = ak.Array({"weight": [1.0, -1.0, 1.0], "pt": [[1.0, 3.0], [], [3.0]]})
    with pytest.raises(TypeError, match=rf"a boolean for each of 3 rows, not .*{found}: fill missing values"):
        akjax.stream(lambda e: ak.sum(e.pt), [events], preselect=condition)


def test_few_compilations(caplog):
    """A hundred chunks of very different sizes: JAX logs each compilation."""
    chunks = [chunk(seed, most) for seed, most in enumerate(np.geomspace(40, 2000, 100).astype(int))]
    np.random.default_rng(1).shuffle(chunks)

    def selection(events):
        return counts(events)

    with caplog.at_level(logging.WARNING), jax.log_compiles():
        found = akjax.stream(selection, chunks)
    messages = [record.getMessage() for record in caplog.records]
    compiled = sum("Finished XLA compilation of jit(selection)" in message for message in messages)
    assert 1 <= compiled <= 4
    same(plain(found), plain(counts(ak.concatenate(chunks))))


def test_begins_with_given_sizes():
    traces = []

    def function(events):
        traces.append(1)
        return counts(events)

    compiled = jax.jit(function)
    akjax.stream(compiled, CHUNKS, like=akjax.envelope(CHUNKS))
    akjax.stream(compiled, CHUNKS[:2], like=akjax.traced(CHUNKS[0], like=akjax.envelope(CHUNKS)))
    assert len(traces) == 1


def read_badly():
    message = "no such file"
    raise OSError(message)


LABELLED = [(CHUNKS[0], "one.root"), (read_badly, SimpleNamespace(file_path="two.root")), (lambda: CHUNKS[2], 3)]


def test_a_bad_chunk_is_named():
    with pytest.raises(OSError, match="no such file") as caught:
        akjax.stream(counts, LABELLED)
    assert caught.value.__notes__ == ["in chunk 1 (two.root) of akjax.stream"]


def test_a_bad_chunk_can_be_left_out():
    with pytest.warns(akjax.ChunkWarning, match=r"chunk 1 \(two.root\) was left out: OSError: no such file"):
        found = akjax.stream(counts, LABELLED, on_error="skip")
    same(plain(found), plain(counts(ak.concatenate([CHUNKS[0], CHUNKS[2]]))))


def test_results_must_be_alike():
    results = iter([1.0, (1.0, 2.0)])
    with pytest.raises(TypeError, match="give `combine`"):
        akjax.stream(SimpleFunction(lambda e: next(results)), CHUNKS[:2])


class SimpleFunction:
    """Passes for a compiled function."""

    lower = None

    def __init__(self, function):
        self.call = function

    def __call__(self, *args):
        return self.call(*args)


def test_what_is_not_used_is_not_prepared(monkeypatch):
    made = []
    original = Padded.made
    monkeypatch.setattr(Padded, "made", lambda self, blank: made.append(self.shape) or original(self, blank))
    found = akjax.stream(lambda e, scale: ak.sum(e.weight) * scale, CHUNKS, 2.0)
    same(plain(found), 2 * float(ak.sum(ALL.weight)), rtol=1e-9)
    sizes = len({shape for shape in made if shape[0] == max(made)[0]})
    assert sizes == 1
    # of the first chunk the rows that exist, the weights, offsets and parents of lists and their numbers
    assert len(made) <= 5 + 2 * (len(CHUNKS) - 1) + 3


def test_a_function_that_takes_its_buffers():
    """Donated buffers are gone after the first call: also those that it does not use."""
    f = jax.jit(lambda e: e.weight * 2, donate_argnums=0)
    with warnings.catch_warnings():
        # JAX's own, of the buffers that no result can take: that they are gone all the same is what is tested
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        found = akjax.stream(f, CHUNKS)
    same(plain(found), plain(ALL.weight * 2))


def test_no_chunks():
    assert akjax.stream(counts, []) is None


def test_wrong_on_error():
    with pytest.raises(ValueError, match="on_error"):
        akjax.stream(counts, [], on_error="ignore")


def test_memory_does_not_grow_with_the_number_of_chunks():
    """No chunk is kept once it is combined."""
    import gc
    import weakref

    alive = []
    most = 0

    def chunks():
        nonlocal most
        for seed in range(12):
            array = chunk(seed)
            alive.append(weakref.ref(array))
            yield array
            del array
            gc.collect()
            most = max(most, sum(ref() is not None for ref in alive))

    akjax.stream(counts, chunks())
    assert most <= 3


def _of_one_length(events):
    return {"n": ak.sum(events.a), "h": jax.numpy.ones(3 if "b" in events.fields else 2)}


MIXED = [ak.Array([{"a": 1.0}]), ak.Array([{"a": 100.0, "b": 2.0}]), ak.Array([{"a": 10.0}])]


@pytest.mark.parametrize("last", [False, True])
def test_a_result_that_cannot_be_combined_is_left_out_whole(last):
    chunks = [MIXED[0], MIXED[2], MIXED[1]] if last else MIXED
    with pytest.warns(akjax.ChunkWarning, match=f"chunk {2 if last else 1} was left out") as seen:
        found = akjax.stream(_of_one_length, chunks, on_error="skip")
    assert [warning.filename for warning in seen] == [__file__]
    assert float(found["n"]) == 11
    assert found["h"].tolist() == [2, 2]
    with pytest.raises(TypeError, match="add") as error:
        akjax.stream(_of_one_length, chunks)
    assert f"in chunk {2 if last else 1} of akjax.stream" in error.value.__notes__


def test_errors_of_combine_name_their_chunk():
    def combine(one, two):
        if two == 10:
            raise ValueError
        return one + two

    with pytest.warns(akjax.ChunkWarning, match="chunk 2 was left out"):
        assert akjax.stream(lambda e: ak.sum(e.a), MIXED, combine=combine, on_error="skip") == 101


@pytest.mark.parametrize("function", [lambda e: ak.Record({"x": e.pt, "n": ak.sum(e.weight)}), lambda e: e[0]])
def test_records_are_not_added(function):
    with pytest.raises(TypeError, match="return a dict of its fields"):
        akjax.stream(function, CHUNKS)
    assert akjax.stream(function, CHUNKS, combine=lambda one, two: one).fields
