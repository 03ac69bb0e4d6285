"""`ak.where`, `broadcast_arrays`, `*_like`, `values_astype`, `isclose`, `transform` against eager Awkward."""

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arrays import ALL, NUMBERS
from many import check_each, check_many
from oracle import check, check_gradient, outcome

import akjax

jax.config.update("jax_enable_x64", True)

SIDES = {
    "booleans": ak.Array([True, False, True]),
    "integers": ak.Array([1, 2, 3]),
    "floats": ak.Array([1.5, 2.5, 3.5]),
    "int8": ak.values_astype(ak.Array([1, 2, 3]), "int8"),
    "records": ak.Array([{"x": 1.0, "y": 1}, {"x": 2.0, "y": 2}, {"x": 3.0, "y": 3}]),
    "options": ak.Array([1.5, None, None]),
    "integer options": ak.Array([1, None, 3]),
    "all missing": ak.Array([1.5, None, None])[[1, 1, 2]],
    "lists": ak.Array([[1.5, 2], [], [3]]),
    "missing lists": ak.Array([[1.5, 2], None, [3]]),
    "union": ak.Array([True, 1.5, [2]]),
    "no rows": ak.Array([1.0])[:0],
    "strings": ak.Array(["a", "bb", "c"]),
    "regular": ak.Array(np.arange(6).reshape(3, 2)),
    "complex": ak.Array([1j, 2, 3]),
}
SCALARS = [3, 2.5, True, 1 + 2j, np.int8(3), np.float32(1.5), np.bool_(True)]
MASK = ak.Array([True, False, True])


@pytest.mark.parametrize("one", SIDES)
def test_where_static(one):
    for condition in ([True, False, True], [True, True, True]):
        pairs = {two: (SIDES[one], SIDES[two]) for two in SIDES}
        check_each(lambda a, b, c=condition: ak.where(np.array(c), a, b), pairs)
        with_scalars = {repr(s): lambda a, c=condition, s=s: ak.where(np.array(c), a, s) for s in SCALARS}
        check_many(with_scalars, SIDES[one])


@pytest.mark.parametrize("one", SIDES)
def test_where_traced(one):
    """Equal to eager, or a sentence where the structure would depend on values."""
    functions = {}
    for name, two in {**SIDES, **{repr(scalar): scalar for scalar in SCALARS}}.items():
        # an array is an argument of the program, a number a constant in it
        functions[f"or {name}"] = lambda c, a, sides, name=name, two=two: ak.where(c, a, sides.get(name, two))
        functions[f"{name} or"] = lambda c, a, sides, name=name, two=two: ak.where(c, sides.get(name, two), a)
    arguments = (MASK, SIDES[one], SIDES)

    def gives_up(function):
        eager = outcome(function, *arguments)
        refused = isinstance(outcome(jax.eval_shape, function, *arguments), akjax.errors.StructureError)
        return refused and not isinstance(eager, Exception)

    check_many({name: function for name, function in functions.items() if not gives_up(function)}, *arguments)


NUMERIC = ("booleans", "integers", "floats", "int8", "options", "integer options", "all missing", "complex")


@pytest.mark.parametrize("one", NUMERIC)
def test_where_traced_numbers_never_give_up(one):
    check_each(ak.where, {two: (MASK, SIDES[one], SIDES[two]) for two in NUMERIC})
    check_many({repr(s): lambda c, a, s=s: ak.where(c, a, s) for s in SCALARS}, MASK, SIDES[one])
    check_many({repr(s): lambda c, a, s=s: ak.where(c, s, a) for s in SCALARS}, MASK, SIDES[one])


def test_where_mergebool():
    with pytest.raises(akjax.errors.StructureError, match="mergebool"):
        jax.jit(lambda c, a: ak.where(c, a, 1, mergebool=False))(MASK, SIDES["booleans"])


def test_where_lists_and_conditions():
    lists = ak.Array([[1.0, 2.0], [], [3.0]])
    flat, missing = ak.Array([1.0, 2.0, 3.0]), ak.Array([1.0, None, 3.0])
    deep = ak.Array([[True, False], [], [True]])
    records = ak.zip({"x": lists, "n": ak.Array([[1, 2], [], [3]])})
    for one in (lists, flat, missing):
        check(lambda c, a: ak.where(c, a, 2), deep, one)
        check(lambda c, a: ak.where(c, 2, a), deep, one)
        for two in (lists, flat, missing):
            check(ak.where, deep, one, two)
    check(ak.where, deep, records, records[["n", "x"]])
    # records and numbers, or lists of other lengths, make a structure that depends on values
    for one, two in ((records, lists), (MASK, lists)):
        with pytest.raises(akjax.errors.StructureError, match="static"):
            jax.jit(ak.where)(MASK if two is lists else deep, one, two)
    check(ak.where, ak.Array([True, None, False]), flat, missing)
    check(ak.where, ak.Array([0.0, 2.0, np.nan]), flat, missing)
    check(ak.where, MASK, lists, lists * 2)


def test_where_with_values_missing_at_run_time():
    flat, lists = ak.Array([1.0, 2.0, 3.0]), ak.Array([[1.0, 2.0, -1.0], [], [3.0]])
    check(lambda c, x: ak.where(c, ak.mask(x, x > 1), 7.0), ak.Array([True, True, False]), flat)
    check(lambda c, x: ak.where(c, 7.0, ak.mask(x, x > 1)), MASK, flat)
    deep = ak.Array([[True, False, True], [], [False]])
    check(lambda c, x: ak.where(c, ak.mask(x, x > 1), x), deep, lists)
    check(lambda c, x, f: ak.where(c, ak.mask(f, f > 1), x), deep, lists, flat)


@pytest.mark.parametrize("name", ALL)
def test_like_and_types(name):
    functions = {
        "zeros": ak.zeros_like,
        "ones": ak.ones_like,
        "threes": lambda x: ak.full_like(x, 3),
        "halves": lambda x: ak.full_like(x, 3.5),
        "isclose": lambda x: ak.isclose(x, x),
    }
    for to in ("float32", "int64", bool, np.complex64):
        functions[f"as {to}"] = lambda x, to=to: ak.values_astype(x, to)
    for k in (0, 1):
        functions[f"broadcast with a number, {k}"] = lambda x, k=k: ak.broadcast_arrays(x, 1)[k]
        functions[f"broadcast with itself, {k}"] = lambda x, k=k: ak.broadcast_arrays(x, x)[k]
    if name != "strings":  # eager Awkward breaks them
        functions["nan_to_num"] = ak.nan_to_num
        functions["small zeros"] = lambda x: ak.zeros_like(x, dtype=np.int16)
        functions["whole numbers"] = lambda x: ak.full_like(x, 2.7, dtype=int)
    check_many(functions, ALL[name])


@pytest.mark.parametrize("name", NUMBERS)
def test_transform(name):
    def double(layout, **kwargs):
        if layout.is_numpy:
            return ak.contents.NumpyArray(jnp.asarray(layout.data) * 2)
        return None

    def eager(layout, **kwargs):
        return ak.contents.NumpyArray(layout.data * 2) if layout.is_numpy else None

    array = NUMBERS[name]
    if array.ndim > 1 and "regular" in name:
        return  # eager callbacks see n-dimensional data or lists, as the array happens to be stored
    check(lambda x: ak.transform(eager if not akjax_traced(x) else double, x), array)


def akjax_traced(array):
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(array))


def test_gradients():
    lists, missing = ak.Array([[1.0, 2.0], [], [3.0]]), ak.Array([[1.0, None], [], [3.0]])
    records = ak.zip({"x": lists, "y": lists * 2})
    check_gradient(lambda x: ak.sum(ak.where(x > 1.5, x**2, 3 * x)), lists)
    check_gradient(lambda x: ak.sum(ak.where(x > 1.5, x**2, 1.0)), missing)
    check_gradient(lambda r: ak.sum(ak.where(r.x > 1.5, r, ak.zip({"x": r.y, "y": r.x})).x ** 2), records)


NUMPY_LIKE = {
    "rows and columns": lambda y, w: y[:, np.newaxis] * w,
    "the other way round": lambda y, w: w - y[:, np.newaxis],
    "conditions": lambda y, w: (y[:, np.newaxis] > w) & (y[:, np.newaxis] < 3),
    "selected rows": lambda y, w: y[y > 0][:, np.newaxis] * w,
}


@pytest.mark.parametrize("prepare", [lambda y: y, akjax.traced], ids=["exact", "traced"])
@pytest.mark.parametrize("name", NUMPY_LIKE)
def test_regular_arrays_broadcast_as_numpy_does(name, prepare):
    """From the last axis on, also where it is known at run time only which rows there are."""
    y, w = ak.Array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])
    expected = NUMPY_LIKE[name](y, w)
    for columns in (jax.numpy.asarray(w), ak.Array(w)):
        found = jax.jit(NUMPY_LIKE[name])(prepare(y), columns)
        assert found.to_list() == expected.to_list()
        assert found.ndim == expected.ndim == 2


def test_columns_that_were_selected_need_their_axis():
    y = akjax.traced(ak.Array([0.0, 1.0, 2.0, 3.0]))
    with pytest.raises(akjax.StructureError, match="as many axes"):
        jax.jit(lambda y: y[:, np.newaxis] * y)(y)


@pytest.mark.parametrize("prepare", [lambda x: x, akjax.traced], ids=["exact", "traced"])
@pytest.mark.parametrize("sides", [(1.0, 2.0), (1, 2), (True, False), (np.float32(1), 2)])
def test_where_of_two_scalars(sides, prepare):
    x = ak.Array([[1.0, -2.0], [], [3.0]])
    for where in (ak.where, np.where):
        found = jax.jit(lambda x, where=where: where(x > 0, *sides))(prepare(x))
        assert found.to_list() == where(x > 0, *sides).to_list()


@pytest.mark.parametrize("prepare", [lambda x: x, akjax.traced], ids=["exact", "traced"])
@pytest.mark.parametrize("transform", [jax.jit, akjax.vmap], ids=["jit", "vmap"])
@pytest.mark.parametrize("function", [ak.where, np.where])
@pytest.mark.parametrize(
    "condition",
    [
        lambda x: ak.sum(x) > 2,
        lambda x: ak.any(x > 2),
        lambda x: jnp.array(True),
        lambda x: np.bool_(True),
        lambda x: True,
    ],
    ids=["of an array", "any", "JAX", "NumPy", "Python"],
)
def test_where_with_a_single_condition(condition, function, transform, prepare):
    """Awkward makes no array of a scalar."""
    lists = ak.Array([[1.0, 2.0], [], [3.0]])
    for sides in (lambda x: (x, 0.0), lambda x: (x[x > 1], x)):

        def chosen(x, sides=sides):
            return function(condition(x), *sides(x))

        with pytest.raises(TypeError, match="scalar"):
            chosen(lists)
        with pytest.raises(TypeError, match=r"single traced one.*lax\.cond|scalar \("):
            transform(chosen)(prepare(lists))


def test_where_with_a_single_condition_instead():
    """What the error says to write."""
    lists = ak.Array([[1.0, 2.0], [], [3.0]])
    for cut, expected in ((2, lists.to_list()), (9, [[0.0, 0.0], [], [0.0]])):
        for prepare in (lambda x: x, akjax.traced):
            cond = jax.jit(lambda x, cut=cut: jax.lax.cond(ak.sum(x) > cut, lambda: x, lambda: x * 0.0))
            each = jax.jit(lambda x, cut=cut: ak.where(ak.broadcast_arrays(ak.sum(x) > cut, x)[0], x, 0.0))
            assert cond(prepare(lists)).to_list() == each(prepare(lists)).to_list() == expected


def test_where_with_a_row_as_the_condition():
    for function in (lambda row: ak.where(row, SIDES["floats"], 0.0), lambda row: ak.mask(SIDES["floats"], row)):
        with pytest.raises(TypeError, match="single traced one"):
            jax.vmap(function)(SIDES["booleans"])


@pytest.mark.parametrize("transform", [jax.jit, akjax.vmap], ids=["jit", "vmap"])
def test_mask_with_a_single_condition(transform):
    def masked(x):
        return ak.mask(x, ak.sum(x) > 2)

    with pytest.raises(TypeError, match="scalar"):
        masked(SIDES["lists"])
    with pytest.raises(TypeError, match=r"^ak\.mask takes an array of conditions"):
        transform(masked)(SIDES["lists"])
    each = jax.jit(lambda x: ak.mask(x, ak.broadcast_arrays(ak.sum(x) > 2, x)[0]))
    assert each(SIDES["lists"]).to_list() == SIDES["lists"].to_list()
