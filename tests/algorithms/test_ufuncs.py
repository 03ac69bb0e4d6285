"""Every ufunc, dtype and kind of operand, against NumPy's and Awkward's answers."""

import operator
import warnings

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrays import ALL
from many import check_many
from oracle import check, check_gradient, compare, outcome

jax.config.update("jax_enable_x64", True)

UNARY = [
    "negative",
    "positive",
    "absolute",
    "fabs",
    "rint",
    "sign",
    "conjugate",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "expm1",
    "log1p",
    "sqrt",
    "square",
    "cbrt",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "degrees",
    "radians",
    "deg2rad",
    "rad2deg",
    "invert",
    "logical_not",
    "isfinite",
    "isinf",
    "isnan",
    "signbit",
    "spacing",
    "floor",
    "ceil",
    "trunc",
    "modf",
    "frexp",
    "bitwise_count",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "logaddexp",
    "logaddexp2",
    "floor_divide",
    "power",
    "float_power",
    "remainder",
    "fmod",
    "divmod",
    "heaviside",
    "gcd",
    "lcm",
    "arctan2",
    "hypot",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "not_equal",
    "equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "copysign",
    "nextafter",
    "ldexp",
]
DTYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
TOLERANCE = {"float16": 1e-2, "float32": 1e-5, "complex64": 1e-5, "int8": 1e-2, "uint8": 1e-2, "bool": 1e-2}


def rtol(*dtypes):
    """Small types make results of half precision in NumPy."""
    return max(TOLERANCE.get(dtype, 1e-5 if "16" in dtype else 1e-9) for dtype in dtypes)


def sample(dtype, values=(0, 1, 1, 3)):
    return ak.Array(np.array(values).astype(dtype))


def check_each(f, cases):
    """`check` of many cases by one program for each tolerance: compiling is what takes long."""
    together = {}
    for tolerance, *args in cases:
        if isinstance(outcome(f, *args), Exception):
            check(f, *args)
        else:
            together.setdefault(tolerance, []).append(args)
    for tolerance, several in together.items():
        check(lambda each: [f(*args) for args in each], several, rtol=tolerance)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    ufunc = getattr(np, name, None)
    if ufunc is None:
        pytest.skip("this NumPy does not have it")
    # 1 / 0 is anything among integers, and the logarithm of a complex 0 has no direction
    nonzero = name == "reciprocal" or name.startswith("log")
    values = (1, 1, 3) if nonzero else (0, 1, 3)
    check_each(lambda x: ufunc(x), [(rtol(dtype), sample(dtype, values)) for dtype in DTYPES])


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):  # a ufunc itself would be jitted in the first place, and JAX does not survive that
    ufunc = getattr(np, name)
    cases = [
        (rtol(one, two), sample(one), sample(two, (1, 0, 2, 3)))
        for one in DTYPES
        for two in ("bool", "uint8", "int64", "uint64", "float32", "float64", "complex64")
    ]
    check_each(lambda a, b: ufunc(a, b), cases)


SCALARS = [
    *(3, -3, 300, 2.5, True, 1j),
    *(np.int8(3), np.uint64(3), np.int64(3), np.float16(2), np.float32(2), np.float64(2), np.bool_(True)),
    *(np.complex64(1j), np.array(3), np.array(3, "int8"), np.array([1, 2, 3]), np.array([1, 2, 3], "float32")),
    *([1, 2, 3], [1.5, 2, 3]),
]


@pytest.mark.parametrize("name", ["add", "divide", "less", "maximum", "bitwise_and", "floor_divide"])
def test_promotion_with_scalars(name):
    ufunc = getattr(np, name)
    for scalar in SCALARS:
        cases = [(rtol(dtype, "float16"), sample(dtype, (1, 0, 3))) for dtype in DTYPES]
        check_each(lambda a, s=scalar: ufunc(a, s), cases)
        check_each(lambda a, s=scalar: ufunc(s, a), cases)


@pytest.mark.parametrize("dtype", DTYPES)
def test_promotion_with_traced_numbers(dtype):
    """A traced number promotes like the NumPy scalar it is; one made of a Python number like that."""
    x = sample(dtype, (1, 0, 3))
    scalars = (np.int8(3), np.int64(3), np.float32(2), np.float64(2), np.complex64(2))
    check_each(lambda a, s: a + s, [(rtol(dtype, "float32"), x, scalar) for scalar in scalars])
    check_each(lambda a, s: s * a, [(rtol(dtype, "float32"), x, scalar) for scalar in scalars])
    weak = (3, 2.5, 1j)
    want = [(x + s).type for s in weak]
    right, left = jax.jit(lambda a, several: ([a + s for s in several], [s + a for s in several]))(x, weak)
    assert [a.type for a in right] == want
    assert [a.type for a in left] == want


def test_dtype_argument():
    cases = [(rtol(dtype, "float32"), sample(dtype)) for dtype in DTYPES]
    for to in ("float32", "float64", "int64", "complex128"):
        check_each(lambda a, t=to: np.add(a, a, dtype=t), cases)
        check_each(lambda a, t=to: np.sqrt(a, dtype=t), cases)


OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, divmod),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv),
]
LISTS = ak.Array([[1.0, 2.5], [], [3.0]])


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operators(op):
    flat = ak.Array([2.0, 3.0, 4.0])
    check(lambda x: [op(x, 2), op(2.0, x)], LISTS)
    pairs = [(LISTS, flat), (flat, LISTS), (LISTS, np.float64(2)), (flat, np.array([1.0, 2.0, 3.0]))]
    pairs.append((np.float64(2), LISTS))
    if not op.__name__.startswith("i"):  # NumPy's arrays are changed in place, JAX's never
        pairs.append((np.array([1.0, 2.0, 3.0]), LISTS))
    check_each(op, [(1e-9, one, two) for one, two in pairs])


def test_bit_operators():
    booleans = ak.Array([[True, False], [], [True]])
    for op in (operator.and_, operator.or_, operator.xor):
        check(op, booleans, booleans)
        check(op, booleans, ak.Array([True, False, True]))
        check(lambda x, op=op: op(True, x), booleans)
    check(operator.invert, booleans)
    check(operator.neg, LISTS)
    check(abs, LISTS)
    check(lambda x: x << 2, ak.Array([1, 2]))
    check(lambda x: x @ x, LISTS)


def test_tracers_and_flat_arrays():
    """`tracer * array` stays an Awkward Array; `jnp` functions of a flat array leave Awkward."""
    flat = ak.Array([1.0, 2.0])

    def kinds(t, x):
        assert isinstance(t * x, ak.Array)
        assert isinstance(x * t, ak.Array)
        assert isinstance(np.sin(x), ak.Array)
        assert isinstance(jnp.sin(x), jax.Array)
        assert isinstance(x[0] * t, jax.Array)
        return t * x

    check(lambda t, x: kinds(t, x) if isinstance(t, jax.Array) else t * x, np.array([3.0, 4.0]), flat)
    with pytest.raises((TypeError, ValueError)):
        jax.jit(jnp.sin)(LISTS)


def test_no_counterpart():
    with pytest.raises(TypeError, match="no counterpart"):
        jax.jit(lambda x: np.isnat(x))(LISTS)
    with pytest.raises(TypeError):
        jax.jit(lambda x: x + None)(LISTS)
    with pytest.raises(TypeError):
        jax.jit(lambda x: x + "text")(LISTS)
    check(lambda x: x**-1, ak.Array([1, 2]))
    check(lambda x: x ** np.int64(-1), ak.Array([1, 2]))


def test_scipy_functions():
    special = pytest.importorskip("scipy.special")
    for function in (special.erf, special.expit, special.gammaln):
        # not `jax.jit(function)`: NumPy below 2.5 gives ufuncs no weak references, which `jax.jit` needs
        check(lambda a, function=function: function(a), LISTS)


@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_array(name):
    """Broadcasting with one another, with rows, with numbers; or the class of Awkward's error."""
    array = ALL[name]
    check_each(operator.add, [(1e-9, array, other) for other in ALL.values()])
    check_many(
        {
            "a == a": lambda a: a == a,
            "fractions": lambda a: np.modf(a)[0],
            "whole numbers": lambda a: np.modf(a)[1],
            "-a": operator.neg,
            "a + rows": lambda a: a + ak.Array(np.arange(len(a))),
            "rows * a": lambda a: np.arange(len(a)) * a,
            "column * a": lambda a: np.arange(len(a))[:, None] * a,
            "a * [1]": lambda a: a * [1] * 1,
        },
        array,
    )


def test_further_axes_of_a_buffer_in_lists_are_regular_lists():
    """Awkward pairs those of one buffer as NumPy does, and raises, and those of regular lists as lists."""
    buffer, regular = (ak.from_numpy(np.arange(8.0).reshape(4, 2), regulararray=regular) for regular in (False, True))
    in_lists = [ak.unflatten(array, [2, 0, 2]) for array in (buffer, regular)]
    others = ak.unflatten([1.0, 10.0, 100.0, 1000.0], [2, 0, 2])
    with pytest.raises(ValueError, match="shape mismatch"):
        in_lists[0] * others
    for array in in_lists:
        compare(jax.jit(operator.mul)(array, others), in_lists[1] * others)


def test_strings_are_compared():
    strings = ak.Array([{"s": "one", "x": 1.0}, {"s": "", "x": 2.0}])
    check(lambda a: a.s == "one", strings)
    check(lambda a: a.s != "one", strings)
    check(lambda a: a.s == a.s, strings)


def test_dates():
    dates = ak.Array({"t": np.array(["2020-01-01", "2021-01-01"], "M8[D]"), "x": np.array([1.0, 2.0])})
    check(lambda a: a.t - a.t[0], dates)
    check(lambda a: ak.zip({"t": a.t, "x": a.x * 2}), dates)


def test_without_64_bits():
    with warnings.catch_warnings(), jax.enable_x64(False):
        x = ak.Array([[1.0, 2.0], [], [3.0]])
        assert str(jax.jit(lambda a: a * 2 + np.float64(1))(x).type) == "3 * var * float32"
        big = ak.Array(np.array([2**53 + 1, 3], np.int64))
        with pytest.raises(TypeError, match="jax_enable_x64"):
            jax.jit(lambda a: a + 1)(big)


@pytest.mark.parametrize("name", ["sin", "exp", "sqrt", "arctan", "log", "square", "sinh", "reciprocal"])
def test_gradients(name):
    ufunc = getattr(np, name)
    missing = ak.Array([[1.0, None], [], [3.0]])
    records = ak.zip({"x": LISTS, "y": LISTS * 2})
    check_gradient(lambda x: ak.sum(ufunc(x)), LISTS)
    check_gradient(lambda x: ak.sum(ufunc(x) * 2), missing)
    check_gradient(lambda r: ak.sum(ufunc(r.x) * ufunc(r.y)), records)
    check_gradient(lambda x, y: ak.sum(ufunc(x) * y), LISTS, ak.Array([1.0, 2.0, 3.0]))
