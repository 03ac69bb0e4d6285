"""Which classes are containers, and how to open and close them."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import types
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from .memory import hook

ToIterable = Callable[[Callable[[Any], Any], Any], tuple[Hashable, Iterable[Any]]]
FromIterable = Callable[[Callable[[Any], Any], Any, Sequence[Any]], Any]


def _cached(question: Callable[[type], bool]) -> Callable[[type], bool]:
    return cast(Callable[[type], bool], lru_cache(maxsize=256)(question))


class NodeType(NamedTuple):
    """How to open and close the instances of one class."""

    to_iterable: ToIterable
    from_iterable: FromIterable


def _open_namedtuple(f: Callable[[Any], Any], obj: Any) -> tuple[Hashable, list[Any]]:
    cls = cast(Hashable, type(obj))
    return cls, [f(child) for child in obj]


_NAMEDTUPLE = NodeType(
    _open_namedtuple,
    lambda u, cls, names: tuple.__new__(cls, [u(name) for name in names]),
)
_NODE_TYPES: dict[type, NodeType] = {
    tuple: NodeType(
        lambda f, obj: (None, [f(child) for child in obj]),
        lambda u, _, names: tuple([u(name) for name in names]),
    ),
    list: NodeType(
        lambda f, obj: (None, [f(child) for child in obj]),
        lambda u, _, names: [u(name) for name in names],
    ),
    dict: NodeType(
        lambda f, obj: (tuple(obj), [f(child) for child in obj.values()]),
        lambda u, keys, names: {key: u(name) for key, name in zip(keys, names, strict=True)},
    ),
}

# Immutable values: Python or NumPy may hand out one object for equal ones, so identity says nothing.
_VALUES = (
    *(type(None), bool, int, float, complex, str, bytes, frozenset, range, type(...), type(NotImplemented)),
    *(enum.Enum, decimal.Decimal, fractions.Fraction, np.generic, np.dtype),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
    *(type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType),
)


def register_pydag_node(cls: type, to_iterable: ToIterable, from_iterable: FromIterable) -> None:
    """Makes a class a container: its instances are opened by `dag_flatten` and rebuilt by `dag_unflatten`.

    The class need be neither hashable nor weakly referenceable. (If it cannot be weakly referenced, its
    `__del__` is extended, so that what is remembered about an instance goes when the instance goes.) Only
    exact instances are opened; a subclass is registered on its own.

    Args:
        cls: the class.
        to_iterable: `to_iterable(f, obj) -> (aux, [f(child), ...])`; `aux` is hashable and says what the
            children do not.
        from_iterable: `from_iterable(u, aux, names) -> obj`, with `u(name)` the child of that name. It should
            not validate or convert children, which may be anything at all.

    Raises:
        ValueError: if the class is registered already.

    Examples:
        >>> from akjax.pydag import dag_flatten, register_pydag_node
        >>> class Pair:
        ...     def __init__(self, left, right):
        ...         self.left, self.right = left, right
        >>> register_pydag_node(
        ...     Pair,
        ...     lambda f, pair: (None, [f(pair.left), f(pair.right)]),
        ...     lambda u, aux, names: Pair(*map(u, names)),
        ... )
        >>> dag_flatten(Pair("a", ["b"]))
        (['a', 'b'], Pair(*, [*]))
    """
    if cls in _NODE_TYPES:
        msg = f"{cls.__qualname__} is registered as a container already"
        raise ValueError(msg)
    hook(cls)
    _NODE_TYPES[cls] = NodeType(to_iterable, from_iterable)


def unregister(cls: type) -> None:
    """Makes a class a leaf again."""
    _NODE_TYPES.pop(cls, None)


def find_node_type(cls: type) -> NodeType | None:
    """How to open a class; `None` for a leaf."""
    found = _NODE_TYPES.get(cls)
    if found is None and is_namedtuple(cls):
        return _NAMEDTUPLE
    return found


@_cached
def is_namedtuple(cls: type) -> bool:
    """Whether a class is a named tuple."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


@_cached
def is_value(cls: type) -> bool:
    """Whether the instances are immutable values, whose identity is an accident."""
    return issubclass(cls, _VALUES)
