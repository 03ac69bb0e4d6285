"""One call of every function of Awkward that works on traced arrays, of an array of lists of numbers.

With `coverage.md` they make the claims of the table testable: `CALLS[name](array)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import numpy as np

from akjax import _coverage, registry

# called with a second array; reduced along the last axis
_TWO = ("almost_equal", "array_equal", "broadcast_arrays", "broadcast_fields", "corr", "covar", "isclose", "linear_fit")
_ALONG = ("all", "any", "corr", "count", "count_nonzero", "covar", "linear_fit", "mean", "prod", "ptp", "softmax")
_ENDINGS = ("max", "min", "std", "sum", "var", "nanmean", "nanprod")

# classes, decorators, and text, which has tests of its own
_APART = ("ak.mixin_class", "ak.mixin_class_method", "ak.str.")


def _call(name: str) -> Callable[..., Any]:
    options = {"axis": -1} if name in _ALONG or name.endswith(_ENDINGS) else {}
    if name in _TWO:
        return lambda x: getattr(ak, name)(x, x * x, **options)
    return lambda x: getattr(ak, name)(x, **options)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "ak.Array": lambda x: ak.Array({"a": x, "b": x}),
    "ak.Record": lambda x: ak.Record({"a": x}),
    "ak.argcartesian": lambda x: ak.argcartesian([x, x]),
    "ak.argcombinations": lambda x: ak.argcombinations(x, 2),
    "ak.cartesian": lambda x: ak.cartesian([x, x]),
    "ak.combinations": lambda x: ak.combinations(x, 2),
    "ak.concatenate": lambda x: ak.concatenate([x, x], axis=1),
    "ak.enforce_type": lambda x: ak.enforce_type(x, "var * ?float64"),
    "ak.fill_none": lambda x: ak.fill_none(x, 1.5),
    "ak.from_dlpack": lambda x: ak.from_dlpack(ak.to_jax(ak.flatten(x))),
    "ak.from_iter": lambda x: ak.from_iter([x, [[1.0]]]),
    "ak.from_jax": lambda x: ak.from_jax(ak.to_jax(ak.flatten(x))),
    "ak.from_numpy": lambda x: ak.from_numpy(ak.to_jax(ak.flatten(x))),
    "ak.full_like": lambda x: ak.full_like(x, 2.5),
    "ak.mask": lambda x: ak.mask(x, x > 1),
    "ak.moment": lambda x: ak.moment(x, 3, axis=-1),
    "ak.pad_none": lambda x: ak.pad_none(x, 2),
    "ak.strings_astype": lambda x: ak.strings_astype(x, float),
    "ak.to_backend": lambda x: ak.to_backend(x, "jax"),
    "ak.to_jax": lambda x: ak.to_jax(ak.flatten(x)),
    "ak.to_regular": lambda x: ak.to_regular(ak.singletons(ak.flatten(x))),
    "ak.transform": lambda x: ak.transform(lambda layout, **kw: layout if layout.is_numpy else None, x),
    "ak.unflatten": lambda x: ak.unflatten(x, [len(x)]),
    "ak.values_astype": lambda x: ak.values_astype(x, np.float64),
    "ak.where": lambda x: ak.where(x > 1, x, 2 * x),
    "ak.with_field": lambda x: ak.with_field(ak.zip({"a": x}), x, "b"),
    "ak.with_name": lambda x: ak.with_name(ak.zip({"a": x}), "Named"),
    "ak.with_named_axis": lambda x: ak.with_named_axis(x, ("row", "column")),
    "ak.with_parameter": lambda x: ak.with_parameter(x, "unit", "GeV"),
    "ak.without_field": lambda x: ak.without_field(ak.zip({"a": x, "b": x}), "a"),
    "ak.zip": lambda x: ak.zip({"a": x, "b": x * 2}),
    "ak.zip_no_broadcast": lambda x: ak.zip_no_broadcast({"a": x, "b": x}),
}

ENTRIES = {
    name: entry
    for name, value in _coverage.names()
    if (entry := registry.find(value)) is not None and entry.route != "host" and not name.startswith(_APART)
}
CALLS = {name: _SPECIAL.get(name, _call(name.removeprefix("ak."))) for name in ENTRIES}
