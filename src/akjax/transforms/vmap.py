"""`akjax.vmap`: functions of one row, mapped over the rows of a ragged array."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.numbering import same
from ..algorithms.rows import Rows, rows_of, stacked
from ..errors import StructureError
from ..highlevel.state import flat_state, node_of, wrap
from ..nodes.kinds import Flat, List, Live, Record, Regular, Row
from ..structure.absent import fill_absent, is_absent
from .like import like


def vmap(function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Map a function of one event over all events, as `jax.vmap` maps one of a row.

    In the function, a list of the event is a flat array of run-time length; a reducer over all of it
    (`axis=None`) is that of the event. All `jax` transformations can be used inside and outside.

    Args:
        function: takes one row of each array: an `ak.Record`, a flat array, or a JAX scalar. Arrays may be in dicts
            and other trees; keyword arguments are mapped.
        in_axes: 0 for an argument that is mapped, None for one that is not; one for all, or a tuple, in which there may
            be trees for arguments that are trees.
        out_axes: 0, or None for a result that is the same for every row; for results that are JAX arrays, unless rows
            were selected at run time, any axis. One for all, or a tree of them as `jax.vmap` takes it.

    Returns:
        A function of arrays. Results that are arrays are rows of one `ak.Array`, ragged ones lists of it; numbers are a
        JAX array, or an `ak.Array` where rows were selected at run time. A gradient with respect to a row has the
        row's elements.

    Raises:
        StructureError: for text and unions, and for arrays whose rows were selected differently.
        ValueError: for arrays of different lengths.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> x = ak.Array([[3.0, 1.0], [], [2.0]])
        >>> akjax.vmap(lambda row: ak.sum(row**2))(x).tolist()
        [10.0, 0.0, 4.0]
        >>> jax.jit(akjax.vmap(lambda row, cut: row[row > cut], in_axes=(0, None)))(x, 1.5)
        <Array [[3], [], [2]] type='3 * var * float64'>
    """

    @functools.wraps(function)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = tuple(in_axes) if isinstance(in_axes, tuple | list) else (in_axes,) * len(args)
        if len(axes) != len(args):
            message = f"in_axes has {len(axes)} entries for {len(args)} arguments"
            raise ValueError(message)
        arguments, tree = jax.tree.flatten((args, kwargs), is_leaf=_is_array)
        flat_axes = _of_each((axes, dict.fromkeys(kwargs, 0)), (args, kwargs))
        rows = [_rows(arg, axis) for arg, axis in zip(arguments, flat_axes, strict=True)]
        cut = [one for one in rows if one is not None]
        if not cut:
            return jax.vmap(function, axes, out_axes)(*args, **kwargs)
        dead = _common([one.dead for one in cut])

        def of_row(*parts: Any) -> Any:
            whole = [
                part if one is None else _one(one, part, arg)
                for one, part, arg in zip(rows, parts, arguments, strict=True)
            ]
            mapped = {type(leaf) for leaf in jax.tree.leaves(parts)}
            given, named = jax.tree.unflatten(tree, whole)
            return jax.tree.map(
                lambda result: _with_masks(_unstacked(result), whole, mapped),
                function(*given, **named),
                is_leaf=_is_array,
            )

        leaves = [arg if one is None else one.leaves for one, arg in zip(rows, arguments, strict=True)]
        results = jax.vmap(of_row, tuple(flat_axes), out_axes)(*leaves)
        length = next(one.leaves[0].shape[0] for one in cut)

        def of_axis(axis: Any, part: Any) -> Any:
            return jax.tree.map(lambda result: _together(result, length, dead, axis), part, is_leaf=_is_array)

        return jax.tree.map(of_axis, out_axes, results, is_leaf=lambda axis: axis is None)

    return mapped


def _is_array(value: Any) -> bool:
    return isinstance(value, ak.Array | ak.Record)


def _of_each(axes: Any, arguments: Any) -> list[Any]:
    """The axis of each array and each other leaf of the arguments, where `axes` may be those of whole parts of them."""

    def every(axis: Any, part: Any) -> Any:
        return jax.tree.map(lambda _: _Axis(axis), part, is_leaf=_is_array)

    found = jax.tree.map(every, axes, arguments, is_leaf=lambda axis: axis is None)
    return [one.axis for one in jax.tree.leaves(found, is_leaf=lambda x: isinstance(x, _Axis))]


class _Axis(NamedTuple):
    """An axis, or None, which is no leaf by itself."""

    axis: Any


def _unstacked(result: Any) -> Any:
    """The array that a `jax.vmap` inside has stacked in front of its own axes."""
    if not _is_array(result):
        return result
    state = flat_state(result)
    if any(map(_is_array, state.leaves)) or (extra := state.spec.extra_axes(state.leaves) or 0) <= 0:
        return result
    *sizes, last = state.leaves[0].shape[:extra]
    rows = math.prod(sizes) * last
    node = stacked(state.spec.build([leaf.reshape(rows, *leaf.shape[extra:]) for leaf in state.leaves]), rows)
    for size in (last, *reversed(sizes[1:])) if sizes else ():
        node = Regular(node, size, node.length // size)
    return wrap(node, result.behavior, result.attrs)


def _with_masks(result: Any, rows: list[Any], mapped: set[type]) -> Any:
    """A gradient with respect to a row has a number for every slot of it: it gets the elements of the row.

    A gradient has the row's structure, and zeros for its masks, which are the same for all rows: masks that a function
    works out for a row are not.
    """
    if not _is_array(result):
        return result
    ours = flat_state(result)
    if any(map(_is_array, ours.leaves)):
        message = "the Jacobians of rows, which are arrays in arrays, make no array: take gradients of each component"
        raise StructureError(message)
    masks = [leaf for leaf, mask in zip(ours.leaves, ours.spec.is_structure(), strict=True) if mask]
    if masks and not any(type(mask) in mapped for mask in masks):
        for row in rows:
            if _is_array(row) and flat_state(row).spec == ours.spec:
                return like(result, row)
    return result


def _rows(arg: Any, axis: Any) -> Rows | None:
    if not isinstance(arg, ak.Array) or axis is None:
        return None
    if axis != 0:
        message = f"an ak.Array is mapped over its rows, axis 0, not over axis {axis!r}"
        raise ValueError(message)
    found = rows_of(node_of(arg))
    if not found.leaves:
        message = "akjax.vmap cannot map an array without any numbers"
        raise StructureError(message)
    return found


def _common(masks: list[Any]) -> Any:
    if not all(same(mask, masks[0]) for mask in masks):
        message = "the rows of these arrays were selected differently: select the rows of one record, and map over it"
        raise StructureError(message)
    return masks[0]


def _one(rows: Rows, leaves: Any, array: Any) -> Any:
    """One row as Awkward gives it: of records a record, of lists their elements, of numbers a number."""
    node = rows.make(iter(leaves))
    if isinstance(node, Record):
        node = Row(node)
    elif isinstance(node, List):
        node = node.content
    elif isinstance(node, Flat):
        if np.ndim(node.data) == 1:
            return node.data[0]
        node = Flat(node.data[0], node.parameters)
    else:
        message = "rows that may be missing as a whole cannot be mapped: fill or drop them first"
        raise StructureError(message)
    return wrap(node, array.behavior, array.attrs)


def _together(result: Any, length: int, dead: Any, axis: Any) -> Any:
    """The results of all rows, over this axis; without one they are the same for every row, which `jax.vmap` checks."""
    if axis is None:
        return result
    if _is_array(result):
        if axis != 0:
            message = f"results that are Awkward Arrays become rows, out_axes=0, not {axis!r}"
            raise ValueError(message)
        state = flat_state(result)
        node = stacked(state.spec.build(list(state.leaves)), length, dead)
        if any(map(is_absent, state.leaves)):
            node = fill_absent(node)
        return wrap(node, result.behavior, result.attrs)
    if dead is None:
        return result
    if axis % np.ndim(result) != 0:
        message = f"results of rows that were selected at run time become rows of an array, out_axes=0, not {axis!r}"
        raise ValueError(message)
    return wrap(Live(dead, Flat(jnp.asarray(result))))
