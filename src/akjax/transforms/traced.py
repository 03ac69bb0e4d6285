"""Arrays whose list lengths are values of the program: `akjax.traced` and `akjax.envelope`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import awkward as ak
import jax

from ..algorithms.runtime import at_run_time
from ..errors import StructureError
from ..highlevel.state import is_traced, node_of, restore
from ..nodes.kinds import Live, Node
from ..nodes.walk import has_run_time_structure
from ..structure.envelope import GROWTH, Envelope, envelope_of, pad, rounded, sizes_of
from ..structure.spec import canonical, split_leaves


def traced(array: Any, *, like: Any = None, growth: float = GROWTH) -> Any:
    """An array whose structure is data: a jitted function is not traced again for lists of other lengths.

    All buffers are padded up to bucket sizes and put on the device. Structure that is equal becomes one
    buffer, so that columns of one collection are known to line up.

    Args:
        array: an `ak.Array` of numbers in records, lists and missing values.
        like: another result of `traced`, or an `envelope`, whose sizes to take.
        growth: ratio of one bucket size to the one before: what is compiled anew less often wastes more.

    Returns:
        An `ak.Array` of the same class, type and values.

    Raises:
        StructureError: when the array holds text, unions or dates, or does not fit the sizes of `like`.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> total = jax.jit(lambda x: ak.sum(x, axis=1))
        >>> total(akjax.traced(ak.Array([[1.0, 2.0], [], [3.0]]))).to_list()
        [3.0, 0.0, 3.0]
        >>> total(akjax.traced(ak.Array([[1.0], [2.0, 3.0, 4.0], [5.0]]))).to_list()  # the same program
        [1.0, 9.0, 5.0]
    """
    node = _known(array)
    sizes = sizes_of(node)
    chosen = rounded(sizes, growth) if like is None else _envelope_like(like)
    excess = chosen.excess(sizes)
    if excess is not None:
        message = (
            f"the array does not fit: {excess}. Leave `like` out, or join the envelopes with akjax.envelope([...])"
        )
        raise StructureError(message)
    leaves, spec = split_leaves(canonical(pad(node, chosen)), array.behavior, dict(array.attrs) or None)
    return restore(type(array), spec, [jax.device_put(leaf) for leaf in leaves])


def envelope(arrays: Any, *, growth: float = GROWTH) -> Envelope:
    """The sizes in which every one of some arrays fits, for `akjax.traced(array, like=envelope)`.

    Args:
        arrays: an `ak.Array`, or an iterable of them, such as a sample of chunks.
        growth: ratio of one bucket size to the one before.

    Returns:
        The envelope.

    Example:
        >>> import awkward as ak, akjax
        >>> akjax.register()
        >>> akjax.envelope([ak.Array([[1.0, 2.0], []]), ak.Array([[1.0]] * 20)]).rows
        22
    """
    several: Iterable[Any] = [arrays] if isinstance(arrays, ak.Array) else arrays
    found = [sizes_of(_known(array)) for array in several]
    if not found:
        message = "an envelope is made of at least one array"
        raise ValueError(message)
    return rounded(functools.reduce(operator.or_, found), growth)


def sizes_in(value: Any) -> Envelope:
    """The sizes of an array as it is, or those that `like` stands for."""
    return sizes_of(_known(value)) if isinstance(value, ak.Array) and not _is_padded(value) else _envelope_like(value)


def _is_padded(array: Any) -> bool:
    return isinstance(node_of(array), Live)


def _envelope_like(like: Any) -> Envelope:
    if isinstance(like, Envelope):
        return like
    if isinstance(like, ak.Array) and _is_padded(like):
        return envelope_of(node_of(like))
    message = "`like` is a result of akjax.traced or of akjax.envelope"
    raise TypeError(message)


def _known(array: Any) -> Node:
    """The nodes of an array that is not traced, options in the form of those known at run time."""
    if not isinstance(array, ak.Array):
        message = f"akjax.traced and akjax.envelope take an ak.Array, not {type(array).__name__}"
        raise TypeError(message)
    if is_traced(array):
        message = "akjax.traced prepares an array before it is given to a jitted function: it cannot be called inside"
        raise StructureError(message)
    node = node_of(array)
    if has_run_time_structure(node):
        node = node_of(ak.Array(array.layout, behavior=array.behavior, attrs=array.attrs))
    return at_run_time(node)
