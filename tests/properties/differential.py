"""Many calls on one array in one compilation, which is what takes the time, against eager Awkward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import awkward as ak
import jax
import numpy as np
from oracle import compare, outcome

import akjax

from .differences import differs
from .table import Call


def faults(
    calls: Mapping[str, Call],
    options: Mapping[str, dict[str, Any]],
    arguments: list[tuple[Any, ...]],
    prepare: Callable[..., Any] = lambda array: array,
    enter: Callable[[Any], Any] = lambda value: value,
    selected: bool = False,
) -> dict[str, str]:
    """What is wrong with the answers of one program to some arguments, by the name of the function.

    Args:
        calls: the functions.
        options: what each is called with.
        arguments: the arguments of the program, which must all have one structure.
        prepare: makes of them the array that the functions are called on.
        enter: what becomes of each argument before it goes into the program.
        selected: whether what exists depends on values; functions may then raise that they do not support it.
    """

    def bound(name: str) -> Callable[..., Any]:
        return lambda *values: calls[name].function(prepare(*values), **options[name])

    eager = [{name: outcome(bound(name), *map(canonical, values)) for name in calls} for values in arguments]
    compared = [name for name in calls if all(_is_an_answer(answers[name]) for answers in eager)]
    functions = {_ITSELF: prepare, **{name: bound(name) for name in compared}}
    compiled = _compiled(functions, [tuple(map(enter, values)) for values in arguments])
    wrong = {}
    for values, want, got in zip(arguments, eager, compiled, strict=True):
        array = prepare(*map(canonical, values))
        if selected and isinstance(got[_ITSELF], Exception):
            continue  # a condition with other lists where these are missing: refused, where Awkward does not look
        for name in compared:
            values_differ, types_differ = differs(name, array, options[name], selected)
            types_differ |= selected and str(got[_ITSELF].type) != str(array.type)
            if values_differ or (selected and _is_allowed(name, got[name], want[name])):
                continue
            if fault := _fault(got[name], want[name], types=not types_differ):
                wrong[name] = f"{array.type} {plain(array)} {options[name]}: {fault}"
    return wrong


# whether the type of a selection has an option may depend on whether anything is missing
_ITSELF = "itself"


def canonical(value: Any) -> Any:
    """An array as it comes out of JAX: where Awkward's answer depends on how it is stored, this is the one to compare.

    `ak.pad_none`, for one, answers with other types of a `ListArray` than of a `ListOffsetArray`.
    """
    if not isinstance(value, ak.Array):
        return value
    leaves, structure = jax.tree.flatten(value)
    return jax.tree.unflatten(structure, leaves)


def plain(array: ak.Array) -> str:
    return str(outcome(ak.to_list, array))


def _is_allowed(name: str, got: Any, want: Any) -> bool:
    """A number made at run time cannot be None, and an error about lengths cannot be raised (docs/errors.md)."""
    if isinstance(got, akjax.StructureError | akjax.ConcreteValueError) or want is None:
        return True
    return name in ("ak.unflatten", "ak.zip_no_broadcast") and isinstance(want, ValueError)


# accidents inside Awkward: a program may do better
_ACCIDENTS = (AssertionError, AttributeError, KeyError, NotImplementedError, RuntimeError)
_INTERNAL = (".simplified", "'NoneType' and", "cannot slice RegularArray")


def _is_an_answer(result: Any) -> bool:
    if isinstance(result, Exception):
        return not isinstance(result, _ACCIDENTS) and not any(text in str(result) for text in _INTERNAL)
    arrays = [leaf for leaf in jax.tree.leaves(result, is_leaf=_is_array) if _is_array(leaf)]
    return all(not isinstance(outcome(ak.to_list, array), Exception) for array in arrays)


def _is_array(value: Any) -> bool:
    return isinstance(value, ak.Array | ak.Record)


def _compiled(functions: Mapping[str, Callable[..., Any]], arguments: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """What each function returns or raises inside one jitted function."""
    beside: dict[Any, dict[str, Any]] = {}  # by the structure that was traced

    @jax.jit
    def every(*values: Any) -> dict[str, Any]:
        results = {name: outcome(function, *values) for name, function in functions.items()}
        beside[jax.tree.structure(values)] = {name: result for name, result in results.items() if not _is_data(result)}
        return {name: result for name, result in results.items() if _is_data(result)}

    return [{**every(*values), **beside[jax.tree.structure(values)]} for values in arguments]


def _is_data(result: Any) -> bool:
    """Whether a program can return it; texts, facts and exceptions leave beside it."""
    leaves = jax.tree.leaves(result)
    return bool(leaves) and all(isinstance(leaf, jax.Array | np.ndarray | np.generic) for leaf in leaves)


def _fault(got: Any, want: Any, types: bool) -> str:
    try:
        compare(got, want, 1e-4, types)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
