"""The closed set of nodes: every array akjax handles is one of these, one inside another.

Structure is static (`Static`, NumPy on the host); data buffers are NumPy arrays, JAX arrays or
tracers and are never looked into. Three nodes carry run-time structure: `Live` (elements that may not
exist), `Masked` (values that may be missing) and `Jagged` (lists of run-time length). Each node is
registered with `pydag`, so that a tree of nodes splits into unique leaves and a hashable definition,
shared buffers and shared nodes kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..pydag import register_pydag_node
from .boundaries import Boundaries, boundaries
from .static import Static

Parameters: TypeAlias = "Mapping[str, Any] | None"

ONE_NUMBER = (
    "this takes an array, not a single number, such as the rows of a flat array that jax.vmap and jax.lax.scan hand "
    "out: a number has no length, and no elements to reduce, move or select"
)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Empty:
    """Zero elements of unknown type."""

    parameters: Parameters = None

    @property
    def length(self) -> int:
        return 0


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Flat:
    """Numbers: a data buffer of shape `(length, *inner)`, the only node with a differentiable leaf.

    `words` is set (to the true dtype, `"int64"` or `"uint64"`) when the buffer holds 64-bit integers as
    pairs of 32-bit words because JAX's 64-bit types are switched off; `rank` is the number of axes the
    buffer has outside any `vmap`.
    """

    data: Any
    parameters: Parameters = None
    words: str | None = None
    rank: int = -1

    @property
    def length(self) -> int:
        if not self.data.shape:
            raise TypeError(ONE_NUMBER)
        return int(self.data.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the numbers, however they are stored."""
        return tuple(self.data.shape if self.words is None else self.data.shape[:-1])


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """Characters, bytes, dates: a buffer that JAX has no type for and that is structure here."""

    data: Static
    parameters: Parameters = None

    @property
    def length(self) -> int:
        return len(self.data)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Regular:
    """Lists of one size."""

    content: Node
    size: int
    length: int
    parameters: Parameters = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class List:
    """Lists of varying length: `offsets` start at 0 and end at the length of the content."""

    offsets: Static | Boundaries
    content: Node
    parameters: Parameters = None

    @property
    def length(self) -> int:
        return len(self.offsets) - 1


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Jagged(List):
    """Lists whose lengths are known at run time: `offsets` are `Boundaries`, of which only bounds are known.

    The last list holds the slots of the content that are not used, and a `Live` above says that it does not exist.
    """


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Indexed:
    """Elements of the content in another order or repeated; every one of them is reached."""

    index: Static
    content: Node
    parameters: Parameters = None

    @property
    def length(self) -> int:
        return len(self.index)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Option:
    """Missing values known while tracing: -1 in `index` is missing, all of the content is reached.

    `unmasked` says that none is missing whatever happens to the array, as in an `UnmaskedArray`, which some of
    Awkward's functions tell from other options; `index` then is in order.
    """

    index: Static
    content: Node
    parameters: Parameters = None
    unmasked: bool = False

    @property
    def length(self) -> int:
        return len(self.index)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Masked:
    """Missing values known at run time: `null` is 1 (a float) where the value is missing, 0 elsewhere."""

    null: Any
    content: Node
    parameters: Parameters = None

    @property
    def length(self) -> int:
        return self.content.length


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Live:
    """Elements of an axis of which some do not exist: `dead` is 1 (a float) for those, 0 for the others.

    It stands only at the root (rows) or directly below a `List`. The mask is kept as floats and as
    "dead", so that a zero tangent says "all exist" and jvp, vjp and jacobians need no special rule.
    """

    dead: Any
    content: Node

    @property
    def length(self) -> int:
        return self.content.length

    @property
    def parameters(self) -> Parameters:
        return None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Record:
    """Named fields (or a tuple, `fields=None`) of one length."""

    contents: tuple[Node, ...]
    fields: tuple[str, ...] | None
    length: int
    parameters: Parameters = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Union:
    """Elements of several types: element i is `contents[tags[i]][index[i]]`."""

    tags: Static
    index: Static
    contents: tuple[Node, ...]
    parameters: Parameters = None

    @property
    def length(self) -> int:
        return len(self.tags)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Row:
    """One record (an `ak.Record`): the only row of its content."""

    content: Node

    @property
    def length(self) -> int:
        return 1

    @property
    def parameters(self) -> Parameters:
        return None


Node: TypeAlias = Empty | Flat | Constant | Regular | List | Indexed | Option | Masked | Live | Record | Union | Row


def _snapshot(value: Any) -> Any:
    """A copy that later changes of the containers do not reach."""
    if isinstance(value, Mapping):
        return {key: _snapshot(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_snapshot, value))
    return value


def _key(value: Any) -> Any:
    """What a snapshot is compared by: its value, and the identity of what has no hash."""
    if type(value) is dict:
        return dict, frozenset((key, _key(item)) for key, item in value.items())
    if type(value) in (list, tuple):
        return type(value), tuple(map(_key, value))
    try:
        hash(value)
    except TypeError:
        return id, id(value)  # the snapshot keeps it alive
    return type(value), value


class Frozen:
    """Parameters or attributes as a hashable value."""

    __slots__ = ("key", "value")

    def __init__(self, value: Parameters) -> None:
        self.value = _snapshot(value) if value else None
        self.key = _key(self.value) if value else None

    def __reduce__(self) -> tuple[Any, ...]:
        return Frozen, (self.value,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return "" if self.value is None else repr(self.value)


_NONE = Frozen(None)


def _frozen(parameters: Parameters) -> Frozen:
    return Frozen(parameters) if parameters else _NONE


def _register(kind: Any, children: tuple[str, ...], statics: tuple[str, ...], many: str | None = None) -> None:
    """Tell pydag how to open and close a class: `children` are nodes or leaves, `many` a tuple of nodes."""

    def to_iterable(f: Callable[[Any], Any], node: Any) -> tuple[Any, list[Any]]:
        aux = (*(getattr(node, name) for name in statics), _frozen(node.parameters))
        below = [getattr(node, name) for name in children]
        if many is not None:
            below.extend(getattr(node, many))
        return aux, [f(child) for child in below]

    def from_iterable(u: Callable[[Any], Any], aux: Any, names: Any) -> Any:
        *values, parameters = aux
        below = [u(name) for name in names]
        arguments = dict(zip(statics, values, strict=True))
        arguments |= dict(zip(children, below, strict=False))
        if many is not None:
            arguments[many] = tuple(below[len(children) :])
        if kind not in (Live, Row):
            arguments["parameters"] = parameters.value
        return kind(**arguments)

    register_pydag_node(kind, to_iterable, from_iterable)


def _register_jagged() -> None:
    def to_iterable(f: Callable[[Any], Any], node: Jagged) -> tuple[Any, list[Any]]:
        lists: Any = node.offsets
        below = [lists.offsets, lists.parents, node.content]
        return (lists.bounds, _frozen(node.parameters)), [f(child) for child in below]

    def from_iterable(u: Callable[[Any], Any], aux: Any, names: Any) -> Jagged:
        bounds, parameters = aux
        offsets, parents, content = (u(name) for name in names)
        return Jagged(boundaries(offsets, parents, bounds), content, parameters.value)

    register_pydag_node(Jagged, to_iterable, from_iterable)


_register(Empty, (), ())
_register(Flat, ("data",), ("words", "rank"))
_register(Constant, (), ("data",))
_register(Regular, ("content",), ("size", "length"))
_register(List, ("content",), ("offsets",))
_register_jagged()
_register(Indexed, ("content",), ("index",))
_register(Option, ("content",), ("index", "unmasked"))
_register(Masked, ("null", "content"), ())
_register(Live, ("dead", "content"), ())
_register(Record, (), ("fields", "length"), many="contents")
_register(Union, (), ("tags", "index"), many="contents")
_register(Row, ("content",), ())


def replace(node: Any, **changes: Any) -> Any:
    """A copy of the node with some of its attributes changed."""
    return dataclasses.replace(node, **changes)
