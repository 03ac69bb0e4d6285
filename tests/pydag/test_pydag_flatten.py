"""Sharing found by a first flatten, cycles, temporaries, depth, threads."""

from __future__ import annotations

import ast
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydag.graphs import Frozen, Leaf, M, Point, Slots, T, Tagged, Wrapping

import akjax.pydag
from akjax.pydag import DagCycleError, dag_flatten, dag_unflatten, register_pydag_node


@pytest.mark.parametrize("pair", [T, Slots, Frozen, Point, lambda a, b: (a, b), lambda a, b: [a, b]])
def test_shared_leaf_and_shared_node(pair: Any) -> None:
    leaf = Leaf()
    node = M(leaf)
    leaves, definition = dag_flatten(pair(node, node))
    assert leaves == [leaf]
    new = dag_unflatten(definition, [1])
    left, right = (new.left, new.right) if hasattr(new, "left") else new
    assert left is right
    assert left is not node
    assert left.x == 1
    assert dag_flatten(pair(leaf, leaf))[0] == [leaf]


def test_shared_across_branches_and_plain_containers() -> None:
    m = M(Leaf())
    leaves, definition = dag_flatten({"a": T(T(m, m), [m]), "b": (m, Point(m.x, {"c": m}))})
    assert leaves == [m.x]
    new = dag_unflatten(definition, ["x"])
    found = [new["a"].left.left, new["a"].left.right, new["a"].right[0], new["b"][0], new["b"][1].y["c"]]
    assert len(set(map(id, found))) == 1
    assert type(new["b"][1]) is Point
    inner = [Leaf()]
    new = dag_unflatten(dag_flatten(T(T(inner, inner), (inner,)))[1], [None])
    assert new.left.left is new.left.right is new.right[0]


def test_two_unflattenings_are_independent() -> None:
    m = M(Leaf())
    leaves, definition = dag_flatten(T(m, m))
    one, two = dag_unflatten(definition, leaves), dag_unflatten(definition, leaves)
    assert one.left is one.right
    assert two.left is two.right
    assert one.left is not two.left
    assert one.left.x is m.x


def test_dict_order_is_kept() -> None:
    leaves, definition = dag_flatten({"b": 1, "a": 2})
    assert leaves == [1, 2]
    assert list(dag_unflatten(definition, leaves)) == ["b", "a"]
    assert definition != dag_flatten({"a": 1, "b": 2})[1]


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        True,
        2.5,
        1j,
        "a",
        b"a",
        (),
        frozenset(),
        ...,
        np.True_,
        np.float32(1),
        np.dtype("i4"),
        (1, ("a", ())),
        int,
    ],
    ids=repr,
)
def test_immutable_values_are_not_shared(value: Any) -> None:
    leaves, definition = dag_flatten(T(value, [value]))
    once, _ = dag_flatten([value])
    assert len(leaves) == 2 * len(once)
    assert "&" not in repr(definition)
    assert definition == dag_flatten(T(value, [dag_unflatten(*reversed(dag_flatten(value)))]))[1]


def test_tuple_around_something_with_identity_is_shared() -> None:
    pair = (1, Leaf())
    leaves, definition = dag_flatten([pair, pair])
    assert leaves == [1, pair[1]]
    new = dag_unflatten(definition, [None, None])
    assert new[0] is new[1]
    assert dag_flatten(new)[1] == definition


def test_exact_types() -> None:
    class Sub(M):
        pass

    class MyList(list):  # type: ignore[type-arg]
        pass

    for leaf in (Sub(1), MyList([1]), {1, 2}):
        assert dag_flatten([leaf])[0][0] is leaf


def test_cycles_name_both_ends() -> None:
    t = T(None, M(0))
    t.left = [{"up": M(t)}]
    with pytest.raises(DagCycleError, match=r"a cycle: T\.left\[0\]\['up'\]\.x is T again") as caught:
        dag_flatten(t)
    assert isinstance(caught.value, ValueError)
    t.right.x = Point(0, t.right)
    t.left = 1
    with pytest.raises(DagCycleError, match=r"T\.right\.x\.y is T\.right again"):
        dag_flatten(t)


def test_temporaries_do_not_alias() -> None:
    for _ in range(200):
        wrappings = [Wrapping(Leaf()) for _ in range(5)]
        leaves, definition = dag_flatten(wrappings)
        assert leaves == [w.x for w in wrappings]
        new = dag_unflatten(definition, leaves)
        assert [w.x for w in new] == leaves


def test_temporary_leaves_do_not_alias() -> None:
    class Fresh:
        pass

    register_pydag_node(Fresh, lambda f, _: (None, [f(Leaf()), f(Leaf())]), lambda u, _, names: Fresh())
    leaves, _ = dag_flatten([Fresh() for _ in range(50)])
    assert len(leaves) == len(set(map(id, leaves))) == 100


@pytest.mark.parametrize("aux", [np.ones(2), (1, np.ones(2)), [1], {"a": 1}], ids=["array", "nested", "list", "dict"])
def test_unhashable_aux(aux: Any) -> None:
    with pytest.raises(TypeError, match=r"the aux of Tagged must be hashable, but is a (ndarray|tuple|list|dict): "):
        dag_flatten([Tagged(1, aux)])


def test_registered_twice() -> None:
    with pytest.raises(ValueError, match="T is registered as a container already"):
        register_pydag_node(T, lambda f, t: (None, []), lambda u, aux, names: None)
    with pytest.raises(ValueError, match="list is registered as a container already"):
        register_pydag_node(list, lambda f, t: (None, []), lambda u, aux, names: None)


def test_deep() -> None:
    leaf = x = Leaf()
    for level in range(10_000):
        x = ([x], (x, 1), T(x, x), {"x": x}, M(x))[level % 5]  # type: ignore[assignment]
    leaves, definition = dag_flatten(x)
    assert leaves.count(leaf) == 1
    for filling in (leaves, [None] * len(leaves)):
        assert dag_flatten(dag_unflatten(definition, filling))[1] == definition
    assert len(repr(definition)) < 400
    assert hash(definition) == hash(dag_flatten(x)[1])
    x = top = M(None)  # type: ignore[assignment]
    for _ in range(10_000):
        x = M(x)  # type: ignore[assignment]
    top.x = x
    with pytest.raises(DagCycleError, match="…"):
        dag_flatten(x)


def test_threads() -> None:
    m = M(Leaf())
    shared = T([m, m], Slots(m, (m, None)))
    expected = dag_flatten(shared)[1]
    failures: list[object] = []

    def work() -> None:
        for filling in ([Leaf(), Leaf()], [None, None], [[], 1]) * 100:
            new = dag_unflatten(expected, filling)
            if dag_flatten(shared)[1] != expected or dag_flatten(new) != (filling, expected):
                failures.append(filling)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_core_knows_neither_jax_nor_awkward() -> None:
    for file in Path(akjax.pydag.__file__).parent.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        nodes = ast.walk(tree) if file.name != "jax.py" else ast.iter_child_nodes(tree)
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.level:
                continue
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & {"jax", "jaxlib", "awkward"}, file
