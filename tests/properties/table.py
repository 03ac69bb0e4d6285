"""One table: for each function that akjax implements, how to call it on an array, and the options to draw.

Pages of Awkward's reference are the families. `test_every_function.py` checks that no function is left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import awkward as ak
import hypothesis.strategies as st
import numpy as np

BOOLEANS = st.booleans()
AXES = st.integers(-2, 2)
ALL_OR_AXES = st.none() | AXES
FEW = st.integers(0, 3)


@dataclasses.dataclass(frozen=True)
class Call:
    """A function of one array, and the options to draw for it."""

    function: Callable[..., Any]
    options: st.SearchStrategy[dict[str, Any]]


def _some(**options: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Each option is given or left out."""
    return st.fixed_dictionaries({}, optional=options)


def _all(**options: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(options)


def _call(function: Callable[..., Any], **options: Any) -> Call:
    return Call(function, _some(**options))


def _named(names: str, **options: Any) -> dict[str, Call]:
    """Functions of Awkward that take the array and options, as far as this Awkward has them."""
    return {f"ak.{name}": _call(getattr(ak, name), **options) for name in names.split() if hasattr(ak, name)}


def _doubled(layout: Any, **_: Any) -> Any:
    return ak.contents.NumpyArray(layout.data * 2) if layout.is_numpy else None


def _copy_with_field(x: Any) -> Any:
    copy = ak.copy(x)
    copy["new"] = 1
    return copy, x


def _record(x: Any) -> Any:
    return ak.zip({"a": x, "b": x}, depth_limit=1)


def _along(x: Any, axis: int) -> Any:
    return ak.sum(ak.with_named_axis(x, {"name": axis}), axis="name")


def _promoted(x: Any) -> Any:
    """The type of an array with missing values allowed on top."""
    kind = ak.type(x).content
    return kind if isinstance(kind, ak.types.OptionType | ak.types.UnionType) else ak.types.OptionType(kind)


def _mixin_class(x: Any, what: str) -> Any:
    behavior: dict[Any, Any] = {}

    @ak.mixin_class(behavior, "Thing")
    class Thing:
        @ak.mixin_class_method(np.negative)
        def turned(self) -> Any:
            return self.b

        def twice(self) -> Any:
            return self.a * 2

    thing = ak.with_name(_record(x), "Thing", behavior=behavior)
    return thing.twice() if what == "twice" else -thing


SAME = {
    "keepdims": BOOLEANS,
    "mask_identity": BOOLEANS,
    "axis": ALL_OR_AXES,
}

REDUCERS = _named(
    "all any sum prod count count_nonzero min max argmin argmax ptp nansum nanprod nanmin nanmax nanargmin nanargmax",
    **SAME,
)

STATISTICS = {
    **_named("mean nanmean", **SAME),
    **_named("var std nanvar nanstd", **SAME, ddof=st.integers(0, 1)),
    "ak.moment": Call(ak.moment, _all(n=FEW, axis=ALL_OR_AXES)),
    "ak.corr": _call(lambda x, **o: ak.corr(x, x * x, **o), **SAME),
    "ak.covar": _call(lambda x, **o: ak.covar(x, x * x, **o), **SAME),
    "ak.linear_fit": _call(lambda x, **o: ak.linear_fit(x, x * 3, **o), **SAME),
    "ak.softmax": _call(ak.softmax, axis=AXES),
}

SORTING = _named("sort argsort", axis=AXES, ascending=BOOLEANS)

ELEMENTWISE = {
    **_named("real imag"),
    **_named("angle", deg=BOOLEANS),
    **_named("round", decimals=st.integers(-1, 2)),
    **_named("nan_to_num", nan=st.sampled_from([0.0, 1.5]), posinf=st.just(9.0), neginf=st.just(-9.0)),
    **_named("nan_to_none"),
    **_named("zeros_like ones_like", dtype=st.sampled_from(["int32", "float32", "bool"]), including_unknown=BOOLEANS),
    "ak.full_like": Call(ak.full_like, _all(fill_value=st.sampled_from([0, 2, 1.5, True]))),
    "ak.values_astype": Call(
        ak.values_astype, _all(to=st.sampled_from(["float32", "float64", "bool"]), including_unknown=BOOLEANS)
    ),
    "ak.isclose": _call(lambda x, **o: ak.isclose(x, x + x, **o), equal_nan=BOOLEANS, atol=st.just(1.0)),
    "ak.where": _call(lambda x, **o: ak.where(x == x, x, 1.5, **o), mergebool=BOOLEANS),
    "ak.mask": _call(lambda x, **o: ak.mask(x, x == x, **o), valid_when=BOOLEANS),
    "ak.almost_equal": _call(lambda x, **o: ak.almost_equal(x, x + 0, **o), dtype_exact=BOOLEANS, rtol=st.just(1e-3)),
    "ak.array_equal": _call(lambda x, **o: ak.array_equal(x, x + x, **o), equal_nan=BOOLEANS),
}

MISSING = {
    "ak.pad_none": Call(
        ak.pad_none, st.fixed_dictionaries({"target": FEW}, optional={"axis": AXES, "clip": BOOLEANS})
    ),
    "ak.fill_none": Call(
        ak.fill_none, _all(value=st.sampled_from([7, 7.5, True, "text"]), axis=ALL_OR_AXES)
    ),
    **_named("is_none firsts singletons", axis=AXES),
    **_named("drop_none", axis=ALL_OR_AXES),
    **_named("merge_option_of_records merge_union_of_records", axis=AXES),
}  # fmt: skip

ARRANGING = {
    **_named("num flatten local_index", axis=ALL_OR_AXES),
    **_named("ravel run_lengths to_packed"),
    **_named("from_regular to_regular", axis=ALL_OR_AXES),
    "ak.unflatten": Call(
        lambda x, counts, **o: ak.unflatten(x, np.array(counts, np.int64) if isinstance(counts, list) else counts, **o),
        st.fixed_dictionaries(
            {"counts": st.integers(1, 3) | st.lists(FEW, max_size=3)}, optional={"axis": st.integers(0, 1)}
        ),
    ),
    "ak.concatenate": _call(lambda x, **o: ak.concatenate([x, x[::-1]], **o), axis=AXES, mergebool=BOOLEANS),
    "ak.combinations": Call(
        ak.combinations,
        st.fixed_dictionaries({"n": st.integers(1, 3)}, optional={"axis": AXES, "replacement": BOOLEANS}),
    ),
    "ak.argcombinations": Call(
        ak.argcombinations,
        st.fixed_dictionaries({"n": st.integers(1, 3)}, optional={"axis": AXES, "replacement": BOOLEANS}),
    ),
    "ak.cartesian": _call(lambda x, **o: ak.cartesian({"a": x, "b": x}, **o), axis=AXES, nested=BOOLEANS),
    "ak.argcartesian": _call(lambda x, **o: ak.argcartesian([x, x], **o), axis=AXES, nested=BOOLEANS),
    "ak.broadcast_arrays": _call(
        lambda x, **o: ak.broadcast_arrays(x, ak.local_index(x, axis=0), **o), depth_limit=st.integers(1, 2)
    ),
}

RECORDS = {
    "ak.Array": _call(lambda x, **o: ak.Array(x, **o), with_name=st.just("Thing")),
    "ak.Record": _call(lambda x: ak.Record({"a": x, "b": 2})),
    "ak.from_iter": _call(lambda x: ak.from_iter([{"a": x}, {"a": x}])),
    "ak.zip": _call(
        lambda x, **o: ak.zip({"a": x, "b": 1.5}, **o),
        depth_limit=st.integers(1, 2),
        optiontype_outside_record=BOOLEANS,
    ),
    "ak.zip_no_broadcast": _call(lambda x, **o: ak.zip_no_broadcast([x, x], **o), with_name=st.just("Thing")),
    "ak.broadcast_fields": _call(lambda x: ak.broadcast_fields(x, ak.zip({"new": x}, depth_limit=1))),
    "ak.unzip": _call(ak.unzip),
    "ak.with_field": _call(lambda x, **o: ak.with_field(x, 1.5, **o), where=st.sampled_from(["new", ["new", "inner"]])),
    "ak.without_field": _call(lambda x: ak.without_field(_record(x), "b")),
    "ak.with_name": _call(lambda x: ak.with_name(x, "Thing")),
    "ak.with_parameter": _call(lambda x: ak.with_parameter(x, "unit", "GeV")),
    "ak.with_named_axis": Call(_along, _all(axis=st.integers(0, 2))),
    "ak.without_named_axis": _call(lambda x: ak.without_named_axis(ak.with_named_axis(x, {"event": 0}))),
    "ak.without_parameters": _call(ak.without_parameters),
    "ak.mixin_class": _call(lambda x: _mixin_class(x, "twice")),
    "ak.mixin_class_method": _call(lambda x: _mixin_class(x, "turned")),
    "ak.copy": _call(lambda x: _copy_with_field(_record(x))),
    "ak.transform": _call(lambda x: ak.transform(_doubled, x)),
    "ak.materialize": _call(lambda x: ak.materialize(x) if hasattr(ak, "materialize") else x),
    "ak.enforce_type": _call(lambda x: ak.enforce_type(x, _promoted(x))),
}

# facts of type; texts leave the traced function beside its result
TYPES = {
    "ak.fields": _call(ak.fields),
    "ak.is_tuple": _call(ak.is_tuple),
    "ak.is_categorical": _call(ak.is_categorical),
    "ak.is_valid": _call(ak.is_valid),
    "ak.validity_error": _call(ak.validity_error),
    "ak.parameters": _call(ak.parameters),
    "ak.type": _call(lambda x: str(ak.type(x).content)),
    "ak.categories": _call(lambda x: ak.categories(ak.str.to_categorical(x))),
    "ak.from_categorical": _call(lambda x: ak.from_categorical(ak.str.to_categorical(x))),
}

# between Awkward and JAX: eagerly they need NumPy or Awkward's own JAX backend
CONVERTING = {
    "ak.to_jax": _call(lambda x: ak.to_jax(x)),
    "ak.from_jax": _call(lambda x: ak.from_jax(ak.to_jax(x))),
}

_PATTERN = {"pattern": st.sampled_from(["a", "ab", "é", ""]), "ignore_case": BOOLEANS}
_REGEX = {"pattern": st.sampled_from(["a+", "[ab]", "^b"]), "ignore_case": BOOLEANS}
_SPLIT = {"max_splits": st.integers(1, 2), "reverse": BOOLEANS}


def _text(names: str, **options: Any) -> dict[str, Call]:
    """Functions of `ak.str`: those called `*_regex` take patterns of the other kind."""
    found = {name: getattr(ak.str, name) for name in names.split() if hasattr(ak.str, name)}
    return {f"ak.str.{name}": Call(function, _all(**options)) for name, function in found.items()}


STRINGS = {
    "ak.strings_astype": Call(ak.strings_astype, _all(to=st.sampled_from(["int64", "float64"]))),
    **_text(
        "capitalize is_alnum is_alpha is_ascii is_decimal is_digit is_lower is_numeric is_printable is_space is_title "
        "is_upper length lower ltrim_whitespace reverse rtrim_whitespace swapcase title trim_whitespace upper "
        "to_categorical"
    ),
    **_text("center lpad rpad", width=st.integers(0, 5), padding=st.sampled_from([" ", "*"])),
    **_text("ltrim rtrim trim", characters=st.sampled_from(["a", "ab "])),
    **_text("count_substring ends_with find_substring match_substring starts_with", **_PATTERN),
    **_text("count_substring_regex find_substring_regex match_substring_regex", **_REGEX),
    **_text("match_like", pattern=st.sampled_from(["a%", "_b"]), ignore_case=BOOLEANS),
    **_text("extract_regex", pattern=st.just("(?P<letter>[ab])(?P<digit>\\d*)")),
    **_text("index_in is_in", value_set=st.just(["a", "ab"]), skip_nones=BOOLEANS),
    **_text("join", separator=st.sampled_from([",", ""])),
    **_text("repeat", num_repeats=FEW),
    **_text("replace_slice", start=FEW, stop=FEW, replacement=st.just("xy")),
    **_text("replace_substring", pattern=st.just("a"), replacement=st.just("xy"), max_replacements=st.none() | FEW),
    **_text("replace_substring_regex", pattern=st.just("a+"), replacement=st.just("xy")),
    **_text("slice", start=st.integers(-2, 2), stop=st.none() | FEW, step=st.integers(1, 2)),
    **_text("split_pattern", pattern=st.sampled_from(["a", "ab"]), **_SPLIT),
    **_text("split_pattern_regex", pattern=st.just("a+"), max_splits=st.integers(1, 2)),
    **_text("split_whitespace", **_SPLIT),
    "ak.str.join_element_wise": _call(lambda x: ak.str.join_element_wise(x, x)),
}

FAMILIES = {
    "reducers": REDUCERS,
    "statistics": STATISTICS,
    "sorting": SORTING,
    "elementwise": ELEMENTWISE,
    "missing": MISSING,
    "arranging": ARRANGING,
    "records": RECORDS,
    "types": TYPES,
    "converting": CONVERTING,
    "strings": STRINGS,
}

# functions that no array is drawn for, and why
NOT_DRAWN = {
    "ak.backend": "the backend inside a transformation is JAX, outside NumPy",
    "ak.to_backend": "inside a transformation the backend is JAX already",
    "ak.to_layout": "a layout inside a transformation is a view of traced buffers, no result",
    "ak.from_numpy": "takes arrays that are not Awkward's; tests/functions/test_converting.py",
    "ak.from_dlpack": "takes arrays that are not Awkward's; tests/functions/test_converting.py",
}
