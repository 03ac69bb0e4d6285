"""What `array.layout` shows while the array is traced: facts of type, never buffers.

Awkward reads a few facts off the layout before it dispatches, vector asks it which array library to
compute with, and users ask for depth and parameters. All of that is static. Anything that would need
data raises a sentence: a typetracer in this place would lose the values without a word.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import ConcreteValueError
from ..kernels.elementary import FUNCTIONS

_FACTS = frozenset(
    {
        "fields",
        "form",
        "is_indexed",
        "is_leaf",
        "is_list",
        "is_numpy",
        "is_option",
        "is_record",
        "is_regular",
        "is_tuple",
        "is_union",
        "is_unknown",
        "minmax_depth",
        "parameter",
        "parameters",
        "purelist_depth",
        "purelist_isregular",
        "purelist_parameter",
        "purelist_parameters",
        "branch_depth",
        "at",
    }
)


class _Nplike:
    """The array library of traced arrays: `jax.numpy` for what JAX holds, NumPy for the rest of a formula.

    vector takes a formula's functions from here; beside traced vectors there may be others in it.
    """

    _module = np
    is_eager = True
    known_data = False

    def __getattr__(self, name: str) -> Any:
        theirs: Any = getattr(np, name)
        if not callable(theirs):
            return theirs
        ours: Any = FUNCTIONS.get(theirs) or getattr(jnp, name)

        @functools.wraps(theirs)
        def function(*args: Any, **kwargs: Any) -> Any:
            chosen = ours if any(isinstance(value, jax.Array) for value in args) else theirs
            return chosen(*args, **kwargs)

        return function


class _Backend:
    """The backend of traced arrays."""

    name = "jax"
    nplike = _Nplike()


BACKEND = _Backend()


def described(array: Any) -> Any:
    """A layout of the right type and no data, which claims no length that is known only at run time."""
    from ..nodes.kinds import Live
    from .state import flat_state

    state = flat_state(array)
    layout = state.stand_in()
    return layout.to_typetracer(forget_length=True) if isinstance(state.node, Live) else layout


class Facade:
    """The layout of a traced array, as far as it is known while tracing; `below` one of the layouts in it."""

    __slots__ = ("_array", "_below")

    backend = BACKEND

    def __init__(self, array: Any, below: str = "") -> None:
        self._array = array
        self._below = below

    @property
    def array(self) -> Facade:
        """The rows that a record is one of."""
        return Facade(self._array, "array")

    @property
    def owner(self) -> Any:
        """The traced array this is the layout of."""
        return self._array

    def __len__(self) -> int:
        return len(self._array)

    @property
    def length(self) -> Any:
        """The number of rows; Awkward's "unknown" after a selection of rows by traced values."""
        return described(self._array).length

    def __getattr__(self, name: str) -> Any:
        from .state import flat_state, tracer_in

        if name in _FACTS:
            layout = flat_state(self._array).stand_in()
            return getattr(getattr(layout, self._below) if self._below else layout, name)
        if name.startswith("__"):
            raise AttributeError(name)
        raise ConcreteValueError(tracer_in(self._array), f"`.layout.{name}`")

    def __repr__(self) -> str:
        return f"<layout of {self._array!r}>"
