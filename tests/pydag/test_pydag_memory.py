"""The sharing of what was unflattened: remembered for any leaves, revalidated, and gone with the object."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydag.graphs import KINDS, Frozen, Leaf, M, Point, Slots, T, Tagged, Wrapping, fillings, graphs

from akjax.pydag import dag_flatten, dag_unflatten, memory


def remembered(definition: Any, leaves: list[Any]) -> Any:
    new = dag_unflatten(definition, leaves)
    again, definition_again = dag_flatten(new)
    assert definition_again == definition
    assert len(again) == len(leaves)
    assert all(a is b for a, b in zip(again, leaves, strict=True))
    return new


def same_identities(old: Any, new: Any, seen: dict[int, Any]) -> None:
    """Both graphs share in the same places; temporaries and immutable values aside."""
    if isinstance(old, Leaf | M | T | Slots | Frozen | Tagged | Wrapping | list | dict):
        assert seen.setdefault(id(old), new) is new
    assert type(old) is type(new)
    if isinstance(old, dict):
        assert list(old) == list(new)
        children = list(zip(old.values(), new.values(), strict=True))
    elif isinstance(old, tuple | list):
        children = list(zip(old, new, strict=True))
    else:
        children = [(getattr(old, n), getattr(new, n)) for n in ("left", "right", "x", "tag") if hasattr(old, n)]
    for old_child, new_child in children:
        same_identities(old_child, new_child, seen)


@given(graphs())
def test_any_graph_any_leaves(graph: Any) -> None:
    leaves, definition = dag_flatten(graph)
    for filling in fillings(len(leaves)).values():
        new = remembered(definition, filling)
        part = remembered(dag_flatten([new])[1], filling)[0]
        if not isinstance(part, tuple | list | dict):  # those remember as part of the root only
            assert dag_flatten(part)[1] == definition
    seen: dict[int, Any] = {}
    new = dag_unflatten(definition, [Leaf() for _ in leaves])
    same_identities(graph, new, seen)
    nodes = [value for value in seen.values() if not isinstance(value, Leaf)]
    assert len(set(map(id, nodes))) == len(nodes)  # and what was not shared is not


@given(graphs())
@settings(max_examples=15)  # each collects all garbage
def test_nothing_is_left_behind(graph: Any) -> None:
    leaves, definition = dag_flatten(graph)
    for filling in fillings(len(leaves)).values():
        remembered(definition, filling)
    del filling
    gc.collect()
    assert not memory._PINNED
    assert not memory._BY_ID


@given(graphs(root=("T", "Slots", "Frozen")), st.data())
def test_mutated_graphs_flatten_consistently(graph: Any, data: st.DataObject) -> None:
    leaves, definition = dag_flatten(graph)
    filling = data.draw(st.sampled_from(list(fillings(len(leaves)).values())))
    new = dag_unflatten(definition, filling)
    fresh = data.draw(st.sampled_from([None, Leaf(), [1], M(Leaf()), new.left, new.right]))
    object.__setattr__(new, data.draw(st.sampled_from(["left", "right"])), fresh)
    found, changed = dag_flatten(new)
    assert any(x is fresh for x in found) or not isinstance(fresh, Leaf | None)
    remembered(changed, found)
    remembered(changed, [None] * len(found))


@pytest.mark.parametrize("kind", KINDS)
def test_leaves_that_are_containers_stay_leaves(kind: str) -> None:
    inside = KINDS[kind]([Leaf(), Leaf()])
    for pair in (T, Slots, Frozen):
        remembered(dag_flatten(pair(Leaf(), Leaf()))[1], [inside, inside])
        remembered(dag_flatten(pair([Leaf()], (Leaf(),)))[1], [inside, [inside]])


def test_what_changed_is_looked_at_afresh() -> None:
    m, y = M(Leaf()), Leaf()
    _, definition = dag_flatten(T(m, [m, m.x]))
    new = remembered(definition, [None])
    new.right[1] = y
    assert dag_flatten(new)[0] == [None, y]
    assert repr(dag_flatten(new)[1]) == "T(&0=M(*), [&0, *])"
    new.left = M(None)  # another object with the same placeholder
    assert dag_flatten(new)[0] == [None, None, y]
    new.left = new.right[0]
    assert dag_flatten(new)[0] == [None, y]
    new.right.append(new.left)
    assert repr(dag_flatten(new)[1]) == "T(&0=M(*), [&0, *, &0])"
    new.right[0].x = y
    assert dag_flatten(new)[0] == [y]


def test_same_object_in_two_leaves() -> None:
    _, definition = dag_flatten(T(Leaf(), [Leaf(), Leaf()]))
    z = np.zeros(2)
    new = remembered(definition, [z, z, z])
    new.right[0] = y = Leaf()
    assert [id(leaf) for leaf in dag_flatten(new)[0]] == [id(z), id(y), id(z)]
    new.left = y
    assert [id(leaf) for leaf in dag_flatten(new)[0]] == [id(y), id(z)]
    new.right.append(z)  # there is only one leaf left that holds z
    assert repr(dag_flatten(new)[1]) == "T(*0, [*0, *1, *1])"


def test_dict_with_other_keys() -> None:
    leaf = Leaf()
    _, definition = dag_flatten(T({"a": leaf, "b": leaf, "c": Leaf()}, leaf))
    new = remembered(definition, [None, None])
    del new.left["a"]
    new.left["z"] = None
    assert repr(dag_flatten(new)[1]) == "T({'b': *0, 'c': *, 'z': *}, *0)"


def test_children_remember_on_their_own() -> None:
    _, definition = dag_flatten(T(T(Leaf(), Leaf()), 0))
    new = remembered(definition, [[1], [2], 3])
    assert dag_flatten(new.left)[0] == [[1], [2]]
    assert len(dag_flatten(T(new.left, new.left))[0]) == 2


def test_shared_constants_in_a_tuple() -> None:
    leaf = Leaf()
    pair = (leaf, Leaf())
    _, definition = dag_flatten(T(pair, pair))
    new = remembered(definition, [1, 2])
    assert new.left is new.right
    _, definition = dag_flatten(T((leaf, Leaf()), (leaf, 3)))
    remembered(definition, [1, 1, 1])


@pytest.mark.parametrize("pair", [T, Slots, Frozen, Point])
def test_leaves_are_not_kept_alive(pair: Any) -> None:
    _, definition = dag_flatten(pair(Leaf(), [Leaf(), M(Leaf())]))
    array = np.ones(3)
    new = remembered(definition, [array, array, array])
    died = weakref.ref(array)
    del array, new
    if pair is Point:  # nothing tells us of its death
        gc.collect()
    assert died() is None
    array = np.ones(3)
    if pair is T:
        new = remembered(definition, [array, array, array])
        new.left, new.right = 1, 2
        died = weakref.ref(array)
        del array
        assert died() is None


def test_leaf_that_holds_its_container() -> None:
    class Owner:
        pass

    owner = Owner()
    _, definition = dag_flatten(T(Leaf(), Leaf()))
    new: Any = remembered(definition, [owner, owner])
    owner.new = new  # type: ignore[attr-defined]
    died = weakref.ref(owner)
    del new, owner
    gc.collect()
    assert died() is None


def test_inherited_del_still_runs() -> None:
    from akjax.pydag import register_pydag_node

    ended = []

    class Closing:
        __slots__ = ("x",)

        def __init__(self, x: Any) -> None:
            self.x = x

        def __del__(self) -> None:
            ended.append(self.x)

    register_pydag_node(Closing, lambda f, c: (None, [f(c.x)]), lambda u, _, names: Closing(u(names[0])))
    new = remembered(dag_flatten([Closing("a"), Closing("b")])[1], [(1,), (1,)])
    del new
    gc.collect()
    assert sorted(ended, key=str) == [(1,), (1,), "a", "b"]
