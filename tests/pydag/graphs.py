"""Container classes of every kind, and random graphs of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from akjax.pydag import register_pydag_node, register_with_jax


class T:
    """Two children."""

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


class M:
    """One child, compared (and so not hashable) by value."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, M) and self.x == other.x


class Slots:
    """Neither a dict nor weak references."""

    __slots__ = ("left", "right")

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


@dataclass(frozen=True, slots=True)
class Frozen:
    left: Any
    right: Any
    name: str = "frozen"


class Wrapping:
    """Hands out children that exist only while flattening."""

    def __init__(self, x: Any) -> None:
        self.x = x


class Tagged:
    """With something static."""

    def __init__(self, x: Any, tag: Any) -> None:
        self.x, self.tag = x, tag


class Point(NamedTuple):
    x: Any
    y: Any


def two(cls: Callable[[Any, Any], Any]) -> tuple[Any, Any, Any]:
    return (
        cls,
        lambda f, obj: (None, [f(obj.left), f(obj.right)]),
        lambda u, _, names: cls(*map(u, names)),
    )


register_with_jax(*two(T))
register_with_jax(M, lambda f, m: (None, [f(m.x)]), lambda u, _, names: M(*map(u, names)))
register_with_jax(*two(Slots))
register_with_jax(
    Frozen,
    lambda f, obj: (obj.name, [f(obj.left), f(obj.right)]),
    lambda u, name, names: Frozen(*map(u, names), name=name),
)
register_pydag_node(
    Wrapping,
    lambda f, w: (None, [f({"x": w.x}), f(M(w.x)), f([w.x]), f((w.x, Slots(w.x, w.x)))]),
    lambda u, _, names: Wrapping(u(names[0])["x"]),
)
register_with_jax(
    Tagged,
    lambda f, obj: (obj.tag, [f(obj.x)]),
    lambda u, tag, names: Tagged(*map(u, names), tag),
)

KINDS: dict[str, Callable[[list[Any]], Any]] = {
    "T": lambda c: T(c[0], c[-1]),
    "M": lambda c: M(c[0]),
    "Slots": lambda c: Slots(c[0], c[-1]),
    "Frozen": lambda c: Frozen(c[-1], c[0]),
    "Wrapping": lambda c: Wrapping(c[0]),
    "Tagged": lambda c: Tagged(c[0], len(c)),
    "Point": lambda c: Point(c[0], c[-1]),
    "tuple": tuple,
    "list": list,
    "dict": lambda c: {f"k{j}": child for j, child in enumerate(c)},
}
JAX_KINDS = ("T", "M", "Slots", "Frozen", "Tagged")


class Leaf:
    """An object whose identity matters."""


@st.composite
def graphs(draw: st.DrawFn, leaf: Callable[[], Any] = Leaf, root: tuple[str, ...] = tuple(KINDS)) -> Any:
    """A random graph: every node draws its children from all leaves and nodes made before it."""
    pool: list[Any] = [leaf() for _ in range(draw(st.integers(1, 4)))]
    steps = draw(st.integers(0, 9))
    for step in range(steps + 1):
        kind = draw(st.sampled_from(root if step == steps else tuple(KINDS)))
        least = 0 if kind in ("tuple", "list", "dict") else 1
        picks = draw(st.lists(st.integers(0, len(pool) - 1), min_size=least, max_size=3))
        pool.append(KINDS[kind]([pool[-1 - pick] for pick in picks]))
    return pool[-1]


def fillings(n: int) -> dict[str, list[Any]]:
    """What JAX and its users put into n leaf places."""
    one = object()
    array = np.ones(3)
    shared: list[Any] = [1, (2, None)]
    return {
        "distinct": [Leaf() for _ in range(n)],
        "object": [one] * n,
        "none": [None] * n,
        "int": [7] * n,
        "bool": [i % 2 == 0 for i in range(n)],
        "str": ["batch"] * n,
        "array": [array] * n,
        "scalar": [np.float32(1)] * n,
        "float0": [np.zeros(2, [("float0", np.void, 0)])] * n,
        "list": [[] for _ in range(n)],
        "same list": [shared] * n,
        "empty tuple": [()] * n,
        "tree": [T(M(one), Point(None, one)) for _ in range(n)],
        "same tree": [T(M(one), [one])] * n,
        "slots tree": [Slots(None, None)] * n,
        "mixed": [([None], None, one, array, 3, Point(1, 1))[i % 6] for i in range(n)],
    }
