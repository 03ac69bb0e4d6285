"""Equality, hashing, repr and pickling of definitions."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from pydag.graphs import Frozen, Leaf, M, Point, T, Tagged

from akjax.pydag import DagDef, dag_flatten, dag_unflatten


def test_only_identities_differ() -> None:
    def make() -> T:
        m = M(Leaf())
        return T(T(m, M(m.x)), [m, {"a": Leaf()}])

    one, two = dag_flatten(make())[1], dag_flatten(make())[1]
    assert one is not two
    assert one == two
    assert hash(one) == hash(two)


def test_different_sharing_differs() -> None:
    a, b = Leaf(), Leaf()
    m = M(a)
    graphs = [
        T(m, m),
        T(M(a), M(a)),
        T(M(a), M(b)),
        T(m, a),
        T(a, m),
        T(a, a),
        T(a, b),
        [m, m],
        (m, m),
        a,
        [],
        (),
    ]
    definitions = [dag_flatten(graph)[1] for graph in graphs]
    assert len(set(definitions)) == len(graphs)
    assert definitions[0] != "definition"


def test_aux_takes_part() -> None:
    assert dag_flatten(Tagged(1, "a"))[1] != dag_flatten(Tagged(1, "b"))[1]
    assert dag_flatten({"a": 1})[1] != dag_flatten({"b": 1})[1]


def test_repr() -> None:
    a, m = Leaf(), M(Leaf())
    for graph, text in [
        (T(m, m), "T(&0=M(*), &0)"),
        (T([a, m], (a,)), "T([*0, M(*)], (*0,))"),
        ({"m": m, "p": Point(m, [m.x])}, "{'m': &0=M(*0), 'p': Point(x=&0, y=[*0])}"),
        (Frozen(1, 2, "it"), "Frozen['it'](*, *)"),
        (Tagged(1, "ab" * 50), "Tagged['" + "ab" * 29 + "a…](*)"),
        (a, "*"),
        ([(), {}, []], "[(), {}, []]"),
    ]:
        assert repr(dag_flatten(graph)[1]) == text
    long = repr(dag_flatten([T(1, 2)] * 1000)[1])
    assert len(long) == 301
    assert long.endswith("…")


def test_pickle() -> None:
    m = M(Leaf())
    definition = dag_flatten(T(m, Point(m, {"a": m})))[1]
    again = pickle.loads(pickle.dumps(definition))
    assert again == definition
    assert hash(again) == hash(definition)
    new = dag_unflatten(again, [1])
    assert new.left is new.right.y["a"]


def test_pickle_does_not_keep_the_hash_of_another_process() -> None:
    program = (
        "import pickle, sys; from akjax.pydag import dag_flatten;"
        "sys.stdout.buffer.write(pickle.dumps(dag_flatten({'a': 1, 'b': [2]})[1]))"
    )
    out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout
    assert hash(pickle.loads(out)) == hash(dag_flatten({"a": 1, "b": [2]})[1])


def test_hash_is_cached_and_identity_is_fast() -> None:
    class Aux:
        hashed = compared = 0

        def __hash__(self) -> int:
            Aux.hashed += 1
            return 1

        def __eq__(self, other: object) -> bool:
            Aux.compared += 1
            return True

    definition = dag_flatten(Tagged(1, Aux()))[1]
    assert Aux.hashed == 1
    assert hash(definition) == hash(definition)
    same = definition
    assert definition == same
    assert (Aux.hashed, Aux.compared) == (1, 0)


def test_wrong_number_of_leaves_and_unregistered_class() -> None:
    definition = dag_flatten(T(1, 2))[1]
    with pytest.raises(ValueError, match=r"T\(\*, \*\) has 2 leaves, but 1 were given"):
        dag_unflatten(definition, [1])
    with pytest.raises(TypeError, match=r"Leaf\(\) has Leaf, which is not registered \(register_pydag_node\)"):
        dag_unflatten(DagDef(((Leaf, None, ()),), 0), [])
