"""What `dag_unflatten` built: which leaf each place was given, known for as long as the object lives.

JAX puts placeholders into leaf places (`None`, one `object()` everywhere, axis numbers, other trees) and
flattens again. Identity then says nothing about sharing, so where a fresh look would go wrong `dag_unflatten`
leaves a `Cell` behind: the same cell is the same leaf. It counts only where the value put there still is.

Nothing here keeps a leaf alive that can be weakly referenced. A list or a dict in a leaf place is held while
the object around it lives; so one that is later made to contain that object is never freed.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import Any, cast

Node = tuple[type, Hashable, tuple[int, ...]]  # class, aux, references to the children

# By the id of a living object; the entry goes when the object does.
_BY_ID: dict[int, Memory] = {}
# Plain containers, whose death nothing tells us of: held until nobody else holds them.
_PINNED: dict[int, object] = {}
# Classes whose `__del__` tells us.
_HOOKED: weakref.WeakSet[type] = weakref.WeakSet()


class Cell:
    """One leaf of one `dag_unflatten`, whatever was put there; held weakly where possible."""

    __slots__ = ("_strong", "_weak")

    def __init__(self, value: object) -> None:
        self._strong: object = None
        self._weak: weakref.ref[object] | None = None
        try:
            self._weak = weakref.ref(value)
        except TypeError:
            self._strong = value

    def holds(self, value: object) -> bool:
        """Whether `value` is what was put into this leaf."""
        if self._weak is None:
            return self._strong is value
        return value is not None and self._weak() is value


class Memory:
    """One node that `dag_unflatten` built: each child's cell, memory, or `None` (look afresh)."""

    __slots__ = ("aux", "cls", "loose", "marks", "watch")

    def __init__(self, cls: type, aux: Hashable, marks: Sequence[Cell | Memory | None]) -> None:
        self.cls = cls
        self.aux = aux
        self.marks = marks
        self.loose = True  # not known by id: a plain container, or an object that its parent did not keep
        self.watch: weakref.ref[object] | None = None

    def marks_for(self, aux: Any) -> Sequence[Cell | Memory | None]:
        """The marks of the children, for the `aux` that the node has now."""
        try:
            if self.aux is aux or (hash(self.aux) == hash(aux) and self.aux == aux):
                return self.marks
        except TypeError:  # flatten says more about an unhashable aux
            return ()
        if self.cls is dict:
            by_key = dict(zip(cast(tuple[Any, ...], self.aux), self.marks, strict=True))
            return [by_key.get(key) for key in aux]
        return ()


def recall(value: object, hint: Cell | Memory | None) -> Memory | None:
    """The memory of a node: its own, or its parent's of any object of this class in this place."""
    cls = type(value)
    own = _BY_ID.get(id(value))
    if own is not None and own.cls is cls:
        return own
    return hint if isinstance(hint, Memory) and hint.loose and hint.cls is cls else None


def remember(nodes: Sequence[Node], built: list[Any], leaves: Sequence[Any], odd: Iterable[int]) -> None:
    """Writes down where the `odd` leaves went; empties `built`, to see which objects nobody kept."""
    cells = {i: Cell(leaves[i]) for i in odd}
    memories: list[Memory | None] = []
    for (cls, aux, refs), value in zip(nodes, built, strict=True):
        marks = [cells.get(ref) if ref >= 0 else memories[~ref] for ref in refs]
        memory = Memory(cls, aux, marks) if any(mark is not None for mark in marks) else None
        memories.append(memory)
        if memory is not None and not _watch(value, memory) and len(memories) == len(nodes):
            _pin(value, memory, leaves)
    keys = [id(value) for value in built]
    built.clear()
    for key, memory in zip(keys, memories, strict=True):
        if memory is not None:
            memory.loose = _BY_ID.get(key) is not memory


def hook(cls: type) -> None:
    """Makes known the death of instances without weak references (`__slots__` without `__weakref__`)."""
    if cls.__weakrefoffset__:
        return
    inherited = getattr(cls, "__del__", None)

    def __del__(self: object, forget: Any = _BY_ID.pop) -> None:
        forget(id(self), None)
        if inherited is not None:
            inherited(self)

    try:
        cls.__del__ = __del__  # type: ignore[attr-defined]
    except TypeError:  # a class written in C
        return
    _HOOKED.add(cls)


def sweep(*_: object) -> None:
    """Lets go of pinned containers that nobody else holds."""
    for key in list(_PINNED):
        if sys.getrefcount(_PINNED.get(key)) <= 2:  # the dict and the argument
            _BY_ID.pop(key, None)
            _PINNED.pop(key, None)


def _watch(value: object, memory: Memory) -> bool:
    """Keeps `memory` for as long as `value` lives; False where nothing tells us how long that is."""
    key = id(value)
    try:
        memory.watch = weakref.ref(value, partial(_BY_ID.pop, key))
    except TypeError:
        if type(value) not in _HOOKED:
            return False
    _BY_ID[key] = memory
    return True


def _pin(root: object, memory: Memory, leaves: Iterable[Any]) -> None:
    """Remembers a plain container by holding it, unless that would keep a JAX tracer alive."""
    jax = sys.modules.get("jax")
    if jax is not None and any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        return
    if sweep not in gc.callbacks:
        gc.callbacks.append(sweep)
    _PINNED[id(root)] = root
    _BY_ID[id(root)] = memory
