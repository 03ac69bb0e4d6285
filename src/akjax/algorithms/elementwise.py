"""Elementwise work over several arrays with Awkward's broadcasting.

Arrays of one structure are combined buffer by buffer. Otherwise Awkward itself broadcasts tracked
copies (`ak.transform`) and hands us, at each leaf, what to combine; the structure of the result is
thereby Awkward's own.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import StructureError
from ..nodes.kinds import Constant, Flat, Indexed, List, Live, Masked, Node, Option, Regular, Union, replace
from ..nodes.static import static
from ..nodes.walk import children, has_run_time_structure, iterate, rebuild
from . import origins
from .aligning import line_up
from .numbering import same
from .runtime import alive, attach, dead_below, depth_of, merge, strip
from .standing import StandIns
from .tracking import Table, Whole, Zeros, is_flat

Leaf = Callable[..., Any]  # data buffers and scalars → data buffer, or a tuple of them
Override = Callable[["Level"], Any]  # where broadcasting stands → layout, tuple of layouts, or None

_SPECIAL = ("__list__", "__record__", "__array__")


class _Mismatch(Exception):
    """The structures differ: broadcasting is needed."""


def combine(
    leaf: Leaf,
    nodes: list[Node],
    *,
    fill: float = 0.5,
    override: Override | None = None,
    allow_records: bool = False,
    numpy_to_regular: bool = False,
    right_broadcast: bool = True,
    fast: bool = True,
) -> tuple[Node, ...]:
    """Combine the elements of arrays.

    Args:
        leaf: computes a buffer (or a tuple of buffers) from one buffer an array.
        nodes: the arrays, at least one.
        fill: what stands in slots of elements that do not exist, so that no derivative is infinite there.
        override: is asked first at every level of a broadcast; None goes on.
        allow_records: whether records are broadcast field by field.
        numpy_to_regular: as in `ak.transform`.
        right_broadcast: as in `ak.transform`.
        fast: whether arrays of one structure may skip Awkward's broadcasting.

    Returns:
        One node a result of `leaf`.
    """
    if fast:
        try:
            return _same(leaf, nodes, fill, None)
        except _Mismatch:
            pass
    nodes = line_up(as_deep(nodes) if right_broadcast else nodes)
    stripped = [strip(node) for node in nodes]
    run_time = merge([found for _, found in stripped])
    if run_time:
        stripped = [(fill_dead(node, fill), found) for node, (_, found) in zip(nodes, stripped, strict=True)]
        stripped = [(strip(node)[0], found) for node, found in stripped]
    stand_ins = StandIns()
    envelopes = stand_ins.stood([node for node, _ in stripped])
    options = {
        "allow_records": allow_records,
        "numpy_to_regular": numpy_to_regular,
        "right_broadcast": right_broadcast,
    }
    above, envelopes = shared_lists(envelopes)
    table = Whole() if is_flat(envelopes) else Table()
    truth = functools.cache(lambda: _Broadcast(leaf, override, Zeros(), None).run(envelopes, options))
    broadcast = _Broadcast(leaf, override, table, truth).run(envelopes, options)
    # parts of a union may have been joined, if only with empty ones
    joined = any(isinstance(n, Union) for node in envelopes for n in iterate(node))
    results = [
        table.node(layout, functools.partial(_result, truth, k), joined) for k, layout in enumerate(broadcast.results)
    ]
    return tuple(attach(stand_ins.back(in_lists(above, node)), run_time) for node in results)


def as_deep(nodes: list[Node]) -> list[Node]:
    """Arrays that are regular throughout broadcast as NumPy's: those with fewer axes get more in front."""
    deepest = max(map(depth_of, nodes))
    shallow = [depth_of(node) < deepest for node in nodes]
    if not any(shallow) or not any(map(has_run_time_structure, nodes)) or not all(map(_is_regular, nodes)):
        return nodes
    if any(isinstance(node, Live) for node, fewer in zip(nodes, shallow, strict=True) if fewer):
        raise StructureError(_FEWER_AXES)

    def deeper(node: Node) -> Node:
        for _ in range(deepest - depth_of(node)):
            node = Regular(node, node.length, 1)
        return node

    return [deeper(node) for node in nodes]


def _is_regular(node: Node) -> bool:
    return not any(isinstance(n, List) for n in iterate(node))


_FEWER_AXES = (
    "arrays that are regular throughout broadcast as in NumPy, from the last axis on; which elements of the one with "
    "fewer axes exist is known only at run time: give it as many axes, as in array[:, np.newaxis]"
)


def shared_lists(nodes: list[Any]) -> tuple[list[Any], list[Any]]:
    """The lists that all arrays have in common, if there is nothing but numbers and records in them; what is inside."""
    above, inside = [], nodes
    while all(isinstance(node, List) and not node.parameters for node in inside):
        if any(node.offsets is not inside[0].offsets for node in inside):
            break
        above.append(inside[0])
        inside = [node.content for node in inside]
    return (above, inside) if above and is_flat(inside) else ([], nodes)


def in_lists(above: list[Any], node: Node) -> Node:
    """A node in the lists that `shared_lists` took off."""
    return functools.reduce(lambda inside, lists: replace(lists, content=inside), reversed(above), node)


def _result(truth: Callable[[], _Broadcast], k: int) -> Any:
    return truth().results[k]


class _Broadcast:
    """One broadcast by `ak.transform`; `truth` gives the same one on zeros of the true dtypes."""

    def __init__(self, leaf: Leaf, override: Override | None, table: Any, truth: Any) -> None:
        self._leaf = leaf
        self._override = override
        self._table = table
        self._truth = truth
        self.levels: list[tuple[Any, ...]] = []
        self.results: tuple[Any, ...] = ()

    def run(self, nodes: list[Node], options: dict[str, Any]) -> _Broadcast:
        arrays = [ak.Array(self._table.layout(node)) for node in nodes]
        self._several = len(arrays)
        if len(arrays) == 1:
            arrays *= 2  # of one array, `ak.transform` does not broadcast and has one result
        out = ak.transform(self._level, *arrays, broadcast_parameters_rule="intersect", highlevel=False, **options)
        self.results = out if isinstance(out, tuple) else (out,)
        return self

    def _level(self, layouts: tuple[Any, ...], depth: int, **kwargs: Any) -> Any:
        several = layouts[: self._several]
        number = len(self.levels)
        self.levels.append(several)
        level = Level(several, self._table, lambda: self._truth().levels[number])
        if self._override is not None:
            done = self._override(level)
            if done is not None:
                return done
        if not all(layout.is_numpy for layout in several):
            return None
        values = [values_of(node) for node in level.nodes()]
        result = self._leaf(*(_from_the_left(values) if depth > 1 else values))
        parameters = _shared_parameters([layout.parameters for layout in several])
        results = result if isinstance(result, tuple) else (result,)
        return tuple(level.layout(_leaf_node(data, parameters)) for data in results)


def _from_the_left(values: list[Any]) -> list[Any]:
    """Buffers below lists, whose further axes are lists of one size: these broadcast from the first axis on."""
    most = max(value.ndim for value in values)
    return [
        value if value.ndim == most else value.reshape(value.shape + (1,) * (most - value.ndim)) for value in values
    ]


def _leaf_node(data: Any, parameters: Any) -> Node:
    if data.dtype.kind in "mM":  # computed from dates, which are structure
        return Constant(static(data), parameters)
    return Flat(data, parameters)


class Level:
    """Where broadcasting stands: a layout of tracked elements for each array."""

    def __init__(self, layouts: tuple[Any, ...], table: Any, truth: Callable[[], tuple[Any, ...]]) -> None:
        self.layouts = layouts
        self._table = table
        self._truth = truth

    def nodes(self) -> list[Any]:
        """What the layouts stand for."""
        return [self._table.node(layout, functools.partial(self._true, k)) for k, layout in enumerate(self.layouts)]

    def layout(self, node: Node) -> Any:
        """The layout that stands for a result."""
        return self._table.layout(node)

    def _true(self, k: int) -> Any:
        return self._truth()[k]


def values_of(node: Any) -> Any:
    """The buffer of a node of numbers (or dates, or characters), for arithmetic."""
    if isinstance(node, Constant):
        return node.data.array
    if node.words is not None:
        message = (
            f"arithmetic on {node.words} values that do not fit 32 bits needs JAX's 64-bit types: switch them on "
            "with jax.config.update('jax_enable_x64', True), or leave this field out of the computation"
        )
        raise TypeError(message)
    return node.data


def _shared_parameters(several: list[Any]) -> Any:
    first = dict(several[0])
    return {k: v for k, v in first.items() if all(k in p and p[k] == v for p in several[1:])} or None


def _same(leaf: Leaf, nodes: list[Any], fill: float, dead: Any) -> tuple[Node, ...]:
    """Combine arrays of equal structure without looking at it; `dead` is the mask of the level above."""
    first = nodes[0]
    kind = type(first)
    if any(type(node) is not kind for node in nodes):
        raise _Mismatch
    if kind is not Live and not _plain(nodes):
        raise _Mismatch
    if kind is Flat:
        shape = np.shape(first.data)
        if any(np.shape(node.data) != shape for node in nodes):
            raise _Mismatch
        values = [values_of(node) for node in nodes]
        if dead is not None:
            values = [guarded(value, dead, fill) for value in values]
        result = leaf(*values)
        results = result if isinstance(result, tuple) else (result,)
        return tuple(Flat(data, first.parameters) for data in results)
    if not _aligned(kind, nodes):
        raise _Mismatch
    below = [children(node)[0] for node in nodes]
    dead = dead_below(first, dead)
    return tuple(rebuild(first, (content,)) for content in _same(leaf, below, fill, dead))


def _plain(nodes: list[Any]) -> bool:
    first = nodes[0].parameters or {}
    if any(name in first for name in _SPECIAL):
        return False
    return all((node.parameters or {}) == first for node in nodes)


def _aligned(kind: Any, nodes: list[Any]) -> bool:
    first = nodes[0]
    if issubclass(kind, List):
        return all(node.offsets is first.offsets for node in nodes)
    if kind is Regular:
        return all((node.size, node.length) == (first.size, first.length) for node in nodes)
    if kind is Option or kind is Indexed:
        return all(node.index is first.index for node in nodes)
    if kind is Live:
        return all(same(node.dead, first.dead) for node in nodes)
    if kind is Masked:
        return all(same(node.null, first.null) for node in nodes)
    return False


@dataclasses.dataclass(frozen=True)
class _Guard:
    """Puts a harmless number, without a gradient, where an element does not exist."""

    dead: Any
    fill: float

    def of(self, dead: Any) -> _Guard:
        return _Guard(dead, self.fill)

    def __call__(self, value: Any) -> Any:
        if not jnp.issubdtype(value.dtype, jnp.inexact):  # a comparison of guarded numbers
            return value
        shape = self.dead.shape + (1,) * (value.ndim - self.dead.ndim)
        safe = lax.stop_gradient(jnp.asarray(self.fill, jax.dtypes.canonicalize_dtype(value.dtype)))
        return jnp.where(alive(self.dead).reshape(shape), value, safe)

    def __hash__(self) -> int:
        return hash((id(self.dead), self.fill))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Guard) and self.dead is other.dead and self.fill == other.fill


def guarded(value: Any, dead: Any, fill: float) -> Any:
    """The values with a harmless number, and no gradient, where the element does not exist."""
    if not jnp.issubdtype(value.dtype, jnp.inexact):
        return value
    return origins.guarded(_Guard(dead, fill), value)


def fill_dead(node: Node, fill: float, dead: Any = None) -> Node:
    """All numbers below a run-time mask guarded."""
    if isinstance(node, Flat):
        return node if dead is None else replace(node, data=guarded(node.data, dead, fill))
    contents = children(node)
    below = dead if len(contents) != 1 else dead_below(node, dead)
    return rebuild(node, tuple(fill_dead(child, fill, below) for child in contents))  # type: ignore[no-any-return]
