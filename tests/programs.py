"""What a traced program consists of: how often it gathers, scatters and sorts, and the bytes of its constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

__all__ = ["Shape", "shape_of"]


class Shape(NamedTuple):
    """How much of what is expensive there is in a program.

    Attributes:
        gathers: reads at places given by an index.
        scatters: writes at places given by an index, with or without adding up; segment reductions are made of them.
        sorts: sorts.
        constants: bytes of NumPy arrays in the program, each array counted once.
    """

    gathers: int
    scatters: int
    sorts: int
    constants: int


def shape_of(f: Callable[..., Any], *args: Any) -> Shape:
    """Trace a function, and count in what its results need."""
    program = jax.make_jaxpr(f)(*args)
    constants: dict[int, int] = {}
    counts = Counter(_primitives(program, constants))
    scatters = sum(number for name, number in counts.items() if name.startswith("scatter"))
    return Shape(counts["gather"], scatters, counts["sort"], sum(constants.values()))


def _primitives(program: ClosedJaxpr | Jaxpr, constants: dict[int, int]) -> Iterator[str]:
    jaxpr: Any = program
    if isinstance(program, ClosedJaxpr):
        jaxpr = program.jaxpr
    needed = {variable for variable in jaxpr.outvars if not isinstance(variable, Literal)}
    for equation in reversed(jaxpr.eqns):
        if needed.isdisjoint(equation.outvars) and not equation.effects:
            continue
        if _moves_nothing(equation):
            needed |= {equation.invars[0]}
            continue
        needed |= {variable for variable in equation.invars if not isinstance(variable, Literal)}
        for variable in equation.invars:
            if isinstance(variable, Literal) and np.ndim(variable.val):
                constants[id(variable.val)] = np.asarray(variable.val).nbytes
        # how a scatter combines numbers is a little program, too
        inner = [] if equation.primitive.name.startswith("scatter") else list(_inner(equation.params.values()))
        if not inner:
            yield equation.primitive.name
        for one in inner:
            yield from _primitives(one, constants)
    if isinstance(program, ClosedJaxpr):
        for variable, value in zip(jaxpr.constvars, program.consts, strict=True):
            if variable in needed and np.ndim(value):
                constants[id(value)] = np.asarray(value).nbytes


def _moves_nothing(equation: Any) -> bool:
    """Whether a scatter only puts something in memory, as `computed_first` does."""
    if equation.primitive.name not in ("scatter-add", "scatter-max"):
        return False
    return bool(equation.params["indices_are_sorted"] and equation.invars[2].aval.shape[:1] == (2,))


def _inner(values: Any) -> Iterator[ClosedJaxpr | Jaxpr]:
    for value in values:
        if isinstance(value, ClosedJaxpr | Jaxpr):
            yield value
        elif isinstance(value, tuple | list):
            yield from _inner(value)
