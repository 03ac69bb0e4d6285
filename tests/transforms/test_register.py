"""`akjax.register`: once, for all classes, and nothing else changes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import awkward as ak
import jax
import pytest

import akjax
from akjax.highlevel import guards


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    full = {key: value for key, value in os.environ.items() if key != "JAX_ENABLE_X64"} | environment
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=full)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_again_does_nothing() -> None:
    akjax.register()
    before = {name: vars(ak.Array)[name] for name in vars(ak.Array)}
    threads = [threading.Thread(target=akjax.register) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: vars(ak.Array)[name] for name in vars(ak.Array)} == before
    assert not hasattr(guards.original(ak.Array, "__getitem__"), "__wrapped__")


def test_importing_and_registering_change_nothing_else() -> None:
    code = """
import awkward as ak, jax
values, methods, init = dict(jax.config.values), dict(vars(ak.Array)), ak.contents.NumpyArray.__init__
structure = jax.tree.structure(ak.Array([1]))
import akjax
assert dict(vars(ak.Array)) == methods
assert ak.contents.NumpyArray.__init__ is init
assert jax.tree.structure(ak.Array([1])) == structure
akjax.register()
assert jax.tree.structure(ak.Array([1])) != structure
assert dict(jax.config.values) == values
print("fine")
"""
    assert run(code) == "fine"


def test_threads_at_once() -> None:
    code = """
import threading, awkward as ak, jax, akjax
failed = []
def register():
    try:
        akjax.register()
    except Exception as error:
        failed.append(error)
threads = [threading.Thread(target=register) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
from akjax.highlevel import guards
assert not failed, failed
assert not hasattr(guards.original(ak.Array, "__getitem__"), "__wrapped__")
print(jax.jit(lambda x: x + 1)(ak.Array([1.0])).to_list())
"""
    assert run(code) == "[2.0]"


def test_classes_defined_later_and_behaviors() -> None:
    class LaterArray(ak.Array):  # type: ignore[misc]
        @property
        def double(self) -> Any:
            return self.x * 2

    class LaterRecord(ak.Record):  # type: ignore[misc]
        @property
        def double(self) -> Any:
            return self.x * 2

    class Deeper(LaterArray):
        pass

    behavior = {("*", "Later"): LaterArray, "Later": LaterRecord, ("*", "Deeper"): Deeper}
    layout = ak.zip({"x": [[1.0, 2.0], []]}, with_name="Later").layout
    array = ak.Array(layout, behavior=behavior)
    assert type(jax.jit(lambda x: x)(array)) is LaterArray
    assert jax.jit(lambda x: x.double)(array).to_list() == [[2.0, 4.0], []]
    record = array[0, 1]
    assert type(jax.jit(lambda x: x)(record)) is LaterRecord
    assert jax.jit(lambda x: x.double)(record) == 4.0
    assert jax.jit(lambda x: x[0, 1].double)(array) == 4.0
    deeper = ak.Array(ak.with_name(array, "Deeper").layout, behavior=behavior)
    assert type(jax.jit(lambda x: x)(deeper)) is Deeper


def test_awkward_first_is_a_clear_error() -> None:
    code = """
import warnings; warnings.simplefilter("ignore")
import awkward as ak
ak.jax.register_and_check()
import akjax
for _ in range(2):
    try:
        akjax.register()
    except akjax.RegistrationError as error:
        print("register_and_check" in str(error), "awkward.highlevel.Array" in str(error))
"""
    assert run(code) == "True True\nTrue True"


def test_half_a_registration_does_not_count() -> None:
    code = """
import awkward as ak, jax
class Taken(ak.Array): pass
jax.tree_util.register_pytree_node(Taken, lambda x: ((), None), lambda aux, leaves: None)
import akjax
for _ in range(2):
    try:
        akjax.register()
    except akjax.RegistrationError as error:
        print("Taken" in str(error))
"""
    assert run(code) == "True\nTrue"


def test_awkward_afterwards_is_harmless() -> None:
    code = """
import warnings; warnings.simplefilter("ignore")
import awkward as ak, jax, akjax
akjax.register()
class Before(ak.Array): pass
ak.jax.register_and_check()
class After(ak.Array): pass
x = ak.Array([[1.0, 2.0], []])
print(jax.jit(lambda x: x * 2)(x).to_list())
named = ak.Array(ak.zip({"x": [1.0]}, with_name="After").layout, behavior={("*", "After"): After})
print(type(jax.jit(lambda x: x)(named)).__name__)
theirs = ak.to_backend(x, "jax")
print(ak.backend(theirs), jax.jit(lambda x: x * 3)(theirs).to_list(), (theirs * 2).to_list())
print(jax.grad(lambda x: ak.sum(x**2))(theirs).to_list())
print(ak.ones_like(theirs).to_list(), theirs[jax.numpy.array([1, 0])].to_list(), ak.backend(theirs + 1))
print(ak.where(x > 1, jax.numpy.asarray(4.0), x).to_list())
"""
    assert run(code).splitlines() == [
        "[[2.0, 4.0], []]",
        "After",
        "jax [[3.0, 6.0], []] [[2.0, 4.0], []]",
        "[[2.0, 4.0], []]",
        "[[1.0, 1.0], []] [[], [1.0, 2.0]] jax",
        "[[1.0, 4.0], []]",
    ]


@pytest.mark.parametrize("name", ["where", "full_like", "broadcast_arrays", "zip", "with_field", "fill_none"])
def test_jax_values_among_arguments_do_not_start_awkwards_backend(name: str) -> None:
    x = ak.values_astype(ak.Array([[1.0, 2.0], [], [3.0]]), "float32")
    calls = {
        "where": lambda s: ak.where(x > 1.5, s, x),
        "full_like": lambda s: ak.full_like(x, s),
        "broadcast_arrays": lambda s: ak.broadcast_arrays(x, s)[1],
        "zip": lambda s: ak.zip([x, s])["1"],
        "with_field": lambda s: ak.with_field(ak.zip({"a": x}), s, "b"),
        "fill_none": lambda s: ak.fill_none(ak.mask(x, x > 1.5), s),
    }
    f = calls[name]
    want = f(4.0).to_list()
    assert jax.jit(f)(4.0).to_list() == want
    assert f(jax.numpy.asarray(4.0)).to_list() == want


def test_another_librarys_arrays_still_have_their_say() -> None:
    class Foreign:
        def __awkward_function__(self, function: Any, array_likes: Any, args: Any, kwargs: Any) -> Any:
            return "foreign"

    assert ak.concatenate([ak.Array([1]), Foreign()]) == "foreign"
