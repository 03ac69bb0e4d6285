"""What an `ak.Array` remembers of its life as a pytree: its leaves, its `Spec`, its nodes.

The state lives in the instance's dict. An array that came out of JAX has a state and no layout; the
layout is built from concrete leaves when something first asks for it, so that a jitted call stays
asynchronous and its result can be fed to the next call without visiting the host.
"""

from __future__ import annotations

import threading
from typing import Any

import awkward as ak
import jax
import numpy as np

from .. import _compat
from ..errors import StructureError
from ..nodes.kinds import Flat, Frozen, Live, Masked, Node, Record, Row
from ..nodes.walk import iterate, leaves as leaves_of
from ..structure.from_layout import from_layout
from ..structure.spec import Spec, canonical, split_leaves
from ..structure.to_layout import concrete_layout, stand_in

KEY = "_akjax"
_lock = threading.RLock()
_PLAIN = (np.ndarray, np.generic)


class State:
    """The pytree half of an array; `trace` is set when it is valid inside one trace only.

    It is made either of leaves and a `Spec` (what JAX gives) or of nodes (what an operation gives);
    the other half is worked out when it is asked for.
    """

    __slots__ = ("_kind", "_leaves", "_node", "_of", "_spec", "_stand_in", "layout", "memo", "trace")

    def __init__(self, leaves: Any = None, spec: Spec | None = None) -> None:
        self._leaves = leaves
        self._spec = spec
        self._node: Node | None = None
        self._of: tuple[Any, Any] = (None, None)
        self._kind: str | None = None
        self._stand_in: Any = None
        self.layout: Any = None
        self.trace: Any = None
        self.memo: dict[str, Any] = {}

    @classmethod
    def from_node(cls, node: Node, behavior: Any, attrs: Any) -> State:
        """The state of an array of these (canonical) nodes."""
        state = cls()
        state._node = node
        state._of = (behavior, attrs)
        return state

    @property
    def spec(self) -> Spec:
        """The static half."""
        if self._spec is None:
            self._leaves, self._spec = split_leaves(self.node, *self._of)
        return self._spec

    @property
    def leaves(self) -> Any:
        """The unique buffers."""
        if self._leaves is None:
            self._leaves, self._spec = split_leaves(self.node, *self._of)
        return self._leaves

    @property
    def kind(self) -> str:
        """`"concrete"`, `"traced"`, or `"placeholder"` when some leaf is no array at all."""
        if self._kind is None:
            self._kind = _kind_of(leaves_of(self._node) if self._leaves is None else self._leaves)  # type: ignore[arg-type]
        return self._kind

    @property
    def node(self) -> Node:
        """The nodes, with every leaf checked against the rank it should have."""
        if self._node is None:
            assert self._spec is not None
            node = self._spec.build(list(self._leaves))
            check_ranks(node)
            self._node = node
        return self._node

    def stand_in(self) -> Any:
        """A layout with the right type and no data; questions about type are Awkward's to answer."""
        if self._stand_in is None:
            self._stand_in = stand_in(self.node)
        return self._stand_in


def _kind_of(leaves: Any) -> str:
    kind = "concrete"
    for leaf in leaves:
        if _compat.is_tracer(leaf):
            kind = "traced"
        elif not isinstance(leaf, (jax.Array, *_PLAIN)):
            return "placeholder"
    return kind


def check_ranks(node: Node, below_list: bool = False) -> None:
    """Say what is wrong when `vmap` has taken or added an axis where it cannot."""
    for n in iterate(node):
        if not isinstance(n, Flat) or n.rank < 0:
            continue
        rank = np.ndim(n.data) - (n.words is not None)
        expected = n.rank - (n.words is not None)
        if rank > expected:
            message = (
                f"this array carries {rank - expected} more axis in its leaves than its structure has: it came out of "
                "jax.vmap or jax.lax.scan with its results stacked. Take one with "
                "jax.tree.map(lambda leaf: leaf[k], array)"
            )
            raise StructureError(message)
        if rank < expected and not _is_rectangular(node):
            message = (
                "jax.vmap cannot map over the rows of a ragged array: its lists have no common length, so the rows of "
                "its buffers are not its rows. Map over regular arrays or records of flat arrays, pass ragged "
                "arrays with in_axes=None, or write the function for all rows at once"
            )
            raise StructureError(message)


def _is_rectangular(node: Node) -> bool:
    if isinstance(node, Record):
        return all(_is_rectangular(content) for content in node.contents)
    return isinstance(node, Flat)


def state_of(array: Any) -> State | None:
    """The state of an array that must not be read through its layout: traced or placeholder."""
    state: State | None = array.__dict__.get(KEY)
    if state is None or state.kind == "concrete":
        return None
    if state.trace is not None and not _compat.is_running(state.trace):
        # fields assigned inside a transformation that has ended: the array is what it was before
        del array.__dict__[KEY]
        array.__class__ = _compat.high_level_class(array.__dict__["_layout"], array.__dict__["_behavior"])
        return None
    return state


def is_traced(value: Any) -> bool:
    """Whether a value is an `ak.Array` or `ak.Record` inside a transformation."""
    return isinstance(value, ak.Array | ak.Record) and state_of(value) is not None


def flat_state(array: Any) -> State:
    """The state of any array, made when it is flattened for the first time and kept while it is valid."""
    instance = array.__dict__
    state: State | None = instance.get(KEY)
    behavior = instance["_behavior"]
    if state is not None:
        layout = instance.get("_layout")
        current = layout is None or state.layout is layout or state_of(array) is state
        if current and state.spec.behavior is behavior and state.spec.attrs == _lasting(instance["_attrs"]):
            return state
        if layout is None:
            instance[KEY] = State.from_node(state.node, behavior, _lasting(instance["_attrs"]).value)
            return instance[KEY]  # type: ignore[no-any-return]
    layout = array.layout
    node = canonical(from_layout(layout))
    state = State.from_node(node, behavior, _lasting(instance["_attrs"]).value)
    state.layout = layout
    instance[KEY] = state
    return state


def _lasting(attrs: Any) -> Frozen:
    """The attributes that are part of the array: those marked transient by `@` are not."""
    if not attrs:
        return _NO_ATTRS
    return Frozen({key: value for key, value in attrs.items() if not key.startswith("@")})


_NO_ATTRS = Frozen(None)


def node_of(array: Any) -> Node:
    """The nodes of any `ak.Array` or `ak.Record`, traced or not."""
    return flat_state(array).node


def restore(cls: type, spec: Spec, leaves: Any) -> Any:
    """An array of exactly this class over any leaves; nothing is looked at."""
    array = object.__new__(cls)
    array.__dict__.update(
        _compat.INSTANCE_DEFAULTS,
        _behavior=spec.behavior,
        _attrs=_compat.make_attrs(spec.attrs.value),
        **{KEY: State(leaves, spec)},
    )
    return array


def materialise(array: Any) -> Any:
    """The layout of an array whose leaves are concrete, built once."""
    state: State = array.__dict__[KEY]
    with _lock:
        if "_layout" not in array.__dict__:
            layout = _layout_of(state)
            state.layout = layout
            array.__dict__["_layout"] = layout
        return array.__dict__["_layout"]


def _layout_of(state: State) -> Any:
    try:
        node = state.node
    except StructureError:
        return _stacked_layout(state.leaves, state.spec)
    return concrete_layout(node)


def _stacked_layout(leaves: Any, spec: Spec) -> Any:
    """Results stacked by `vmap` or `scan`, as one more regular dimension."""
    lengths = {np.shape(leaf)[:1] for leaf in leaves}
    if len(lengths) != 1 or lengths == {()}:
        message = f"the leaves of this array do not fit its structure {spec!r}: shapes {[np.shape(x) for x in leaves]}"
        raise StructureError(message)
    ((size,),) = lengths
    rows = []
    for k in range(size):
        layout = _layout_of(State([np.asarray(leaf)[k] for leaf in leaves], spec))
        rows.append(layout.to_packed().array if isinstance(layout, ak.record.Record) else layout)
    if not rows:
        return ak.contents.RegularArray(stand_in(spec.build([np.zeros(np.shape(x)[1:]) for x in leaves])), 0, 0)
    joined = ak.to_layout(ak.concatenate([ak.Array(row) for row in rows]))
    if isinstance(spec.skeleton(), Row):
        return joined
    return ak.contents.RegularArray(joined, rows[0].length, size)


def wrap(node: Node, behavior: Any = None, attrs: Any = None, cls: type | None = None) -> Any:
    """The high-level array of some nodes: a traced one, a concrete one, or a plain JAX scalar.

    Args:
        node: the nodes; need not be canonical.
        behavior: behavior mapping of the array, or None.
        attrs: attributes of the array, or None.
        cls: its class, when known; Awkward's rules give it otherwise.
    """
    if isinstance(node, Flat) and np.ndim(node.data) == 0:
        return node.data
    node = canonical(node)
    if not any(_compat.is_tracer(leaf) for leaf in leaves_of(node)):
        layout = concrete_layout(node)
        high_level = ak.Record if isinstance(layout, ak.record.Record) else ak.Array
        return high_level(layout, behavior=behavior, attrs=attrs)
    return _traced(node, behavior, attrs, cls)


def _traced(node: Node, behavior: Any, attrs: Any, cls: type | None) -> Any:
    lasting = _lasting(attrs).value
    state = State.from_node(node, behavior, lasting)
    if cls is None:
        cls = _compat.high_level_class(state.stand_in(), behavior)
    array = object.__new__(cls)
    array.__dict__.update(
        _compat.INSTANCE_DEFAULTS, _behavior=behavior, _attrs=_compat.make_attrs(lasting), **{KEY: state}
    )
    return array


def assign(array: Any, node: Node) -> None:
    """Make the array be these nodes from now on: for good when it is traced, else inside this trace."""
    instance = array.__dict__
    behavior, attrs = instance["_behavior"], instance["_attrs"]
    state = State.from_node(canonical(node), behavior, _lasting(attrs).value)
    if "_layout" in instance:
        state.trace = _compat.current_trace()
    instance[KEY] = state
    array.__class__ = _compat.high_level_class(state.stand_in(), behavior)


def tracer_in(array: Any) -> Any:
    """Some tracer of a traced array, for JAX's error messages."""
    state: State = array.__dict__[KEY]
    return next((leaf for leaf in state.leaves if _compat.is_tracer(leaf)), None)


__all__ = [
    "KEY",
    "Live",
    "Masked",
    "State",
    "assign",
    "check_ranks",
    "flat_state",
    "is_traced",
    "materialise",
    "node_of",
    "restore",
    "state_of",
    "tracer_in",
    "wrap",
]
