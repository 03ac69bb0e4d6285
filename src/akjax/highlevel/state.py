"""What an `ak.Array` remembers of its life as a pytree: its leaves, its `Spec`, its nodes.

The state lives in the instance's dict. An array that came out of JAX has a state and no layout; the
layout is built from concrete leaves when something first asks for it, so that a jitted call stays
asynchronous and its result can be fed to the next call without visiting the host.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import awkward as ak
import jax
import numpy as np

from .. import _compat
from ..errors import StructureError
from ..nodes.kinds import ONE_NUMBER, Flat, Frozen, Live, Masked, Node, Record, Row, replace
from ..nodes.moving import offsets_of
from ..nodes.walk import has_run_time_structure
from ..nodes.walk import leaves as leaves_of
from ..structure.absent import fill_absent, is_absent, lacks_lists
from ..structure.from_layout import from_layout
from ..structure.spec import Spec, canonical, split_leaves
from ..structure.to_layout import concrete_layout, stand_in
from ..structure.words import wide

KEY = "_akjax"


class State:
    """The pytree half of an array.

    It is made either of leaves and a `Spec` (what JAX gives) or of nodes (what an operation gives);
    the other half is worked out when it is asked for. What an assignment made holds inside `trace` only;
    everywhere else the array is what it was `before`. Without tracers it is traced all the same `during` the trace that
    made it, if its structure is that of traced arrays (padded, or selected from). `wide` says whether JAX had 64-bit
    types when the leaves were made: 64-bit integers depend on it.
    """

    __slots__ = (
        "_kind",
        "_leaves",
        "_node",
        "_of",
        "_spec",
        "_stand_in",
        "before",
        "during",
        "layout",
        "lock",
        "memo",
        "trace",
        "wide",
    )

    def __init__(self, leaves: Any = None, spec: Spec | None = None) -> None:
        self.wide = wide()
        self.lock = threading.RLock()
        self.before: State | None = None
        self.during: weakref.ref[Any] | None = None
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
        """What the leaves are.

        `"concrete"`, `"traced"`, `"misfit"` (their shapes are wrong, or lists are not there), or `"placeholder"`
        (one is neither an array nor None, or all are None).
        """
        if self._kind is None:
            kind = _kind_of(leaves_of(self._node) if self._leaves is None else self._leaves)  # type: ignore[arg-type]
            if kind == "concrete" and self._node is None and not self._fits():
                kind = "misfit"
            self._kind = kind
        if self.during is not None and self._kind == "concrete" and _compat.is_running(self.during()):
            return "traced"
        return self._kind

    def _fits(self) -> bool:
        extra = self.spec.extra_axes(self._leaves)
        return extra is not None and extra >= 0 and not self.lacks_lists()

    def lacks_lists(self) -> bool:
        """Whether the leaves do not say where lists begin: they are a gradient or a part of an array."""
        return any(map(is_absent, self._leaves or ())) and lacks_lists(self.spec.build(list(self._leaves)))

    @property
    def node(self) -> Node:
        """The nodes.

        Raises:
            StructureError: when the leaves are not what the structure needs.
        """
        if self._node is None:
            self._node = nodes_over(self._leaves, self.spec)
        return self._node

    def with_facts(self, behavior: Any, attrs: Frozen) -> State:
        """The same leaves under another behavior and other attributes."""
        return State(self.leaves, Spec(self.spec.definition, behavior, attrs))

    def stand_in(self) -> Any:
        """A layout with the right type and no data; questions about type are Awkward's to answer."""
        if self._stand_in is None:
            self._stand_in = stand_in(self.node)
        return self._stand_in


def _kind_of(leaves: Any) -> str:
    leaves = list(leaves)
    kind = "placeholder" if leaves and all(leaf is None for leaf in leaves) else "concrete"
    for leaf in leaves:
        if _compat.is_tracer(leaf):
            kind = "traced"
        elif leaf is not None and not _has_numbers(leaf):
            return "placeholder"
    return kind


def _has_numbers(leaf: Any) -> bool:
    """Whether a leaf is an array: NumPy's, JAX's (not random keys), or a literal JAX makes while tracing."""
    if isinstance(leaf, ak.Array | ak.Record):  # a tree in a leaf's place, as Jacobians have them
        return False
    return hasattr(leaf, "__array__") and isinstance(getattr(leaf, "dtype", None), np.dtype)


def nodes_over(leaves: Any, spec: Spec) -> Node:
    """The nodes of a structure over these leaves, or what is wrong when they do not fit each other."""
    if _kind_of(leaves) == "placeholder":
        raise no_data(leaves)
    extra = spec.extra_axes(leaves)
    if extra is None:
        shapes = [*map(np.shape, leaves)]
        message = f"the leaves of this array do not fit its structure {spec!r:.300}: shapes {shapes}"
        raise StructureError(message)
    if extra > 0:
        message = (
            f"this array carries {extra} more axis in its leaves than its structure has: it came out of "
            "jax.vmap or jax.lax.scan with its results stacked. Take one with "
            "jax.tree.map(lambda leaf: leaf[k], array)"
        )
        raise StructureError(message)
    node = spec.build(list(leaves))
    if extra < 0:
        node = _mapped_row(node)
    return fill_absent(node) if any(map(is_absent, leaves)) else node


def no_data(leaves: Any) -> TypeError:
    """The error for arrays that JAX or the user filled with something that is no array."""
    return TypeError(f"this array holds no data: its leaves are {leaves!r:.200}")


def _mapped_row(node: Node) -> Node:
    """One row of an array, as `jax.vmap` hands it out: buffers without their first axis."""
    if not _is_rectangular(node):
        message = (
            "jax.vmap cannot map over the rows of a ragged array: its lists have no common length, so the "
            "rows of its buffers are not its rows. Map over them with akjax.vmap, over regular arrays or records of "
            "flat arrays, or pass ragged arrays with in_axes=None"
        )
        raise StructureError(message)
    return Row(_single(node)) if isinstance(node, Record) else node


def _is_rectangular(node: Node) -> bool:
    if isinstance(node, Record):
        return all(_is_rectangular(content) for content in node.contents)
    return isinstance(node, Flat)


def _single(node: Node) -> Node:
    """The records of which these buffers are one row."""
    if isinstance(node, Record):
        return replace(node, contents=tuple(map(_single, node.contents)), length=1)  # type: ignore[no-any-return]
    assert isinstance(node, Flat)
    if node.data is None:
        return replace(node, data=np.zeros(1, jax.dtypes.float0))  # type: ignore[no-any-return]
    return replace(node, data=node.data[None], rank=np.ndim(node.data) + 1)  # type: ignore[no-any-return]


def visible_state(array: Any) -> State | None:
    """The state that holds here: what was assigned inside a transformation holds nowhere else.

    Nothing is undone: another thread may be inside that transformation.
    """
    state: State | None = array.__dict__.get(KEY)
    while state is not None and state.trace is not None and not _compat.is_running(state.trace):
        state = state.before
    return state


def state_of(array: Any) -> State | None:
    """The state of an array that must not be read through its layout: traced, or without proper data."""
    if "_layout" in array.__dict__:
        return None
    state = visible_state(array)
    return None if state is None or state.kind == "concrete" else state


def is_traced(value: Any) -> bool:
    """Whether a value is an `ak.Array` or `ak.Record` inside a transformation."""
    return isinstance(value, ak.Array | ak.Record) and state_of(value) is not None


def flat_state(array: Any) -> State:
    """The state of any array, made when it is flattened for the first time and kept while it is valid."""
    try:
        instance = array.__dict__
    except AttributeError:
        message = ONE_NUMBER if not np.ndim(array) else f"this takes an ak.Array, not {type(array).__name__}"
        raise TypeError(message) from None
    behavior, attrs = instance["_behavior"], _lasting(instance["_attrs"])
    state = visible_state(array)
    if state is None or not _is_current(state, instance.get("_layout")):
        layout = array.layout
        state = State.from_node(canonical(from_layout(layout)), behavior, attrs.value)
        state.layout = layout
        instance[KEY] = state
    elif not state.spec.has_behavior(behavior) or state.spec.attrs != attrs:
        state = state.with_facts(behavior, attrs)
        state.layout = instance.get("_layout")
        instance[KEY] = state
    return state


def _is_current(state: State, layout: Any) -> bool:
    """Whether the leaves are still the array's: its layout is the same, and so are JAX's types."""
    if layout is not None and state.layout is not layout:
        return False
    return state.wide == wide() or state.kind != "concrete"


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
    array: Any = object.__new__(cls)
    array.__dict__.update(
        _compat.INSTANCE_DEFAULTS,
        _behavior=spec.behavior,
        _attrs=_compat.make_attrs(spec.attrs.value),
        **{KEY: State(leaves, spec)},
    )
    return array


def materialise(array: Any) -> Any:
    """The layout of an array whose leaves are concrete, built once.

    Each state has its own lock: building waits for the device, and a callback of the very program it waits
    for may build another array's.
    """
    state = visible_state(array)
    if state is None:
        message = "_layout"
        raise AttributeError(message)
    with state.lock:
        if state.layout is None:
            state.layout = _layout_for(array, layout_over(state.leaves, state.spec))
        if array.__dict__.get(KEY) is state:
            array.__dict__["_layout"] = state.layout
        return state.layout


def _layout_for(array: Any, layout: Any) -> Any:
    """A layout fit for the array's class, which JAX keeps: stacked records are many, or one of stacks."""
    if isinstance(array, ak.Record) and not isinstance(layout, ak.record.Record):
        size = layout.length
        stacks = [ak.contents.RegularArray(layout[name], size, 1) for name in layout.fields]
        fields = None if layout.is_tuple else layout.fields
        parameters = {"__record__": layout.purelist_parameter("__record__")}
        return ak.record.Record(ak.contents.RecordArray(stacks, fields, 1, parameters=parameters), 0)
    if isinstance(array, ak.Array) and isinstance(layout, ak.record.Record):
        return layout.to_packed().array
    return layout


def layout_over(leaves: Any, spec: Spec) -> Any:
    """The layout of concrete leaves; those stacked by `vmap` or `scan` have one more dimension."""
    if (spec.extra_axes(leaves) or 0) <= 0:
        return concrete_layout(nodes_over(leaves, spec))
    parts = [None if leaf is None else np.asarray(leaf) for leaf in leaves]
    size = next(len(part) for part in parts if part is not None)
    if size == 0:
        parts = [None if part is None else np.zeros((1, *part.shape[1:]), part.dtype) for part in parts]
    rows = [layout_over([None if part is None else part[k] for part in parts], spec) for k in range(max(size, 1))]
    if isinstance(rows[0], ak.record.Record):
        return ak.concatenate([ak.Array(row.to_packed().array) for row in rows], highlevel=False)[:size]
    lengths = np.array([row.length for row in rows])[:size]
    joined = ak.concatenate([ak.Array(row) for row in rows], highlevel=False)[: lengths.sum()]
    if isinstance(spec.skeleton(), Live):  # the rows were selected, each for itself
        return ak.contents.ListOffsetArray(ak.index.Index64(offsets_of(lengths).array), joined)
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
    concrete = not any(_compat.is_tracer(leaf) for leaf in leaves_of(node))
    if concrete and _compat.is_tracing() and has_run_time_structure(node):
        # a condition, say, outside `jit`: to be used on arrays with this structure
        array = _traced(node, behavior, attrs, cls)
        array.__dict__[KEY].during = weakref.ref(_compat.current_trace())
        return array
    if concrete:
        layout = concrete_layout(node)
        high_level = ak.Record if isinstance(layout, ak.record.Record) else ak.Array
        return high_level(layout, behavior=behavior, attrs=attrs)
    return _traced(node, behavior, attrs, cls)


def _traced(node: Node, behavior: Any, attrs: Any, cls: type | None) -> Any:
    lasting = _lasting(attrs).value
    state = State.from_node(node, behavior, lasting)
    if cls is None:
        cls = _compat.high_level_class(state.stand_in(), behavior)
    array: Any = object.__new__(cls)
    array.__dict__.update(
        _compat.INSTANCE_DEFAULTS, _behavior=behavior, _attrs=_compat.make_attrs(lasting), **{KEY: state}
    )
    return array


def assign(array: Any, node: Node) -> None:
    """Make the array be these nodes inside the running trace: afterwards it is what it was before."""
    instance = array.__dict__
    before = flat_state(array)
    state = State.from_node(canonical(node), instance["_behavior"], _lasting(instance["_attrs"]).value)
    state.trace = _compat.current_trace()
    state.before = before
    with before.lock:
        instance.pop("_layout", None)  # `before` has it
        instance[KEY] = state


def tracer_in(array: Any) -> Any:
    """Some tracer of a traced array, for JAX's error messages."""
    return next((leaf for leaf in flat_state(array).leaves if _compat.is_tracer(leaf)), None)


__all__ = [
    "KEY",
    "Live",
    "Masked",
    "State",
    "assign",
    "flat_state",
    "is_traced",
    "materialise",
    "no_data",
    "node_of",
    "restore",
    "state_of",
    "tracer_in",
    "wrap",
]
