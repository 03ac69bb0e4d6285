"""Every kind of layout and number, through a reducer, a ufunc, broadcasting and moving, against eager Awkward."""

import operator

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from many import check_many

import akjax

jax.config.update("jax_enable_x64", True)
akjax.register()

_c = ak.contents
_numbers = np.arange(24.0)


def _offsets(*values, dtype=np.int64):
    return ak.index.Index(np.array(values, dtype))


def _big_endian():
    form = ak.forms.NumpyForm("float64", form_key="n")
    buffers = {"n-data": np.arange(6.0).astype(">f8").tobytes()}
    return ak.from_buffers(form, 6, buffers, byteorder=">", buffer_key="{form_key}-data")


LAYOUTS = {
    "lists of regular of lists": ak.unflatten(
        ak.to_regular(ak.Array([[[1.0, 2.0], []], [[3.0], [4.0, 5.0]], [[], [6.0]]]), axis=1), [2, 0, 1]
    ),
    "regular of lists of regular": ak.to_regular(
        ak.Array([[[[1.0, 2.0]], []], [[[3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0]]]]), axis=1
    ),
    "three axes": ak.Array(_numbers.reshape(2, 3, 4)),
    "lists of two axes": ak.Array(
        _c.ListOffsetArray(_offsets(0, 2, 2, 3), _c.NumpyArray(np.arange(18.0).reshape(3, 2, 3)))
    ),
    "regular of empty lists": ak.Array(
        _c.RegularArray(_c.ListOffsetArray(_offsets(0, 0, 0, 0, 0), _c.EmptyArray()), 2, 2)
    ),
    "big-endian": _big_endian(),
    "strided": ak.Array(_c.NumpyArray(_numbers[::3])),
    "reversed": ak.Array(_c.NumpyArray(_numbers[::-1])),
    "Fortran order": ak.Array(_c.NumpyArray(np.asfortranarray(_numbers.reshape(4, 6)))),
    "transposed": ak.Array(_c.NumpyArray(_numbers.reshape(4, 6).T)),
    "broadcast buffer": ak.Array(_c.NumpyArray(np.broadcast_to(np.array(2.5), (3, 2)))),
    "unknown": ak.Array([]),
    "only missing": ak.Array([None, None]),
    "lists of missing": ak.Array([[None], []]),
    "missing at two depths": ak.Array([[[1.0, None], None], None, []]),
    "missing records": ak.Array([{"x": 1.0, "y": [1]}, None, {"x": None, "y": []}]),
    "records of missing lists": ak.Array([{"x": [1.0, None]}, {"x": None}]),
    "union with missing": ak.Array([1.0, None, [2.0, None]]),
    "union with text": ak.Array([1.0, "a", 2.0]),
    "union of records": ak.Array([{"x": 1.0}, {"y": [2]}, {"x": 3.0}]),
    "tuples": ak.Array([(1.0, (2, [3.0])), (4.0, (5, []))]),
    "32-bit offsets": ak.Array(_c.ListOffsetArray(_offsets(0, 2, 3, dtype=np.int32), _c.NumpyArray(_numbers))),
    "unsigned offsets": ak.Array(_c.ListOffsetArray(_offsets(1, 2, 3, dtype=np.uint32), _c.NumpyArray(_numbers))),
    "bits, lowest first": ak.Array(
        _c.BitMaskedArray(ak.index.IndexU8(np.array([0b101], np.uint8)), _c.NumpyArray(_numbers), False, 5, True)
    ),
    "bits, highest first": ak.Array(
        _c.BitMaskedArray(ak.index.IndexU8(np.array([0b10100000], np.uint8)), _c.NumpyArray(_numbers), True, 5, False)
    ),
    "columns of other lengths": ak.Array(
        _c.RecordArray([_c.NumpyArray(_numbers), _c.NumpyArray(_numbers[:5])], ["a", "b"], 3)
    ),
    "four levels": ak.Array([[[[1.0, 2.0], []], []], [], [[[3.0]]]]),
    "not finite": ak.Array([[np.nan, np.inf, -np.inf], [], [0.0, -0.0]]),
}
REDUCERS = [ak.sum, ak.prod, ak.min, ak.max, ak.any, ak.all, ak.count, ak.count_nonzero, ak.mean, ak.std]
UFUNCS = [np.negative, np.sqrt, np.isnan, np.logical_not, np.exp]
OPERATORS = [operator.add, operator.mul, operator.lt, operator.truediv, operator.eq]
FUNCTIONS = {
    **{f"{r.__name__} {k}": lambda x, r=r, k=k: r(x, axis=k) for r in REDUCERS for k in (None, 0, -1)},
    **{f"{r.__name__} {k}": lambda x, r=r, k=k: r(x, axis=k) for r in (ak.argmin, ak.argmax) for k in (None, -1)},
    **{u.__name__: lambda x, u=u: u(x) for u in UFUNCS},
    **{f"x {o.__name__} x": lambda x, o=o: o(x, x) for o in OPERATORS},
    **{f"2.5 {o.__name__} x": lambda x, o=o: o(2.5, x) for o in OPERATORS},
    **{f"x {o.__name__} rows": lambda x, o=o: o(x, 1 + np.arange(len(x))) for o in OPERATORS},
    "itself": lambda x: x,
    "reversed": lambda x: x[::-1],
    "twice": lambda x: ak.concatenate([x, x]),
    "hidden": lambda x: ak.mask(x, np.arange(len(x)) % 2 == 0),
}
DTYPES = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
# small types are added up in another order
TOLERANCE = {"float16": 1e-2, "int8": 1e-2, "uint8": 1e-2, "bool": 1e-2, "float64": 1e-9, "complex128": 1e-9}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    # Awkward has no kernel for the outer standard deviation of lists with 32-bit offsets
    left_out = {"std 0"} if name == "32-bit offsets" else set()
    if name == "lists of two axes":  # Awkward pairs the last axis of such a buffer with the rows, where it fits
        left_out = {key for key in FUNCTIONS if key.endswith(" rows")}
    check_many({key: f for key, f in FUNCTIONS.items() if key not in left_out}, LAYOUTS[name])


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers(dtype):
    """Plain and with missing values, in and out of everything."""
    lists = ak.unflatten(ak.Array(np.array([1, 0, 3, 1]).astype(dtype)), [2, 0, 1, 1])
    missing = ak.mask(lists, ak.Array([[True, False], [], [True], [False]]))
    both = {f"{name}, {k}": lambda a, f=f, k=k: f(a[k]) for name, f in FUNCTIONS.items() for k in ("x", "y")}
    check_many(both, ak.Array({"x": lists, "y": missing}), rtol=TOLERANCE.get(dtype, 1e-5))


def test_bfloat16():
    """A number that NumPy and Awkward do not know: inside it stays what it is, outside it is a float32."""
    x = ak.Array([[1.0, 2.0], [], [3.0]])

    @jax.jit
    def small(x):
        y = ak.values_astype(x, jnp.bfloat16)
        return y * 2 + 1, y[y > 1], ak.sort(y, ascending=False), ak.concatenate([y, y], axis=1), ak.sum(y, axis=1)

    doubled, selected, ordered, twice, total = small(x)
    assert {str(leaf.dtype) for leaf in jax.tree.leaves((doubled, ordered, twice))} == {"bfloat16"}
    assert str(doubled.type) == "3 * var * float32"
    assert doubled.to_list() == [[3.0, 5.0], [], [7.0]]
    assert selected.to_list() == [[2.0], [], [3.0]]
    assert ordered.to_list() == [[2.0, 1.0], [], [3.0]]
    assert twice.to_list() == [[1.0, 2.0, 1.0, 2.0], [], [3.0, 3.0]]
    assert total.to_list() == [3.0, 0.0, 3.0]
