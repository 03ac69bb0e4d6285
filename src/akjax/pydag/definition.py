"""The hashable half of a flattened graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .memory import Node
from .registry import is_namedtuple

_MAX_REPR = 300
_MAX_AUX = 60


class DagDef:
    """A graph without its leaves: equal, with equal hashes, for graphs that differ only in identities.

    Nodes are numbered as they are completed and leaves as they are first visited. A reference `i >= 0` is
    leaf `i`, a negative one node `~i`; the last node is the root, and a definition without nodes is that of a
    single leaf. The repr shows leaves as `*`, a leaf in several places as `*0`, `*1`, ..., a shared node as
    `&0=...` and then `&0`.

    Attributes:
        nodes: (class, aux, references to the children), children before parents.
        num_leaves: how many unique leaves there are.

    Examples:
        >>> from akjax.pydag import dag_flatten
        >>> a, b, shared = object(), object(), [object()]
        >>> dag_flatten({"x": (a, b, a), "y": shared, "z": shared})[1]
        {'x': (*0, *, *0), 'y': &0=[*], 'z': &0}
    """

    __slots__ = ("__weakref__", "_hash", "_repeated", "nodes", "num_leaves")

    def __init__(self, nodes: tuple[Node, ...], num_leaves: int) -> None:
        self.nodes = nodes
        self.num_leaves = num_leaves
        self._repeated: frozenset[int] | None = None
        try:
            self._hash = hash((nodes, num_leaves))
        except TypeError:
            _explain_unhashable(nodes)
            raise

    @property
    def root(self) -> int:
        """The reference of the root."""
        return -len(self.nodes)

    @property
    def repeated(self) -> frozenset[int]:
        """The leaves found several times by a visit that recognises neither leaves nor tuples."""
        if self._repeated is None:
            places = self._count_places()
            seen = {ref for ref, n in places.items() if n > 1}
            for k in reversed(range(len(self.nodes))):
                cls, _, refs = self.nodes[k]
                if cls is tuple and ~k in seen:
                    seen.update(refs)
            self._repeated = frozenset(ref for ref in seen if ref >= 0)
        return self._repeated

    def _count_places(self) -> Counter[int]:
        return Counter(ref for _, _, refs in self.nodes for ref in refs)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, DagDef):
            return NotImplemented
        return self._hash == other._hash and self.num_leaves == other.num_leaves and self.nodes == other.nodes

    def __reduce__(self) -> tuple[Any, ...]:
        return DagDef, (self.nodes, self.num_leaves)

    def __repr__(self) -> str:
        text = ""
        for part in self._parts():
            text += part
            if len(text) > _MAX_REPR:
                return text[:_MAX_REPR] + "…"
        return text

    def _parts(self) -> Iterator[str]:
        places = self._count_places()
        names: dict[int, str] = {}
        todo: list[str | int] = [self.root]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                yield item
            elif item >= 0:
                yield f"*{item}" if places[item] > 1 else "*"
            elif item in names:
                yield names[item]
            else:
                if places[item] > 1:
                    names[item] = f"&{len(names)}"
                    yield f"{names[item]}="
                cls, aux, refs = self.nodes[~item]
                opening, labels, closing = _brackets(cls, aux, len(refs))
                yield opening
                todo.append(closing)
                for j in reversed(range(len(refs))):
                    todo += [refs[j], f", {labels[j]}" if j else labels[j]]


def _brackets(cls: type, aux: Any, n: int) -> tuple[str, list[str], str]:
    """How to write a node: what comes before, in front of each child, and after."""
    if cls is tuple:
        return "(", [""] * n, ",)" if n == 1 else ")"
    if cls is list:
        return "[", [""] * n, "]"
    if cls is dict:
        return "{", [f"{key!r}: " for key in aux], "}"
    if is_namedtuple(cls) and aux is cls:
        return f"{cls.__name__}(", [f"{field}=" for field in getattr(cls, "_fields", ())], ")"
    if aux is None or aux == ():
        return f"{cls.__name__}(", [""] * n, ")"
    text = " ".join(repr(aux).split())
    return f"{cls.__name__}[{text if len(text) <= _MAX_AUX else text[:_MAX_AUX] + '…'}](", [""] * n, ")"


def _explain_unhashable(nodes: tuple[Node, ...]) -> None:
    for cls, aux, _ in nodes:
        try:
            hash(aux)
        except TypeError as error:
            msg = (
                f"the aux of {cls.__qualname__} must be hashable, but is a {type(aux).__name__}: {error}. "
                "Return arrays among the children, and in aux only what can be compared and hashed"
            )
            raise TypeError(msg) from error
