"""The depth-first visit of a graph, without recursion."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from .memory import Cell, Memory, Node, recall
from .paths import place_names
from .registry import find_node_type, is_value

_MAX_PATH = 40  # levels; the middle of longer paths is left out


class DagCycleError(ValueError):
    """A graph to flatten contains itself.

    Leaves and a definition describe what is *inside* an object; an object inside itself has no end. Keep a
    link back (to a parent, to an owner) out of the registered children:

        >>> from akjax.pydag import dag_flatten
        >>> family = {"child": {"name": "Kim"}}
        >>> family["child"]["parent"] = family
        >>> dag_flatten(family)
        Traceback (most recent call last):
        akjax.pydag.walk.DagCycleError: a cycle: dict['child']['parent'] is dict again. ...
        >>> del family["child"]["parent"]
        >>> dag_flatten(family)
        (['Kim'], {'child': {'name': *}})
    """


class _Open:
    """A node whose children are being visited; `refs` are those done so far."""

    __slots__ = ("aux", "children", "marks", "memory", "names", "refs", "value")

    def __init__(self, value: object, aux: Hashable, children: Sequence[Any], memory: Memory | None) -> None:
        self.value = value
        self.aux = aux
        self.children = children
        self.memory = memory
        self.marks = memory.marks_for(aux) if memory is not None else ()
        self.refs: list[int] = []
        self.names: list[str] | None = None

    def place(self) -> str:
        """The name of the child that is being visited."""
        if self.names is None:
            self.names = place_names(self.value, self.children)
        return self.names[len(self.refs)]


class Walk:
    """One depth-first visit of a graph, without recursion."""

    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self.nodes: list[Node] = []
        self.paths: list[str] | None = None
        self._seen: dict[object, int | None] = {}  # by id or cell, the reference; None while the node is open
        self._values: set[int] = set()  # references to immutable values, and to tuples of nothing else
        self._claimed: set[int] = set()  # references to leaves that a cell has
        self._alive: list[object] = []  # or a temporary's id could come back as another object
        self._open: list[_Open] = []

    def run(self, root: object) -> None:
        """Visits everything in `root`."""
        stack = self._open
        self._visit(root, None)
        while stack:
            top = stack[-1]
            marks = top.marks
            for j in range(len(top.refs), len(top.children)):
                ref = self._visit(top.children[j], marks[j] if j < len(marks) else None)
                if ref is None:
                    break  # opened: its children come first
                top.refs.append(ref)
            else:
                stack.pop()
                ref = self._close(top)
                if stack:
                    stack[-1].refs.append(ref)

    def _visit(self, value: Any, mark: Cell | Memory | None) -> int | None:
        """The reference to a value, or `None` after opening it."""
        cls = type(value)
        node_type = find_node_type(cls)
        if type(mark) is Cell and mark.holds(value):
            return self._remembered_leaf(value, mark)
        key = id(value)
        if node_type is None:
            return self._leaf(value, None if is_value(cls) else key)
        if key in self._seen:
            if self._seen[key] is None:
                raise self._cycle(value)
            return self._seen[key]
        memory = recall(value, mark)
        if memory is not None and (key, memory) in self._seen:
            return self._seen[key, memory]
        aux, children = node_type.to_iterable(_same, value)
        self._seen[key] = None
        self._alive.append(value)
        self._open.append(_Open(value, aux, list(children), memory))
        return None

    def _leaf(self, value: Any, key: int | None) -> int:
        """The reference to a leaf with an identity, or to a new one for an immutable value (no key)."""
        ref = None if key is None else self._seen.get(key)
        if ref is None:
            ref = self._new_leaf(value)
            if key is None:
                self._values.add(ref)
            else:
                self._seen[key] = ref
        return ref

    def _remembered_leaf(self, value: Any, cell: Cell) -> int:
        """The reference to the leaf of a cell, which no other cell has even if it holds the same object."""
        ref = self._seen.get(cell)
        if ref is None:
            cls = type(value)
            if find_node_type(cls) is not None:
                ref = self._new_leaf(value)
            else:
                ref = self._leaf(value, None if is_value(cls) else id(value))
                if ref in self._claimed:
                    ref = self._new_leaf(value)
            self._claimed.add(ref)
            self._seen[cell] = ref
        return ref

    def _new_leaf(self, value: Any) -> int:
        self.leaves.append(value)
        if self.paths is not None:
            self.paths.append(self._path(self._open))
        return len(self.leaves) - 1

    def _close(self, node: _Open) -> int:
        """The reference to a node whose children are done."""
        ref = ~len(self.nodes)
        cls, key = type(node.value), id(node.value)
        self.nodes.append((cls, node.aux, tuple(node.refs)))
        self._seen[key] = ref
        if cls is tuple and self._values.issuperset(node.refs):
            self._values.add(ref)
            del self._seen[key]  # the compiler merges equal constants, so only memory can tell
            if node.memory is not None:
                self._seen[key, node.memory] = ref
        return ref

    def _path(self, nodes: list[_Open]) -> str:
        if len(nodes) <= _MAX_PATH:
            return "".join([node.place() for node in nodes])
        return f"{self._path(nodes[: _MAX_PATH // 2])}…{self._path(nodes[-_MAX_PATH // 2 :])}"

    def _cycle(self, value: object) -> DagCycleError:
        start = next(i for i, node in enumerate(self._open) if node.value is value)
        name = type(self._open[0].value).__qualname__
        outer, inner = self._path(self._open[:start]), self._path(self._open)
        msg = (
            f"a cycle: {name}{inner} is {name}{outer} again. A graph to flatten must end: leave links "
            "back to a parent or owner out of the registered children"
        )
        return DagCycleError(msg)


def _same(child: Any) -> Any:
    return child
