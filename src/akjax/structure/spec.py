"""`Spec`: what JAX is told about an array besides its leaves.

Everything static, compared and hashed by value: the tree of nodes without its buffers, which leaf
stands where (shared buffers are one leaf), the behavior, and the attributes. It repeats nothing that
a leaf knows (dtype, inner shape), so that `tree.map`, tangents and abstract values do not disagree
with it; only each leaf's rank is kept, so that a mapped or stacked leaf is recognised.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..nodes.kinds import (
    Constant,
    Empty,
    Flat,
    Frozen,
    Indexed,
    Jagged,
    List,
    Live,
    Masked,
    Node,
    Option,
    Record,
    Regular,
    Row,
    Union,
)
from ..nodes.walk import iterate, map_flat, map_nodes
from ..pydag import dag_flatten, dag_unflatten
from .from_layout import regular
from .words import needs_words, split

# a place in an array: fields by name, those of a tuple by number, and this for the elements of lists
Path: TypeAlias = tuple[str, ...]
ELEMENTS = "[]"

_interned: weakref.WeakValueDictionary[int, Spec] = weakref.WeakValueDictionary()


class Place(NamedTuple):
    """What the structure knows of a leaf's shape: the number of axes, and the first one's length or None."""

    rank: int
    length: int | None


class Spec:
    """The static half of an array; equal specs are (nearly always) one object.

    Args:
        definition: the tree of nodes.
        behavior: the array's own behavior mapping, or None.
        attrs: the array's attributes.
        fresh: whether the array comes straight from being padded: what does not exist is all at the end. A program may
            use that of its input; inside it no structure is fresh, so that what was selected has the structure of what
            was not.
    """

    __slots__ = ("__weakref__", "_hash", "_names", "_places", "attrs", "behavior", "definition", "fresh")

    def __init__(self, definition: Any, behavior: Any, attrs: Frozen, fresh: bool = False) -> None:
        self.definition = definition
        self.behavior = behavior
        self.attrs = attrs
        self.fresh = fresh
        self._hash = hash((definition, attrs, fresh))
        self._names: tuple[str, ...] | None = None
        self._places: tuple[Place, ...] | None = None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Spec):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.fresh == other.fresh
            and self.has_behavior(other.behavior)
            and self.attrs == other.attrs
            and bool(self.definition == other.definition)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<{describe(self.skeleton())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_intern, (self.definition, self.behavior, self.attrs.value, self.fresh))

    def as_fresh(self, fresh: bool) -> Spec:
        """The same, straight from being padded or not."""
        return self if self.fresh is fresh else _intern(self.definition, self.behavior, self.attrs.value, fresh)

    def has_behavior(self, behavior: Any) -> bool:
        """Whether this is the behavior: by value, as an operation on two arrays merges theirs anew."""
        return self.behavior is behavior or bool(self.behavior == behavior)

    def build(self, leaves: list[Any]) -> Node:
        """The nodes over these leaves."""
        return dag_unflatten(self.definition, leaves)  # type: ignore[no-any-return]

    def skeleton(self) -> Node:
        """The nodes over the numbers of the leaves."""
        return self.build([_Slot(i) for i in range(self.definition.num_leaves)])

    def places(self) -> tuple[Place, ...]:
        """What each leaf must look like."""
        if self._places is None:
            found: dict[int, Place] = {}
            _place(self.skeleton(), None, found)
            self._places = tuple(found[i] for i in range(len(found)))
        return self._places

    def extra_axes(self, leaves: Any) -> int | None:
        """How many leading axes the leaves have more than the structure: 1 when stacked, -1 inside a `vmap`.

        None when they do not fit the structure in any way. A leaf that is None fits everywhere.
        """
        shapes = [
            (np.shape(leaf), place) for leaf, place in zip(leaves, self.places(), strict=True) if leaf is not None
        ]
        extra = {len(shape) - place.rank for shape, place in shapes}
        if len(extra) > 1:
            return None
        count = extra.pop() if extra else 0
        if len({shape[: max(count, 0)] for shape, _ in shapes}) > 1:
            return None
        if count >= 0 and any(place.length not in (None, shape[count]) for shape, place in shapes):
            return None
        return count

    def is_structure(self) -> tuple[bool, ...]:
        """Whether each leaf says what exists, is missing or where lists begin, and is no number of the array."""
        data = {node.data.number for node in iterate(self.skeleton()) if isinstance(node, Flat)}
        return tuple(number not in data for number in range(self.definition.num_leaves))

    def padding(self) -> tuple[int, ...]:
        """The numbers of the leaves that say which rows exist and where traced lists begin."""
        found = (number for number, _, what in _places_of(self.skeleton(), ()) if what in ("<dead>", "<offsets>"))
        return tuple(dict.fromkeys(found))

    def names(self) -> tuple[str, ...]:
        """A name for each leaf, like `Jet.pt`; that of the first place for a leaf that is used twice."""
        if self._names is None:
            self._names = tuple((_name(path) + what) or "data" for path, what in self.first_places())
        return self._names

    def first_places(self) -> tuple[tuple[Path, str], ...]:
        """Where each leaf stands first, and what it says there (`<offsets>`; nothing for a number)."""
        first: dict[int, tuple[Path, str]] = {}
        for number, path, what in _places_of(self.skeleton(), ()):
            first.setdefault(number, (path, what))
        return tuple(first[number] for number in range(len(first)))

    def columns(self, which: Sequence[bool]) -> frozenset[Path]:
        """Every place where one of these leaves stands."""
        return frozenset(path for number, path, _ in _places_of(self.skeleton(), ()) if which[number])


class _Slot:
    """A stand-in for a leaf, by number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"#{self.number}"


def _intern(definition: Any, behavior: Any, attrs: Any, fresh: bool = False) -> Spec:
    spec = Spec(definition, behavior, Frozen(attrs), fresh)
    found = _interned.get(spec._hash)
    if found is not None and found == spec and found.behavior is behavior:
        return found
    _interned[spec._hash] = spec
    return spec


def split_leaves(node: Node, behavior: Any, attrs: Any) -> tuple[list[Any], Spec]:
    """The unique leaves of an array and its `Spec`.

    Args:
        node: the canonical nodes (see `canonical`).
        behavior: the array's own behavior mapping, or None.
        attrs: the array's attributes that take part in equality, or None.
    """
    leaves, definition = dag_flatten(node)
    return leaves, _intern(definition, behavior, attrs)


def canonical(node: Node) -> Node:
    """The form in which an array meets JAX: regular chains as axes, ranks noted, no integer truncated.

    Equal views of one buffer become one object here, so that they are one leaf.
    """
    views: dict[Any, Any] = {}
    words: dict[int, Any] = {}

    def collapse(n: Node) -> Node | None:
        if isinstance(n, Regular):
            return regular(map_nodes(collapse, n.content), n.size, n.length, n.parameters)
        return None

    def leaf(flat: Flat) -> Flat:
        data, dtype = flat.data, flat.words
        if isinstance(data, np.ndarray) and data.size:  # where nothing lies, addresses mean nothing
            address = data.__array_interface__["data"][0]
            data = views.setdefault((address, data.shape, data.strides, data.dtype.str), data)
            if dtype is None and needs_words(data):
                dtype = str(data.dtype)
                if id(data) not in words:
                    words[id(data)] = split(data)
                data = words[id(data)]
        if data is flat.data and flat.rank == np.ndim(data):
            return flat
        return Flat(data, flat.parameters, dtype, np.ndim(data))

    return map_flat(leaf, map_nodes(collapse, node))


def _place(node: Node, length: int | None, found: dict[int, Place]) -> None:
    """Note what the leaves below must look like, for a node of this length."""
    match node:
        case Flat():
            found.setdefault(node.data.number, Place(node.rank, length))
        case Live():
            found.setdefault(node.dead.number, Place(1, length))
            _place(node.content, length, found)
        case Masked():
            found.setdefault(node.null.number, Place(1, length))
            _place(node.content, length, found)
        case Regular():
            _place(node.content, node.length * node.size, found)
        case Jagged():
            lists: Any = node.offsets
            found.setdefault(lists.offsets.number, Place(1, lists.bounds.rows + 1))
            found.setdefault(lists.parents.number, Place(1, lists.bounds.slots))
            _place(node.content, lists.bounds.slots, found)
        case List():
            _place(node.content, int(node.offsets.array[-1]), found)
        case Indexed() | Option():
            _place(node.content, _reached(node.index.array), found)
        case Record():
            for content in node.contents:
                _place(content, node.length, found)
        case Union():
            for tag, content in enumerate(node.contents):
                _place(content, _reached(node.index.array[node.tags.array == tag]), found)
        case Row():
            _place(node.content, 1, found)


def _reached(index: np.ndarray[Any, Any]) -> int:
    """The length of the content of an index, all of which is reached."""
    return int(index.max(initial=-1)) + 1


def _places_of(node: Node, path: Path) -> Iterator[tuple[int, Path, str]]:
    """The numbers of the leaves with every place where they stand, in the order of the leaves."""
    match node:
        case Flat():
            yield node.data.number, path, ""
        case Live():
            yield node.dead.number, path, "<dead>"
            yield from _places_of(node.content, path)
        case Masked():
            yield node.null.number, path, "<missing>"
            yield from _places_of(node.content, path)
        case Jagged():
            lists: Any = node.offsets
            yield lists.offsets.number, path, "<offsets>"
            yield lists.parents.number, path, "<parents>"
            yield from _places_of(node.content, (*path, ELEMENTS))
        case List() | Regular():
            yield from _places_of(node.content, (*path, ELEMENTS))
        case Record():
            labels = node.fields if node.fields is not None else [str(i) for i in range(len(node.contents))]
            for label, content in zip(labels, node.contents, strict=True):
                yield from _places_of(content, (*path, label))
        case Union():
            for i, content in enumerate(node.contents):
                yield from _places_of(content, (*path, f"<{i}>"))
        case Indexed() | Option() | Row():
            yield from _places_of(node.content, path)


def _name(path: Path) -> str:
    return ".".join(part for part in path if part != ELEMENTS).replace(".<", "<")


def describe(node: Node) -> str:
    """One line that reads like a type, with the lists' offsets and the leaves' numbers."""
    match node:
        case Empty():
            return "unknown"
        case Flat():
            return f"{node.data!r}" + ("" if node.words is None else f":{node.words}")
        case Constant():
            return str(node.data.array.dtype)
        case Regular():
            return f"{node.size} * {describe(node.content)}"
        case List():
            return f"{node.length} * var{node.offsets!r} * {describe(node.content)}"
        case Indexed():
            return f"indexed{node.index!r} {describe(node.content)}"
        case Option():
            return f"?{node.index!r} {describe(node.content)}"
        case Masked():
            return f"?({node.null!r}) {describe(node.content)}"
        case Live():
            return f"where not {node.dead!r}: {describe(node.content)}"
        case Union():
            return f"union[{', '.join(describe(content) for content in node.contents)}]"
        case Row():
            return f"record {describe(node.content)}"
        case Record():
            name = (node.parameters or {}).get("__record__", "")
            if node.fields is None:
                return f"{name}({', '.join(describe(c) for c in node.contents)})"
            pairs = zip(node.fields, node.contents, strict=True)
            return f"{name}{{{', '.join(f'{label}: {describe(c)}' for label, c in pairs)}}}"
