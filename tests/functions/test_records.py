"""Records made, taken apart and extended, against eager Awkward."""

import awkward as ak
import jax
import numpy as np
import pytest
from arrays import ALL
from oracle import check, check_gradient

jax.config.update("jax_enable_x64", True)

LISTS = ak.Array([[1.0, 2.0], [], [3.0]])
FLAT = ak.Array([1, 2, 3])
BOOLS = ak.Array([[True, False], [], [True]])
DEEP = ak.Array([[[1.0], [2.0, 3.0]], [], [[4.0]]])
MISSING = ak.Array([[1.0, None], [], [3.0]])
RECORD = ak.zip({"x": LISTS, "n": ak.Array([[1, 2], [], [3]])}, with_name="Point")
NESTED = ak.Array([{"p": {"x": 1.0, "y": 2}, "n": 1}, {"p": {"x": 3.0, "y": 4}, "n": 2}])
TUPLE = ak.zip((LISTS, BOOLS))


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: lambda x, y: ak.zip({"a": x, "b": y}, **k),
        lambda **k: lambda x, y: ak.zip([x, y], **k),
        lambda **k: lambda x, y: ak.zip((x, y, 1.5), **k),
        lambda **k: lambda x, y: ak.zip({"a": x, "b": y, "c": 3, "d": True}, **k),
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"depth_limit": 1},
        {"depth_limit": 2},
        {"with_name": "Point"},
        {"parameters": {"some": "thing"}},
        {"right_broadcast": True},
        {"optiontype_outside_record": True},
        {"depth_limit": 1, "with_name": "Point"},
    ],
    ids=str,
)
def test_zip(make, options):
    arrays = (LISTS, FLAT, BOOLS, DEEP, MISSING, RECORD)
    for k, x in enumerate(arrays):
        check(make(**options), x, arrays[(k + 1) % len(arrays)])
        check(make(**options), x, x)
        check(make(**options), x, LISTS)


@pytest.mark.parametrize("name", ALL)
def test_unzip_and_fields(name):
    array = ALL[name]
    check(ak.unzip, array)
    check(lambda x: list(ak.unzip(x, how=dict).values()), array)
    check(lambda x: ak.unzip(x, how=list), array)
    check(lambda x: ak.zip({"a": x, "b": x}), array)
    check(lambda x: ak.zip([x, x], depth_limit=1), array)
    check(lambda x: ak.with_field(x, x, "new"), array)
    for field in ak.fields(array):
        check(lambda x, f=field: x[f], array)
        check(lambda x, f=field: x[[f]], array)
        check(lambda x, f=field: ak.without_field(x, f), array)
        check(lambda x, f=field: ak.with_field(x, 3, f), array)
    seen = []
    jax.jit(lambda x: seen.append((ak.fields(x), str(ak.type(x)), ak.is_tuple(x), ak.parameters(x), x.ndim)))(array)
    same = array if name not in ("byte masked", "bit masked") else None
    if same is not None:
        facts = (ak.fields(same), str(ak.type(same)), ak.is_tuple(same), ak.parameters(same), same.ndim)
        assert seen[0] == facts


def test_with_field():
    for what in (LISTS, FLAT, BOOLS, MISSING, 2.5, True, np.float32(1)):
        if isinstance(what, ak.Array):
            check(lambda r, w: ak.with_field(r, w, "new"), RECORD, what)
            check(lambda r, w: ak.with_field(r, w, "x"), RECORD, what)
            check(lambda r, w: ak.with_field(r, w), RECORD, what)
            check(lambda r, w: ak.with_field(r, w), TUPLE, what)
        else:
            check(lambda r, w=what: ak.with_field(r, w, "new"), RECORD)
            check(lambda r, w=what: ak.with_field(r, w), TUPLE)
    for path in (("p", "x"), ["p", "z"], ("p",), "p", ("q", "x"), ()):
        check(lambda r, w, p=path: ak.with_field(r, w, p), NESTED, ak.Array([5.0, 6.0]))
        check(lambda r, p=path: ak.without_field(r, p), NESTED)
    check(lambda r, w: ak.with_field(r, w, "new"), RECORD, np.array([1.0, 2.0, 3.0]))
    check(lambda r: ak.with_field(r, [1, 2, 3], "new"), RECORD)
    check(lambda r: ak.without_field(r, "missing"), RECORD)
    check(lambda r, w: ak.with_field(r, w, "new"), RECORD, ak.Array([[1.0], [], []]))


def test_assignment():
    def assign(record, column):
        record = ak.copy(record)
        record["new"] = column
        record["x"] = record.x * 2
        record["p", "z"] = column
        del record["n"]
        return record

    check(assign, ak.Array([{"p": {"x": 1.0}, "x": 1.0, "n": 1}, {"p": {"x": 3.0}, "x": 2.0, "n": 2}]), FLAT[:2])


def test_constructor():
    check(lambda x, y: ak.Array({"a": x, "b": y}), LISTS, FLAT)
    check(lambda x, y: ak.Array({"a": x, "b": y}), LISTS, FLAT[:2])
    check(lambda x: ak.Array(x, with_name="Point"), RECORD)
    check(lambda x: x[0].x, NESTED.p)
    check(lambda x: x[0], NESTED)
    check(lambda x: x[-1].p, NESTED)
    check(lambda x: [row.n for row in x], NESTED)


def test_gradients():
    check_gradient(lambda r: ak.sum(ak.with_field(r, r.x**2, "y").y * r.x), RECORD)
    check_gradient(lambda x, y: ak.sum(ak.zip({"a": x, "b": y}).a * y**2), LISTS, ak.Array([1.0, 2.0, 3.0]))
    check_gradient(lambda x: ak.sum(ak.fill_none(ak.zip({"a": x, "b": x * 2}).b, 1.0) ** 2), MISSING)
