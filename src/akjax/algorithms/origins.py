"""Work done once for every element, instead of once for every place the element was copied to.

Pairs of jets hold each jet many times. `np.cos(pair.phi)` is the same as the cosines of all jets, copied to the pairs:
where a buffer came from is remembered, and a function of copied elements is computed before copying them.

An element that is in no pair, or in none that exists, is computed too; its derivative, which may be infinite or NaN, is
kept out.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun

from .. import _compat
from ..kernels._index import facts_of
from ..kernels._reduce import computed_first
from ..kernels.elementary import OPERATIONS
from ..kernels.evenly import filled
from ..kernels.gather import take
from ..kernels.remainder import rem
from ..nodes.static import Static, static
from .evening import evenly, front, taken, uniform, whole


class Guard(Protocol):
    """Puts something harmless in the slots of a buffer that do not exist, those where the mask `dead` is 1."""

    @property
    def dead(self) -> Any: ...

    def of(self, dead: Any) -> Guard: ...

    def __call__(self, value: Any) -> Any: ...


@dataclasses.dataclass(frozen=True)
class Origin:
    """A buffer is `source[index]`, with elements of the source in it several times.

    Attributes:
        source: the buffer copied from.
        index: positions in it.
        guards: what has put something harmless in slots that do not exist; what is computed before the copying is
            guarded again after it.
    """

    source: Any
    index: Any
    guards: tuple[Guard, ...] = ()


_origins: dict[int, tuple[weakref.ref[Any], Origin]] = {}

MOVED_UFUNCS = frozenset({
    np.absolute, np.add, np.arcsinh, np.arctan, np.arctan2, np.cos, np.cosh, np.divide, np.equal, np.exp, np.expm1,
    np.greater, np.greater_equal, np.hypot, np.less, np.less_equal, np.log, np.logical_and, np.logical_not,
    np.logical_or, np.maximum, np.minimum, np.multiply, np.negative, np.not_equal, np.positive, np.power, np.remainder,
    np.sign, np.sin, np.sinh, np.sqrt, np.square, np.subtract, np.tan, np.tanh,
})  # fmt: skip

# the same by the names of JAX's primitives
_MOVED = frozenset({
    "abs", "add", "add_any", "and", "asinh", "atan", "atan2", "bitcast_convert_type", "convert_element_type", "cos",
    "cosh", "div", "eq", "erf", "exp", "expm1", "ge", "gt", "integer_pow", "is_finite", "le", "log", "logistic", "lt",
    "max", "min", "mul", "ne", "neg", "not", "or", "rem", "select_n", "shift_right_arithmetic", "shift_right_logical",
    "sign", "sin", "sinh", "sqrt", "square", "stop_gradient", "sub", "tan", "tanh", "xor",
})  # fmt: skip
# of these the derivative is finite everywhere
_FINITE = frozenset({
    np.add, np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.logical_and, np.logical_not,
    np.logical_or, np.maximum, np.minimum, np.negative, np.not_equal, np.positive, np.sign, np.subtract,
    "add", "add_any", "and", "bitcast_convert_type", "convert_element_type", "eq", "ge", "gt", "is_finite", "le", "lt",
    "max", "min", "ne", "neg", "not", "or", "select_n", "shift_right_arithmetic", "shift_right_logical", "sign",
    "stop_gradient", "sub", "xor",
})  # fmt: skip
_INLINED = frozenset({"jit", "pjit", "closed_call"})


def copied(source: Any, index: Any) -> Any:
    """`source[index]`, remembered as such where work on the source is better than work on the copies.

    That is so although there may be fewer copies: XLA computes what it gathers for one number at a time.
    """
    if not isinstance(source, jax.Array):
        return take(source, index)
    if index.shape[0] * _FEW <= source.shape[0]:
        return _picked(source, index)
    if source.ndim > 1 and index.shape[0] <= source.shape[0]:
        return take(source, index)

    def copy(source: Any, index: Any) -> Any:
        as_it_is = index.shape[0] < _OFTEN * source.shape[0] and id(unguarded(source)[0]) in _given
        first = source if as_it_is else once("first", computed_first, [source])
        found = taken(lambda index: take(first, index), index)
        # all elements in their order are no copy
        return came_from(found, Origin(source, index)) if found.ndim == 1 and found is not source else found

    return once("copy", copy, [source, index])


# arguments of programs, by their ids
_given: dict[int, weakref.ref[Any]] = {}
# from that many copies of each element on it is worth having a guarded argument in memory
_OFTEN = 4


def given(buffers: Sequence[Any]) -> None:
    """Note that buffers are arguments of a program: they are in memory, and a guard is cheaper than another buffer."""
    for buffer in filter(_compat.is_tracer, buffers):
        _given[id(buffer)] = weakref.ref(buffer, functools.partial(_forget, id(buffer)))


def _forget(at: int, _: Any, gone: Callable[..., Any] = _given.pop) -> None:
    gone(at, None)  # an argument: at the end of the interpreter the module's names are gone first


_held: weakref.WeakKeyDictionary[Any, set[Static]] = weakref.WeakKeyDictionary()


def held(index: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One array object for one index as long as a trace lasts, so that its program holds it once.

    Args:
        index: that nobody else will change.
    """
    found = static(index, own=True)
    trace = _compat.current_trace()
    if hasattr(trace, "parent_trace"):  # not where everything is computed at once: that never ends
        _held.setdefault(trace, set()).add(found)
    return found.array


# from that many times fewer elements on it is worth computing them again
_FEW = 4

# buffers computed element by element from copied ones: by what, from what
_derived: dict[int, tuple[weakref.ref[Any], Callable[..., Any], list[Any]]] = {}


def _derives(result: Any, function: Callable[..., Any], values: list[Any]) -> Any:
    """Remember what a buffer was computed from, if from buffers that were copied; returns it."""
    # outside of a program buffers are values, which would be kept as long as what was computed from them
    if not _compat.is_tracer(result) or result.ndim != 1 or id(whole(result)) in _derived:
        return result
    buffers = [value for value in values if np.ndim(value)]
    if all(np.shape(value) == result.shape for value in buffers) and any(map(_is_known, buffers)):
        _remember(_derived, result, function, values)
    return result


def _is_known(buffer: Any) -> bool:
    at = id(whole(buffer))
    return at in _origins or at in _derived


def _picked(buffer: Any, index: Any) -> Any:
    """Few elements of a buffer: what it was computed from is picked, so that the rest need not be in memory."""

    def pick(buffer: Any, index: Any) -> Any:
        derived = _derived.get(id(whole(buffer)))
        if derived is not None:
            _, function, values = derived
            return function(*(_picked(value, index) if np.ndim(value) else value for value in values))
        origin = origin_of(buffer)
        if origin is not None and not origin.guards:
            return take(origin.source, _index_at(origin.index, index))
        return take(buffer, index)

    return once("pick", pick, [buffer, index])


def _index_at(index: Any, at: Any) -> Any:
    """Some of the numbers of an index, which a program holds once: as a column, as gathers and scatters take it."""
    if isinstance(index, np.ndarray):
        return take(jnp.asarray(facts_of(filled(index)).column), at).reshape(-1)
    return take(index, at)


def _remember(where: dict[int, Any], buffer: Any, *what: Any) -> None:
    """Remember something of a buffer as long as it is there, or its room, with which others are computed."""
    buffer = whole(buffer)
    at, forget = id(buffer), where.pop  # at the end of the interpreter the module's names are gone first
    where[at] = weakref.ref(buffer, lambda _: forget(at, None)), *what


# what was computed, by the operation and its operands, and the operands: it holds as long as the result is there
_known: dict[Any, tuple[weakref.ref[Any], tuple[int, ...], Any]] = {}


def once(key: Any, function: Callable[..., Any], values: list[Any]) -> Any:
    """The result of a function, the same buffer when it is asked for again: XLA does not look through barriers."""
    trace = _compat.current_trace()
    question = (id(trace), key, *map(_identity, values))
    found = _known.get(question)
    there = None if found is None else found[0]()
    if found is not None and there is not None:
        return there if there.shape == found[1] else front(there, *found[1])
    result = function(*values)
    if isinstance(result, np.ndarray) or _compat.is_tracer(result):
        forget = _known.pop
        _known[question] = weakref.ref(whole(result), lambda _: forget(question, None)), result.shape, values
    return result


def _identity(value: Any) -> Any:
    if np.ndim(value) or isinstance(value, jax.core.Tracer):
        return id(whole(value))
    return type(value), str(getattr(value, "dtype", "")), repr(value)


def came_from(buffer: Any, origin: Origin | None) -> Any:
    """Remember where a buffer came from as long as it is there; returns it."""
    if origin is not None and isinstance(buffer, jax.Array) and id(whole(buffer)) not in _origins:
        _remember(_origins, buffer, origin)
    return buffer


def origin_of(buffer: Any) -> Origin | None:
    """Where a buffer came from, if its elements were copied."""
    found = _origins.get(id(whole(buffer)))
    return None if found is None else found[1]


def moved(key: Any, function: Callable[..., Any], values: list[Any], reached: Any = None) -> Any:
    """`function(*values)` of an elementwise function: before the copying, when all values were copied alike.

    Args:
        key: what the function is, to compute nothing twice: a tuple that begins with a ufunc or a primitive's name.
        function: elementwise.
        values: buffers and scalars.
        reached: which elements are copied to where they exist; the others have no derivative. None: all.
    """
    buffers = [value for value in values if np.ndim(value)]
    origins = [origin_of(buffer) for buffer in buffers]
    first = origins[0] if origins else None
    if first is None or not all(_alike(first, other) for other in origins):
        if reached is not None:
            return function(*_cut(values, reached))
        return _derives(evenly(function, values), function, values)
    found = iter(origins)
    sources = [next(found).source if np.ndim(value) else value for value in values]  # type: ignore[union-attr]
    guards = tuple(dict.fromkeys(guard for origin in origins for guard in origin.guards))  # type: ignore[union-attr]
    below = None if key[0] in _FINITE else _reached(first, [guard.dead for guard in guards], reached)
    result = once(key, lambda below, *given: moved(key, function, list(given), below), [below, *sources])
    if np.shape(result) != np.shape(first.source):
        return function(*values)
    whole = copied(result, first.index)
    for guard in guards:
        whole = guarded(guard, whole)
    return whole


def _alike(one: Origin, two: Origin | None) -> bool:
    """Whether elements were copied from the same places of buffers of one size: equal indices are one object."""
    return two is not None and two.index is one.index and np.shape(two.source) == np.shape(one.source)


def guarded(guard: Guard, buffer: Any) -> Any:
    """A buffer with something harmless in the slots that do not exist, remembered to be a copy if it was one."""
    origin = origin_of(buffer)
    found = evenly(lambda dead, value: guard.of(dead)(value), [guard.dead, buffer])
    if origin is not None:
        came_from(found, dataclasses.replace(origin, guards=(*origin.guards, guard)))
    if isinstance(found, jax.Array) and found is not buffer:
        if found.shape == guard.dead.shape:
            _derives(found, lambda dead, value: guard.of(dead)(value), [guard.dead, buffer])
        _remember(_guarded, found, buffer, guard)
    return found


_guarded: dict[int, tuple[weakref.ref[Any], Any, Guard]] = {}


def unguarded(buffer: Any) -> tuple[Any, tuple[Guard, ...]]:
    """The buffer that was guarded, and by what; the buffer itself if it was not."""
    found = _guarded.get(id(whole(buffer)))
    if found is None:
        return buffer, ()
    below, guards = unguarded(found[1])
    return below, (*guards, found[2])


class _Placed(NamedTuple):
    """The indices of all places of a combination, and which elements of the source are in one, if that is known."""

    indices: list[weakref.ref[Any]]
    reached: np.ndarray[Any, Any] | None


# by the id of each index
_together: dict[int, _Placed] = {}


def _reached(origin: Origin, deads: list[Any], above: Any) -> Any:
    """Which elements of a source are copied to where they exist (`above`: to where that is so of the copies).

    Those that are copied to any place of a combination: what is computed of them is then one buffer for all places.
    """
    size = origin.source.shape[0]
    placed = _together.get(id(origin.index), _Placed([], None))
    indices = [index for at in placed.indices if (index := at()) is not None] or [origin.index]

    def find(above: Any, count: int, *given: Any) -> Any:
        indices, deads = given[:count], given[count:]
        if isinstance(indices[0], np.ndarray) and not deads and isinstance(above, np.ndarray | None):
            # equal indices are one object, also of lists behind which there are more elements
            if above is None and placed.reached is not None and len(placed.reached) == size:
                return placed.reached
            found = np.zeros(size, bool)
            for index in indices:
                found[index if above is None else index[above]] = True
            return found
        there = functools.reduce(operator.and_, (dead == 0 for dead in deads), True if above is None else above)
        traced = jnp.zeros(size, bool)
        for index in indices:
            traced = traced.at[index].max(there, mode="promise_in_bounds")
        return traced

    found = once(("reached", size), find, [above, len(indices), *indices, *deads])
    return None if isinstance(found, np.ndarray) and found.all() else found


def placed_together(indices: Sequence[Any], reached: np.ndarray[Any, Any] | None = None) -> None:
    """Note that elements of one buffer are copied to several places of a combination.

    Args:
        indices: one for each place.
        reached: which elements are copied to any of them, if the host knows.
    """
    distinct = list({id(index): index for index in indices}.values())
    for index in distinct:
        at = id(index)
        if at not in _together:
            weakref.finalize(index, _together.pop, at, None)
            _together[at] = _Placed([weakref.ref(one) for one in distinct], reached)


def _cut(values: list[Any], reached: Any) -> list[Any]:
    """The same values, without derivatives where they are not reached."""
    kind = jnp.result_type(*values)

    def cut(value: Any) -> Any:
        if not isinstance(value, jax.Array) or not jnp.issubdtype(value.dtype, jnp.inexact):
            return value
        if value.ndim == 0 and value.weak_type:  # what it becomes beside the others; as an array it had a say
            value = value.astype(jnp.finfo(kind).dtype)  # type: ignore[no-untyped-call]
        value = jnp.broadcast_to(value, reached.shape)
        # a program without derivatives chooses between equal values: XLA drops that
        return jnp.where(reached, value, lax.stop_gradient(value))

    return [cut(value) for value in values]


def evaluate(function: Callable[..., Any], buffers: list[Any]) -> list[Any]:
    """Call a function of buffers, with what it does to copied elements done before the copying.

    Args:
        function: returns a list of arrays.
        buffers: its arguments.
    """
    if not any(map(_is_known, buffers)):
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
        if equation.params.get("name") in OPERATIONS:
            name = equation.params["name"]
            results = [moved((name,), OPERATIONS[name], given)]
        elif name in _INLINED:
            results = _interpret(equation.params["jaxpr"], given)
        elif name in _MOVED:
            key = (name, *map(str, sorted(equation.params.items())))
            results = [moved(key, _bound(jaxpr, equation), given)]
        elif name == "broadcast_in_dim" and not np.ndim(given[0]) and len(shape := equation.params["shape"]) == 1:
            results = [uniform(given[0], shape[0])]
        else:
            result = _bound(jaxpr, equation)(*given)
            results = list(result) if equation.primitive.multiple_results else [result]
        values |= dict(zip(equation.outvars, results, strict=True))
    return [read(variable) for variable in jaxpr.outvars]


def _bound(jaxpr: Any, equation: Any) -> Callable[..., Any]:
    if equation.primitive.name == "rem":
        return lambda x, y: rem(jnp.asarray(x), jnp.asarray(y))
    if not any(isinstance(value, ClosedJaxpr | Jaxpr) or callable(value) for value in equation.params.values()):
        return lambda *given: equation.primitive.bind(*map(jnp.asarray, given), **equation.params)
    # with a program of its own inside
    variables = [variable for variable in equation.invars if not isinstance(variable, Literal)]
    alone = jaxpr.replace(constvars=[], invars=variables, outvars=equation.outvars, eqns=[equation])
    function = jaxpr_as_fun(ClosedJaxpr(alone, []))

    def called(*given: Any) -> Any:
        pairs = zip(given, equation.invars, strict=True)
        found = function(*(value for value, variable in pairs if not isinstance(variable, Literal)))
        return found if equation.primitive.multiple_results else found[0]

    return called
