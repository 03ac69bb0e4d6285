"""Work done once for every element, instead of once for every place the element was copied to.

Pairs of jets hold each jet many times. `np.cos(pair.phi)` is the same as the cosines of all jets, copied to the pairs:
where a buffer came from is remembered, and a function of copied elements is computed before copying them.

Only functions that are smooth everywhere are moved: an element that is in no pair is computed too, and must not make a
gradient infinite.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun

from ..kernels.gather import take


@dataclasses.dataclass(frozen=True)
class Origin:
    """A buffer is `source[index]`, with elements of the source in it several times."""

    source: Any
    index: Any


_origins: dict[int, tuple[weakref.ref[Any], Origin]] = {}

SMOOTH_UFUNCS = frozenset({
    np.absolute, np.add, np.arctan, np.cos, np.cosh, np.exp, np.expm1, np.multiply, np.negative, np.positive, np.sin,
    np.sinh, np.square, np.subtract, np.tanh,
})  # fmt: skip

# the names of JAX's primitives
_SMOOTH = frozenset({
    "abs", "add", "add_any", "atan", "convert_element_type", "cos", "cosh", "erf", "exp", "expm1", "integer_pow",
    "logistic", "mul", "neg", "sin", "sinh", "square", "stop_gradient", "sub", "tanh",
})  # fmt: skip
_INLINED = frozenset({"jit", "pjit", "closed_call"})


def copied(source: Any, index: Any) -> Any:
    """`source[index]`, remembered as such when elements are copied several times."""
    barrier = index.shape[0] > source.shape[0]
    found = take(source, index, barrier=barrier and isinstance(source, jax.Array))
    return came_from(found, Origin(source, index)) if barrier and found.ndim == 1 else found


def came_from(buffer: Any, origin: Origin | None) -> Any:
    """Remember where a buffer came from as long as it is there; returns it."""
    if origin is not None and isinstance(buffer, jax.Array) and id(buffer) not in _origins:
        at = id(buffer)
        _origins[at] = weakref.ref(buffer, lambda _: _origins.pop(at, None)), origin
    return buffer


def origin_of(buffer: Any) -> Origin | None:
    """Where a buffer came from, if its elements were copied."""
    found = _origins.get(id(buffer))
    return None if found is None else found[1]


def moved(function: Callable[..., Any], values: list[Any]) -> Any:
    """`function(*values)` of a smooth elementwise function: before the copying, when all values were copied alike.

    Args:
        function: elementwise, smooth everywhere.
        values: buffers and scalars.
    """
    buffers = [value for value in values if np.ndim(value)]
    origins = [origin_of(buffer) for buffer in buffers]
    first = origins[0] if origins else None
    if first is None or any(other is None or other.index is not first.index for other in origins):
        return function(*values)
    found = iter(origins)
    sources = [next(found).source if np.ndim(value) else value for value in values]  # type: ignore[union-attr]
    result = moved(function, sources)
    if np.shape(result) != np.shape(first.source):
        return function(*values)
    return copied(result, first.index)


def evaluate(function: Callable[..., Any], buffers: list[Any]) -> list[Any]:
    """Call a function of buffers, with what it does to copied elements done before the copying.

    Args:
        function: returns a list of arrays.
        buffers: its arguments.
    """
    if not any(origin_of(buffer) for buffer in buffers):
        return function(*buffers)  # type: ignore[no-any-return]
    return _interpret(jax.make_jaxpr(function)(*buffers), buffers)


def _interpret(program: ClosedJaxpr, arguments: list[Any]) -> list[Any]:
    jaxpr = program.jaxpr
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, program.consts, strict=True))
    values |= dict(zip(jaxpr.invars, arguments, strict=True))

    def read(variable: Any) -> Any:
        return variable.val if isinstance(variable, Literal) else values[variable]

    for equation in jaxpr.eqns:
        given = [read(variable) for variable in equation.invars]
        name = equation.primitive.name
        if name in _INLINED:
            results = _interpret(equation.params["jaxpr"], given)
        elif name in _SMOOTH:
            results = [moved(_bound(equation), given)]
        else:
            result = _bound(equation)(*given)
            results = list(result) if equation.primitive.multiple_results else [result]
        values |= dict(zip(equation.outvars, results, strict=True))
    return [read(variable) for variable in jaxpr.outvars]


def _bound(equation: Any) -> Callable[..., Any]:
    if not any(isinstance(value, ClosedJaxpr | Jaxpr) or callable(value) for value in equation.params.values()):
        return lambda *given: equation.primitive.bind(*map(jnp.asarray, given), **equation.params)
    # with a program of its own inside
    variables = [variable for variable in equation.invars if not isinstance(variable, Literal)]
    alone = Jaxpr([], variables, equation.outvars, [equation])
    function = jaxpr_as_fun(ClosedJaxpr(alone, []))

    def called(*given: Any) -> Any:
        pairs = zip(given, equation.invars, strict=True)
        found = function(*(value for value, variable in pairs if not isinstance(variable, Literal)))
        return found if equation.primitive.multiple_results else found[0]

    return called
