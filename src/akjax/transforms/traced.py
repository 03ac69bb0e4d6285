"""Arrays whose list lengths are values of the program: `akjax.traced` and `akjax.envelope`."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import awkward as ak
import jax

from ..algorithms.runtime import at_run_time
from ..errors import StructureError
from ..highlevel.state import is_traced, node_of, restore
from ..nodes.kinds import Jagged, List, Live, Node
from ..nodes.walk import has_run_time_structure, iterate
from ..structure.envelope import GROWTH, Envelope, check_growth, envelope_of, rounded, sizes_of, sizes_of_counts
from ..structure.padding import Padded, pad
from ..structure.spec import Spec, canonical, split_leaves


def traced(array: Any, *, like: Any = None, growth: float = GROWTH) -> Any:
    """An array whose structure is data: a jitted function is not traced again for lists of other lengths.

    All buffers are padded up to bucket sizes and put on the device. Structure that is equal becomes one
    buffer, so that columns of one collection are known to line up.

    Args:
        array: an `ak.Array` of numbers in records, lists and missing values.
        like: another result of `traced`, or an `envelope`, whose sizes to take.
        growth: ratio of one bucket size to the one before, above 1: what is compiled anew less often wastes more.

    Returns:
        An `ak.Array` of the same class, type and values.

    Raises:
        StructureError: when the array holds text, unions or dates, or does not fit the sizes of `like`.
        ValueError: for a growth that is none.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> total = jax.jit(lambda x: ak.sum(x, axis=1))
        >>> total(akjax.traced(ak.Array([[1.0, 2.0], [], [3.0]]))).to_list()
        [3.0, 0.0, 3.0]
        >>> total(akjax.traced(ak.Array([[1.0], [2.0, 3.0, 4.0], [5.0]]))).to_list()  # the same program
        [1.0, 9.0, 5.0]
    """
    check_growth(growth)
    node = known(array)
    sizes = sizes_of(node)
    chosen = rounded(sizes, growth) if like is None else envelope_like(like)
    leaves, spec = padded(array, node, sizes, chosen)
    return restore(type(array), spec, jax.device_put([leaf.made() for leaf in leaves]))


def padded(array: Any, node: Node, sizes: Envelope, chosen: Envelope) -> tuple[list[Padded], Spec]:
    """The buffers of an array padded up to an envelope, still to be made, and its structure.

    Args:
        array: whose class, behavior and attributes are kept.
        node: its nodes (see `known`).
        sizes: its sizes.
        chosen: the envelope.

    Raises:
        StructureError: when it does not fit.
    """
    excess = chosen.excess(sizes)
    if excess is not None:
        message = (
            f"the array does not fit: {excess}. Leave `like` out, or join the envelopes with akjax.envelope([...])"
        )
        raise StructureError(message)
    return split_leaves(canonical(pad(node, chosen)), array.behavior, dict(array.attrs) or None)


def envelope(arrays: Any, *, growth: float = GROWTH) -> Envelope:
    """The sizes in which every one of some arrays fits, for `akjax.traced(array, like=envelope)`.

    Its repr shows the sizes, and how much of them is used: that of a result of `akjax.traced` what it wastes. The
    numbers of pairs and triples bound `ak.combinations`.

    Args:
        arrays: an `ak.Array`, or an iterable of them, such as a sample of chunks. In the place of an array there may be
            the lengths of its lists, `{"Jet": counts}` by field (`""` for those of an array that has no fields, and
            `"Jet[].hits"` for those in the elements of others), or an envelope.
        growth: ratio of one bucket size to the one before, above 1.

    Returns:
        The envelope.

    Raises:
        ValueError: for no arrays, and for lengths and a growth that are none.

    Example:
        >>> import awkward as ak, akjax
        >>> akjax.register()
        >>> akjax.envelope([ak.Array([[1.0, 2.0], []]), ak.Array([[1.0]] * 20)])
        Envelope of 22 rows (20 used, 9% waste)
          []: 22 elements (20 used, 9% waste); longest 8 (2), 64 pairs (1), 512 triples (0)
        >>> akjax.envelope({"Jet": [2, 0, 1], "Muon": [0, 1, 0]}).rows
        8
    """
    check_growth(growth)
    several: Iterable[Any] = [arrays] if isinstance(arrays, ak.Array | Envelope | Mapping) else arrays
    found = [_envelope(one, growth) for one in several]
    if not found:
        message = "an envelope is made of at least one array"
        raise ValueError(message)
    return functools.reduce(operator.or_, found)


def _envelope(value: Any, growth: float) -> Envelope:
    if isinstance(value, Envelope):
        return value
    if isinstance(value, Mapping):
        return rounded(sizes_of_counts(value), growth)
    sizes = sizes_of(known(value))
    return dataclasses.replace(envelope_of(node_of(value)), used=sizes) if _is_padded(value) else rounded(sizes, growth)


def _is_padded(array: Any) -> bool:
    node = node_of(array)
    return isinstance(node, Live) and all(isinstance(n, Jagged) for n in iterate(node) if isinstance(n, List))


def envelope_like(like: Any) -> Envelope:
    """The envelope that `like` stands for."""
    if isinstance(like, Envelope):
        return like
    if isinstance(like, ak.Array) and _is_padded(like):
        return envelope_of(node_of(like))
    message = "`like` is a result of akjax.traced or of akjax.envelope"
    raise TypeError(message)


def known(array: Any) -> Node:
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
