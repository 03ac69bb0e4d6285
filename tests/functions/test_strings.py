"""`ak.str.*` inside a transformation: text is structure, so that Awkward itself computes on it."""

import awkward as ak
import jax
import pytest
from many import check_many
from oracle import check

import akjax

pytest.importorskip("pyarrow", reason="ak.str needs pyarrow")
jax.config.update("jax_enable_x64", True)

ARGUMENTS = {
    "center": (8,),
    "count_substring": ("e",),
    "count_substring_regex": ("e+",),
    "ends_with": ("e",),
    "extract_regex": ("(?P<vowel>[aeiou])",),
    "find_substring": ("e",),
    "find_substring_regex": ("e",),
    "index_in": (["one", ""],),
    "is_in": (["one", ""],),
    "join": ("-",),
    "lpad": (5, "-"),
    "ltrim": ("o",),
    "match_like": ("o%",),
    "match_substring": ("n",),
    "match_substring_regex": ("n.",),
    "repeat": (2,),
    "replace_slice": (0, 1, "Q"),
    "replace_substring": ("o", "00"),
    "replace_substring_regex": ("o", "00"),
    "rpad": (5,),
    "rtrim": ("e",),
    "slice": (0, 2),
    "split_pattern": ("n",),
    "split_pattern_regex": ("n",),
    "starts_with": ("o",),
    "trim": ("o",),
}
NAMES = [name for name in dir(ak.str) if callable(getattr(ak.str, name)) and not name.startswith("_")]

ARRAYS = {
    "lists": ak.Array([{"s": ["one", "Two 2", ""], "x": 1.0}, {"s": [], "x": 2.0}, {"s": ["ééé"], "x": 3.0}]),
    "flat": ak.Array([{"s": "one", "x": 1.0}, {"s": "Two", "x": 2.0}]),
    "missing": ak.Array([{"s": ["one", None, ""], "x": 1.0}, {"s": None, "x": 2.0}]),
}


def of_text(name):
    return lambda x: getattr(ak.str, name)(x, *ARGUMENTS.get(name, ()))


@pytest.mark.parametrize("array", ARRAYS)
def test_text_beside_numbers(array):
    check_many({name: of_text(name) for name in NAMES}, ARRAYS[array])


def test_text_decides():
    def selected(name):
        return lambda x: x[of_text(name)(x.s)]

    check_many({name: selected(name) for name in NAMES if name.startswith(("is_", "starts", "ends"))}, ARRAYS["flat"])


def test_after_a_selection():
    def after(name):
        return lambda x: of_text(name)(x[x.x > 1.5])

    check_many({name: after(name) for name in NAMES if name not in ("join", "to_categorical")}, ARRAYS["flat"])
    with pytest.raises(akjax.StructureError):
        jax.jit(after("to_categorical"))(ARRAYS["flat"])


def test_traced_numbers_make_no_text():
    with pytest.raises(akjax.StructureError, match="concrete"):
        jax.jit(lambda x: ak.str.repeat(x.s, ak.values_astype(x.x, int)))(ARRAYS["flat"])


def test_numbers_in_text():
    array = ak.Array([{"s": ["1", "1e13"], "x": 1.0}, {"s": [], "x": 2.0}, {"s": ["-3"], "x": 3.0}])
    check(lambda x: ak.strings_astype(x, float), array)
    check(lambda x: ak.strings_astype(x.s, float) * x.x, array)


def test_text_that_is_left_is_not_flattened() -> None:
    check(lambda x, m: ak.flatten(x[m]), ak.Array(["one", "two"]), ak.Array([True, False]))
