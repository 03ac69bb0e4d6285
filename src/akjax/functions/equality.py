"""Whether two arrays are equal: Awkward compares their structures, the program their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import awkward as ak
import jax.numpy as jnp
import numpy as np

from ..algorithms.elementwise import values_of
from ..algorithms.reducing import unfolded
from ..errors import StructureError
from ..highlevel.state import node_of
from ..nodes.kinds import Flat, Indexed, Node, Option, Record, Union
from ..nodes.moving import carry
from ..nodes.walk import children, has_run_time_structure
from ..registry import BOOLEANS, implements
from .reducers import like


@implements(ak.almost_equal, route="composed", no_gradient=BOOLEANS)
def _almost_equal(left: Any, right: Any, rtol: float = 1e-5, atol: float = 1e-8, **kwargs: Any) -> Any:
    def close(one: Any, two: Any) -> Any:
        return jnp.isclose(one, two, rtol=rtol, atol=atol)

    return _equal(ak.almost_equal, left, right, close, kwargs)


@implements(ak.array_equal, route="composed", no_gradient=BOOLEANS)
def _array_equal(a1: Any, a2: Any, equal_nan: bool = False, **kwargs: Any) -> Any:
    def equal(one: Any, two: Any) -> Any:
        found = one == two
        return found | ((one != one) & (two != two)) if equal_nan else found

    return _equal(ak.array_equal, a1, a2, equal, kwargs)


def _equal(function: Any, left: Any, right: Any, same: Any, kwargs: dict[str, Any]) -> Any:
    arrays = [x if isinstance(x, ak.Array | ak.Record) else ak.Array(x) for x in (left, right)]
    nodes = [node_of(array) for array in arrays]
    if any(map(has_run_time_structure, nodes)):
        message = (
            f"ak.{function.__name__} after a selection by traced values is not supported yet: compare elements, as in "
            "ak.all(one == two)"
        )
        raise StructureError(message)
    if not function(*map(like, arrays, nodes), **kwargs):
        return False  # whatever the numbers are
    found = [jnp.all(same(jnp.asarray(one), jnp.asarray(two))) for one, two in _pairs(*map(unfolded, nodes))]
    return jnp.all(jnp.stack(found)) if found else True


def _pairs(one: Node, two: Node) -> Iterator[tuple[Any, Any]]:
    """The buffers of two arrays of equal structure that are to be compared."""
    one, two = _plain(one), _plain(two)
    if isinstance(one, Flat) and isinstance(two, Flat):
        yield values_of(one), values_of(two)
    elif isinstance(one, Record) and isinstance(two, Record) and one.fields is not None and two.fields is not None:
        for name, content in zip(one.fields, one.contents, strict=True):
            yield from _pairs(content, two.contents[two.fields.index(name)])
    elif isinstance(one, Union) and isinstance(two, Union):
        for tag in np.unique(one.tags.array):
            (first, *_) = np.flatnonzero(one.tags.array == tag)
            yield from _pairs(_only(one, tag), _only(two, two.tags.array[first]))
    else:
        for pair in zip(children(one), children(two), strict=True):
            yield from _pairs(*pair)


def _plain(node: Node) -> Node:
    """The elements of a node that are there, without an index."""
    if isinstance(node, Indexed | Option):
        index = node.index.array
        return _plain(carry(node.content, index[index >= 0]))
    return node


def _only(node: Union, tag: Any) -> Node:
    return carry(node.contents[tag], node.index.array[node.tags.array == tag])
