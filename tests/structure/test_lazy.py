"""Arrays whose buffers are not there yet, not NumPy's, or never there."""

from __future__ import annotations

import warnings
from typing import Any

import awkward as ak
import jax
import numpy as np
import pytest

import akjax

akjax.register()


def events() -> Any:
    return ak.Array(
        {
            "Jet": ak.zip({"pt": [[1.0, 2.0], [], [3.0]], "eta": [[0.5, 0.25], [], [0.125]]}),
            "Muon": ak.zip({"pt": [[1.0], [2.0], []]}),
            "n": [1, 2, 3],
            "name": ["a", "bc", ""],
            "maybe": [1.0, None, 2.0],
        }
    )


@pytest.fixture
def lazy() -> tuple[Any, list[str]]:
    """The events, read from callables, and the names of the data buffers read so far."""
    form, length, buffers = ak.to_buffers(events())
    read: list[str] = []

    def reader(name: str) -> Any:
        def fetch() -> Any:
            read.extend([name] * name.endswith("-data"))  # old versions of Awkward look at the structure at once
            return buffers[name]

        return fetch

    return ak.from_buffers(form, length, {name: reader(name) for name in buffers}), read


def test_only_what_is_used_is_read(lazy: Any) -> None:
    array, read = lazy
    f = jax.jit(ak.sum)
    assert f(array.Jet.pt) == 6.0
    assert f(array.Jet.pt) == 6.0
    assert len(read) == 1
    assert jax.jit(lambda x: ak.sum(x.pt))(array.Muon) == 3.0
    assert len(read) == 2


def test_a_whole_record_is_read_once(lazy: Any) -> None:
    array, read = lazy
    f = jax.jit(lambda x: x)
    assert f(array).to_list() == events().to_list()
    assert len(read) == len(set(read))
    before = list(read)
    assert jax.tree.structure(array) == jax.tree.structure(events())
    assert jax.grad(lambda x: ak.sum(x.Jet.pt**2), allow_int=True)(array).Jet.pt.to_list() == [
        [2.0, 4.0],
        [],
        [6.0],
    ]
    assert f(array).to_list() == events().to_list()
    assert read == before


def test_looking_at_types_reads_nothing(lazy: Any) -> None:
    array, read = lazy
    assert (array.fields, str(array.Jet.type), len(array)) == (events().fields, str(events().Jet.type), 3)
    assert read == []


def test_virtual_arrays_close_over(lazy: Any) -> None:
    array, read = lazy
    assert jax.jit(lambda s: ak.sum(array.Jet.pt * s))(2.0) == 12.0
    assert len(read) == 1


def test_root_files(tmp_path: Any) -> None:
    uproot = pytest.importorskip("uproot")
    with uproot.recreate(tmp_path / "events.root") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # which kind of file will be written
        file["tree"] = {"pt": events().Jet.pt, "n": np.array([1, 2, 3])}
    with uproot.open(tmp_path / "events.root") as file:
        try:
            array = file["tree"].arrays(virtual=True)
        except TypeError:
            pytest.skip("this uproot reads no virtual arrays")
        assert jax.jit(lambda x: ak.sum(x))(array["pt"]) == 6.0
        assert jax.jit(lambda x: x)(array).to_list() == array.to_list()


def test_no_data_at_all_is_an_error() -> None:
    array = ak.to_backend(ak.Array([[1.0, 2.0], []]), "typetracer")
    with pytest.raises(akjax.StructureError, match="holds no data"):
        jax.jit(lambda x: x)(array)
    with pytest.raises(akjax.StructureError, match="holds no data"):
        jax.jit(lambda s: array * s)(1.0)
    assert str((array * 2).type) == "2 * var * float64"


def test_traced_index_into_a_concrete_array_keeps_its_values() -> None:
    array = ak.Array([1.0, 2.0, 3.0])
    assert jax.jit(lambda i: array[i])(ak.Array([2, 0])).to_list() == [3.0, 1.0]
    assert jax.jit(lambda x: array[x > 1.5])(array).to_list() == [2.0, 3.0]
