"""Sums and differences of vectors, added up in Cartesian components.

vector adds two vectors in polar coordinates by turning one towards the other: sines and an arctangent for every pair,
and again for every further vector. Components of a vector are functions of that vector alone, so that for pairs they
are computed before the elements are copied; a sum keeps its components beside its coordinates, for the next sum to
find. What a program does not use of either is dropped by the compiler.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import awkward as ak
import numpy as np

from ..algorithms import origins
from ..nodes.kinds import Flat, Node, Record
from ..structure.to_layout import stand_in
from .state import node_of, wrap

_CARTESIAN = ("x", "y", "z", "t")
_LONGITUDINAL = frozenset({"z", "theta", "eta"})
_TEMPORAL = frozenset({"t", "tau"})
_COORDINATES = frozenset({"rho", "phi", *_CARTESIAN, *_LONGITUDINAL, *_TEMPORAL})


def is_sum(ufunc: Any, overload: Any, operands: list[Any]) -> bool:
    """Whether an overload of a ufunc is vector's addition or subtraction of two arrays of vectors."""
    ours = ufunc in (np.add, np.subtract) and overload.__module__ == "vector.backends.awkward"
    return ours and len(operands) == 2 and all(isinstance(operand, ak.Array) for operand in operands)


def added(ufunc: Any, overload: Callable[..., Any], one: Any, two: Any) -> Any:
    """`one + two` or `one - two` of vectors, in the coordinates in which vector gives it.

    Args:
        ufunc: `np.add` or `np.subtract`.
        overload: vector's own, which gives the coordinates of the result, and its errors.
        one: an array of vectors.
        two: another one, of the same shape.
    """
    outcome = overload(*(ak.Array(stand_in(node_of(v))[:0], behavior=v.behavior) for v in (one, two)))
    fields, name = ak.fields(outcome), ak.parameters(outcome).get("__record__")
    if set(fields) <= set(_CARTESIAN):
        return overload(one, two)
    wanted = ["x", "y"]
    wanted += ["z"] if not _LONGITUDINAL.isdisjoint(fields) else []
    wanted += ["t"] if not _TEMPORAL.isdisjoint(fields) else []
    first, second = _components(one, wanted), _components(two, wanted)
    total = {axis: ufunc(first[axis], second[axis]) for axis in wanted}
    whole = ak.zip(total, with_name=name, behavior=outcome.behavior)
    found = {field: total[field] if field in total else getattr(whole, field) for field in fields}
    if "phi" in found:
        found["phi"] = _azimuth(total["x"], total["y"], one.phi)
    result = ak.zip(found, with_name=name, behavior=outcome.behavior)
    _remember(node_of(result), {axis: node_of(component) for axis, component in total.items()})
    return result


def _azimuth(x: Any, y: Any, first: Any) -> Any:
    """The direction of a sum; of a sum of nothing that of its first vector, as vector has it."""
    nothing = (x == 0) & (y == 0)
    direction = ak.where(nothing, first, np.arctan2(ak.where(nothing, 0.0, y), ak.where(nothing, 1.0, x)))
    return (direction + np.pi) % (2 * np.pi) - np.pi  # pi is -pi to vector


def _components(vectors: Any, wanted: list[str]) -> dict[str, Any]:
    known = _remembered(node_of(vectors))
    if known is not None and set(wanted) <= set(known):
        return {axis: wrap(known[axis]) for axis in wanted}
    return {axis: getattr(vectors, axis) for axis in wanted}


# of the buffers of a sum's coordinates (the first one's id): these buffers by name, and the Cartesian components
_sums: dict[int, tuple[dict[str, weakref.ref[Any]], dict[str, Flat]]] = {}


def _remember(node: Node, components: dict[str, Node]) -> None:
    buffers = _buffers(node)
    flat = {axis: one for axis, one in components.items() if isinstance(one, Flat)}
    if buffers is None or len(flat) < len(components):
        return
    first = next(iter(buffers))
    key, forget = id(buffers[first]), _sums.pop  # at the end of the interpreter the module's names are gone first
    references = {name: weakref.ref(buffer) for name, buffer in buffers.items()}
    references[first] = weakref.ref(buffers[first], lambda _: forget(key, None))
    _sums[key] = references, flat


def _remembered(node: Node) -> dict[str, Flat] | None:
    """The Cartesian components of vectors that are a sum, guarded as their coordinates are."""
    buffers = _buffers(node)
    if buffers is None:
        return None
    bare, guards = zip(*map(origins.unguarded, buffers.values()), strict=True)
    known = _sums.get(id(bare[0]))
    if known is None or any(guard != guards[0] for guard in guards):
        return None
    references, components = known
    if list(references) != list(buffers):
        return None
    if any(ref() is not buffer for ref, buffer in zip(references.values(), bare, strict=True)):
        return None
    found = {}
    for axis, flat in components.items():
        data = flat.data
        for guard in guards[0]:
            data = origins.guarded(guard, data)
        found[axis] = Flat(data, flat.parameters)
    return found


def _buffers(node: Node) -> dict[str, Any] | None:
    """The buffers of the coordinates of vectors, by name; None for what is not made of plain buffers."""
    if not isinstance(node, Record) or node.fields is None:
        return None
    contents = {n: content for n, content in zip(node.fields, node.contents, strict=True) if n in _COORDINATES}
    flat = {name: content.data for name, content in contents.items() if isinstance(content, Flat)}
    return flat if contents and len(flat) == len(contents) else None
