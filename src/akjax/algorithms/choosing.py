"""Elements of one array or of another, as traced booleans say.

What is chosen may be anything whose structure is the same on both sides: numbers, records of them,
lists of the same lengths. A missing value on one side makes the result missing where that side is chosen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import StructureError
from ..kernels.gather import take
from ..nodes.boundaries import parents
from ..nodes.kinds import (
    Constant,
    Empty,
    Flat,
    Indexed,
    Jagged,
    List,
    Live,
    Masked,
    Node,
    Option,
    Record,
    Regular,
    replace,
)
from ..nodes.moving import carry, project
from ..nodes.static import static
from ..nodes.walk import children, map_flat
from .aligning import line_up
from .elementwise import Level, combine, in_lists, shared_lists, values_of
from .numbering import same
from .runtime import depth_of
from .tracking import is_flat
from .ufuncs import canonical

_NOT_ALIKE = (
    "ak.where with a traced condition chooses between elements of one structure: numbers, records of the same "
    "fields, or lists of the same lengths; these are {} and {}. Fill, pad or select first, or make the condition static"
)
_PLACE = "__akjax_place__"


@dataclasses.dataclass(frozen=True)
class Side:
    """What is chosen from: an array or a scalar, and float masks of its missing values, broadcast apart."""

    value: Any
    nulls: tuple[Any, ...] = ()

    def arrays(self) -> list[Any]:
        """What takes part in broadcasting."""
        return [*self.nulls, self.value] if is_node(self.value) else []

    def over(self, arrays: Iterator[Any]) -> Side:
        """The same side over other arrays, as broadcasting gives them."""
        if not is_node(self.value):
            return self
        nulls = tuple(next(arrays) for _ in self.nulls)
        return Side(next(arrays), nulls)

    def opened(self, length: int) -> Side:
        """The side with missing values on top taken apart."""
        if not is_node(self.value) or not isinstance(self.value, Option | Masked):
            return self
        null, content = _open(self.value, length)
        mask: Node = Flat(null)
        if isinstance(content, Regular) or np.ndim(getattr(content, "data", 0)) > 1:
            mask = Regular(mask, 1, length)  # one for each list, whose axis is known to be there
        return Side(content, (*self.nulls, mask))

    def whole(self) -> Any:
        """The side at its elements, missing values back in place."""
        if not self.nulls:
            return self.value
        null = self.nulls[0].data
        for more in self.nulls[1:]:
            null = jnp.maximum(null, more.data)
        return Masked(null, self.value)


def side_of(value: Any) -> Side:
    """An array or a scalar as a side, values that are missing at run time taken apart."""
    if not is_node(value):
        return Side(value)
    return Side(_without_nulls(value), tuple(_nulls(value)))


def _without_nulls(node: Node) -> Node:
    match node:
        case Masked():
            return _without_nulls(node.content)
        case List() | Regular() | Live():
            return replace(node, content=_without_nulls(node.content))  # type: ignore[no-any-return]
    return node


def _nulls(node: Node) -> Iterator[Node]:
    match node:
        case Masked():
            yield Flat(node.null)
            yield from _nulls(node.content)
        case List() | Regular() | Live():
            for below in _nulls(node.content):
                yield replace(node, content=below)


def where(condition: Node, one: Side, two: Side, booleans_join: bool, inside: bool = False) -> Node:
    """`ak.where` with a traced condition.

    Awkward broadcasts all three until the condition has no more lists. What is chosen there can be of any
    kind, so that broadcasting is given the numbers of rows in its place. A missing value on one side does
    not make the other side missing: its mask is broadcast as one more array. That happens `inside` a broadcast
    that goes on, where axes are no longer lined up from the right.
    """
    chosen: list[Node] = []

    def together(arrays: Iterator[Any]) -> tuple[Any, Side, Side]:
        return next(arrays), one.over(arrays), two.over(arrays)

    def at(level: Level) -> Any:
        test, *sides = together(iter(level.layouts))
        layouts = [side.value for side in sides if isinstance(side.value, ak.contents.Content)]
        others_first = any(x.is_union or (x.is_indexed and not x.is_option) for x in level.layouts)
        if test.is_numpy:
            test, *sides = together(iter(level.nodes()))
            left, right = (side.whole() for side in sides)
            found = choose(jnp.asarray(values_of(test), bool), left, right, booleans_join)
        elif not others_first and any(layout.is_option for layout in layouts):
            test, *sides = together(iter(level.nodes()))
            opened, other = (side.opened(test.length) for side in sides)
            found = where(test, opened, other, booleans_join, inside=True)
        else:
            return None
        chosen.append(found)
        return ak.contents.NumpyArray(np.arange(found.length), parameters={_PLACE: len(chosen) - 1})

    def of_rows(rows: Flat) -> Node:
        if not rows.parameters:
            message = "ak.where with a traced condition does not reach into unions: take one of their types first"
            raise StructureError(message)
        return carry(chosen[rows.parameters[_PLACE]], rows.data)

    arrays = [condition, *one.arrays(), *two.arrays()]
    lists, elements = shared_lists(arrays)
    if is_flat(elements) and all(isinstance(node, Flat) for node in elements):  # there is nothing to broadcast
        test, *sides = together(iter(elements))
        left, right = (side.whole() for side in sides)
        found = choose(jnp.asarray(values_of(test), bool), left, right, booleans_join)
        return in_lists(lists, found)
    options = {"allow_records": True, "numpy_to_regular": True, "right_broadcast": not inside, "fast": False}
    (rows,) = combine(_unreached, arrays, override=at, **options)
    return map_flat(of_rows, rows)


def selected_inside(condition: Node, *sides: Any) -> bool:
    """Whether whole lists are chosen of which it is known at run time only what is in them."""
    return any(_selected(node, depth_of(condition)) for node in sides if is_node(node))


def _selected(node: Node, depth: int) -> bool:
    """Whether there are selections, or lists of `akjax.traced`, further inside than `depth`."""
    if (depth < 0 and isinstance(node, Live)) or (depth <= 0 and isinstance(node, Jagged)):
        return True
    below = depth - 1 if isinstance(node, List | Regular) else depth
    return any(_selected(child, below) for child in children(node))


def where_whole(condition: Node, one: Any, two: Any, booleans_join: bool) -> Node:
    """`ak.where` of lists that keep their own selections, which broadcasting would line up with each other."""
    for side in (one, two):
        if not is_node(side):
            raise StructureError(_NOT_ALIKE.format("lists", repr(side)))
    one, two, condition = line_up([one, two, condition], levels=depth_of(condition) + 1, judged=2)
    return _where_whole([condition, one, two], booleans_join)


def _where_whole(several: list[Node], booleans_join: bool) -> Node:
    first, one, two = several = [project(node) for node in several]
    if len({node.length for node in several}) == 1:
        match first:
            case Live() if all(isinstance(node, Live) and same(node.dead, first.dead) for node in several):
                below = _where_whole([children(node)[0] for node in several], booleans_join)
                return Live(first.dead, below)
            case List() if all(isinstance(node, List) and node.offsets is first.offsets for node in several):
                below = _where_whole([children(node)[0] for node in several], booleans_join)
                return replace(first, content=below)  # type: ignore[no-any-return]
            case Flat() if np.ndim(first.data) == 1:
                return choose(jnp.asarray(values_of(first), bool), one, two, booleans_join)
    message = (
        "ak.where chooses whole lists here, of which a selection by traced values says what is in them: that is "
        "supported where the condition has the same lists around them. Choose first and select then"
    )
    raise StructureError(message)


def _unreached(*buffers: Any) -> Any:
    message = "where the condition has no lists something is chosen"
    raise AssertionError(message)


def is_node(value: Any) -> bool:
    """Whether a value is an array's nodes, not a scalar."""
    return isinstance(value, Node.__args__)


def choose(test: Any, one: Any, two: Any, booleans_join: bool = True) -> Node:
    """`one` where `test` holds, `two` elsewhere.

    Args:
        test: booleans, shape `(n,)`.
        one: a node of length n, or a scalar.
        two: the same.
        booleans_join: whether booleans and numbers make numbers.

    Raises:
        StructureError: where the structure of the result would depend on the values of `test`.
    """
    one, two = _bare(one), _bare(two)
    if isinstance(one, Live) or isinstance(two, Live):
        return _choose_live(test, one, two, booleans_join)
    if isinstance(one, Option | Masked) or isinstance(two, Option | Masked):
        return _choose_missing(test, one, two, booleans_join)
    if _is_number(one) and _is_number(two):
        return _choose_numbers(test, one, two, booleans_join)
    if isinstance(one, Empty) or isinstance(two, Empty):
        return _nothing(two if isinstance(one, Empty) else one)
    if type(one) is type(two):
        chosen = _choose_alike(test, one, two, booleans_join)
        if chosen is not None:
            return chosen
    raise StructureError(_NOT_ALIKE.format(_described(one), _described(two)))


def _choose_live(test: Any, one: Any, two: Any, booleans_join: bool) -> Node:
    """An element exists where the one that is chosen does."""
    deads = [side.dead if isinstance(side, Live) else jnp.zeros(len(test), jnp.float32) for side in (one, two)]
    one, two = (side.content if isinstance(side, Live) else side for side in (one, two))
    return Live(jnp.where(test, *deads), choose(test, one, two, booleans_join))


def _nothing(side: Any) -> Node:
    """No element to choose: only the type is left."""
    return side if is_node(side) else Flat(np.zeros(0, _scalar(side).dtype))


def _bare(side: Any) -> Any:
    return project(side) if isinstance(side, Indexed) else side


def _is_number(side: Any) -> bool:
    return isinstance(side, Flat) or not is_node(side)


def _described(side: Any) -> str:
    return type(side).__name__.lower() if is_node(side) else repr(side)


def _choose_numbers(test: Any, one: Any, two: Any, booleans_join: bool) -> Node:
    parameters = [side.parameters for side in (one, two) if isinstance(side, Flat)]
    values = [values_of(side) if isinstance(side, Flat) else _scalar(side) for side in (one, two)]
    kinds = [np.dtype(value.dtype) for value in values]
    if not booleans_join and sum(kind == np.bool_ for kind in kinds) == 1:
        message = "booleans and numbers stay apart with mergebool=False: which is which is known only at run time"
        raise StructureError(message)
    dtype = canonical(np.result_type(*kinds))
    one, two = (jnp.asarray(value, dtype) for value in values)
    shape = (-1,) + (1,) * (max(one.ndim, two.ndim) - 1)
    first = parameters[0] if parameters else None
    shared = {k: v for k, v in (first or {}).items() if all((p or {}).get(k) == v for p in parameters)}
    return Flat(jnp.where(test.reshape(shape), one, two), shared or None)


def _scalar(value: Any) -> Any:
    return value if isinstance(value, jax.Array) else np.asarray(value)


def _choose_missing(test: Any, one: Any, two: Any, booleans_join: bool) -> Node:
    (one_null, one), (two_null, two) = (_open(side, len(test)) for side in (one, two))
    null = jnp.where(test, jnp.asarray(one_null, jnp.float32), jnp.asarray(two_null, jnp.float32))
    if isinstance(one, Empty) and not is_node(two):
        one = Flat(jnp.broadcast_to(_scalar(two), len(test)))
    if isinstance(two, Empty) and not is_node(one):
        two = Flat(jnp.broadcast_to(_scalar(one), len(test)))
    return Masked(null, choose(test, one, two, booleans_join))


def _open(side: Any, length: int) -> tuple[Any, Any]:
    """Which values are missing (1 where they are), and values at all positions."""
    if isinstance(side, Masked):
        return side.null, side.content
    if not isinstance(side, Option):
        return np.float32(0), side
    index = side.index.array
    null = np.where(index < 0, np.float32(1), np.float32(0))
    content = side.content
    if content.length == 0 and length:
        content = _one_of(content)
    return null, content if isinstance(content, Empty) else carry(content, np.maximum(index, 0))


def _one_of(content: Node) -> Node:
    """An element where there is none: nobody sees it, its type is right."""
    if isinstance(content, Flat):
        return replace(content, data=np.zeros((1, *content.data.shape[1:]), content.data.dtype))  # type: ignore[no-any-return]
    if isinstance(content, Record):
        return replace(content, contents=tuple(map(_one_of, content.contents)), length=1)  # type: ignore[no-any-return]
    if isinstance(content, List):
        return replace(content, offsets=static(np.zeros(2, np.int64)))  # type: ignore[no-any-return]
    if isinstance(content, Regular):
        below = carry(_one_of(content.content), np.zeros(content.size, np.int64)) if content.size else content.content
        return replace(content, content=below, length=1)  # type: ignore[no-any-return]
    return Empty()


def _choose_alike(test: Any, one: Any, two: Any, booleans_join: bool) -> Node | None:
    """The choice between nodes of one kind, or None where their structure differs."""
    if (one.parameters or {}) != (two.parameters or {}):
        return None
    match one:
        case Record():
            if one.fields is None or two.fields is None:
                same = one.fields is two.fields and len(one.contents) == len(two.contents)
                names = list(range(len(one.contents)))
            else:
                same = set(one.fields) == set(two.fields)
                names = [two.fields.index(name) for name in one.fields if name in two.fields]
            if not same:
                return None
            pairs = zip(one.contents, [two.contents[k] for k in names], strict=True)
            contents = tuple(choose(test, a, b, booleans_join) for a, b in pairs)
            return replace(one, contents=contents)  # type: ignore[no-any-return]
        case List() if one.offsets is two.offsets:
            text = (one.parameters or {}).get("__array__") in ("string", "bytestring")
            if text:
                return one if one.content.data == two.content.data else None  # type: ignore[union-attr]
            below = take(test, parents(one.offsets))
            return replace(one, content=choose(below, one.content, two.content, booleans_join))  # type: ignore[no-any-return]
        case Regular() if one.size == two.size:
            below = jnp.repeat(test, one.size)
            return replace(one, content=choose(below, one.content, two.content, booleans_join))  # type: ignore[no-any-return]
        case Constant() if one.data == two.data:
            return one
    return None
