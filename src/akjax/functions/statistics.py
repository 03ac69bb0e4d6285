"""Statistics: means, spreads, moments, correlations, straight lines, softmax."""

from __future__ import annotations

import inspect
from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np

from ..algorithms.elementwise import combine
from ..algorithms.reducing import Reduction, number_depth, one_row, reduce, unfolded
from ..highlevel.state import node_of, wrap
from ..nodes.kinds import Flat, Node
from ..nodes.walk import has_records
from ..registry import implements
from ..structure.to_layout import stand_in
from .reducers import like, positional, register_nan, wrapped

_LINE = ("intercept", "slope", "intercept_error", "slope_error")


def _statistic(name: str, arrays: list[Any], weight: Any, axis: Any, options: dict[str, Any], part: str = "") -> Any:
    """A statistic of one or two arrays, with optional weights broadcast to them."""
    function = getattr(ak, name)
    if weight is not None:
        ak.to_layout(_stand_in(weight), primitive_policy="error")  # Awkward's complaint about scalars
    pieces = [*arrays, *([] if weight is None else [weight])]

    def ask(nodes: list[Node] | None) -> Any:
        asked = [_stand_in(piece) for piece in pieces] if nodes is None else [like(arrays[0], node) for node in nodes]
        weights = {} if weight is None else {"weight": asked.pop()}
        with np.errstate(all="ignore"):
            outcome = function(*_in_order(name, asked, options), **weights, axis=axis, **_flags(options))
        return outcome[part] if part else outcome

    chosen = {
        "ddof": options.get("ddof", 0),
        "n": options.get("n"),
        "weighted": weight is not None,
        "part": part,
    }
    keepdims, masked = options.get("keepdims", False), options.get("mask_identity", False)
    reduction = Reduction(name, positional(arrays[0], axis), keepdims, masked, chosen)
    return wrapped(*reduce(reduction, _together(pieces), ask))


def _in_order(name: str, stand_ins: list[Any], options: dict[str, Any]) -> list[Any]:
    return [*stand_ins, options["n"]] if name == "moment" else stand_ins


def _flags(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key != "n" and value is not None}


def _stand_in(value: Any) -> Any:
    if isinstance(value, ak.Array):
        return ak.Array(stand_in(node_of(value)), behavior=value.behavior, attrs=value.attrs)
    if isinstance(value, jax.Array):
        return np.zeros(value.shape, value.dtype)[()]
    return value


def _together(pieces: list[Any]) -> list[Node]:
    """Arrays (and scalars) broadcast to one structure."""
    first = pieces[0]
    if len(pieces) == 1:
        return [node_of(first)]
    arrays = [piece if isinstance(piece, ak.Array) else piece + first * 0 for piece in pieces]
    nodes = [node_of(array) for array in arrays]

    def keep(*buffers: Any) -> Any:
        return buffers

    return list(combine(keep, nodes))


def _register_one(name: str) -> None:
    function = getattr(ak, name)

    def call(x: Any, weight: Any = None, ddof: Any = None, axis: Any = None, **kwargs: Any) -> Any:
        if name == "mean" and has_records(node_of(x)):
            return _mean_of_records(x, weight, positional(x, axis), **kwargs)
        options = kwargs if ddof is None else {**kwargs, "ddof": ddof}
        return _statistic(name, [x], weight, axis, options)

    implements(function, route="kernel", live=True)(_bound(function, call))
    register_nan(name)


def _mean_of_records(x: Any, weight: Any, axis: Any, keepdims: bool = False, mask_identity: bool = False) -> Any:
    """The mean of records that can be added and divided, as vectors can: by Awkward's own formula."""
    options = {"axis": axis, "keepdims": True, "mask_identity": True}
    if weight is None:
        mean = ak.sum(x, **options) / ak.count(x, **options)
    else:
        mean = ak.sum(x * weight, **options) / ak.sum(x * 0 + weight, **options)
    if not mask_identity:
        mean = ak.fill_none(mean, np.nan, axis=-1)
    if keepdims:
        return mean
    if axis is None:
        return mean[(0,) * mean.ndim]
    return mean[(slice(None),) * (axis if axis >= 0 else axis + mean.ndim) + (0,)]


def _bound(function: Any, call: Any) -> Any:
    """`call` with its arguments named as Awkward names them, whatever their order there."""
    signature = inspect.signature(function)

    def bound(*args: Any, **kwargs: Any) -> Any:
        arguments = dict(signature.bind(*args, **kwargs).arguments)
        first = arguments.pop(next(iter(signature.parameters)))
        return call(first, **arguments)

    return bound


for _name in ("mean", "var", "std"):
    _register_one(_name)


@implements(ak.ptp, route="kernel", live=True)
def _ptp(array: Any, axis: Any = None, **kwargs: Any) -> Any:
    return _statistic("ptp", [array], None, axis, {"mask_identity": True, **kwargs})


@implements(ak.moment, route="kernel", live=True)
def _moment(x: Any, n: Any, weight: Any = None, axis: Any = None, **kwargs: Any) -> Any:
    return _statistic("moment", [x], weight, axis, {"n": n, **kwargs})


@implements(ak.covar, route="kernel", live=True)
def _covar(x: Any, y: Any, weight: Any = None, axis: Any = None, **kwargs: Any) -> Any:
    return _statistic("covar", _pair(x, y), weight, axis, kwargs)


@implements(ak.corr, route="kernel", live=True)
def _corr(x: Any, y: Any, weight: Any = None, axis: Any = None, **kwargs: Any) -> Any:
    return _statistic("corr", _pair(x, y), weight, axis, kwargs)


def _pair(x: Any, y: Any) -> list[Any]:
    return [x if isinstance(x, ak.Array) else ak.Array(x), y if isinstance(y, ak.Array) else ak.Array(y)]


@implements(ak.linear_fit, route="kernel", live=True)
def _linear_fit(x: Any, y: Any, weight: Any = None, axis: Any = None, **kwargs: Any) -> Any:
    parts = {part: _statistic("linear_fit", _pair(x, y), weight, axis, kwargs, part) for part in _LINE}
    if isinstance(parts["slope"], ak.Array):
        return ak.zip(parts, with_name="LinearFit", depth_limit=1)
    rows = {part: wrap(Flat(jnp.reshape(value, 1))) for part, value in parts.items()}
    return ak.zip(rows, with_name="LinearFit")[0]


_AXIS = inspect.signature(ak.softmax).parameters["axis"].default  # older Awkward has no valid one


@implements(ak.softmax, route="composed", live=True)
def _softmax(x: Any, axis: Any = _AXIS, *, keepdims: bool = False, mask_identity: bool = False, **kwargs: Any) -> Any:
    node = unfolded(node_of(x))
    small = node if number_depth(node) is None else one_row(node)
    ak.softmax(like(x, small), axis=axis, keepdims=True)  # Awkward's errors for the axis
    axis = positional(x, axis)
    e = np.exp(x)
    return e / ak.sum(e, axis=axis, keepdims=keepdims, mask_identity=mask_identity)
