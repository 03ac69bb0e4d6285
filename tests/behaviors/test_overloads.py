"""Classes, methods and overloads that users give their records."""

import numbers

import awkward as ak
import jax
import numpy as np
import pytest
from oracle import check, check_gradient

jax.config.update("jax_enable_x64", True)

behavior = {}


@ak.mixin_class(behavior)
class Point:
    """A record with a method, a property and overloads."""

    @property
    def size(self):
        return np.sqrt(self.x**2 + self.y**2)

    def moved(self, by):
        return ak.zip({"x": self.x + by, "y": self.y}, with_name="Point", behavior=behavior)

    @ak.mixin_class_method(np.add, {"Point"})
    def add(self, other):
        return ak.zip({"x": self.x + other.x, "y": self.y + other.y}, with_name="Point", behavior=behavior)

    @ak.mixin_class_method(np.absolute)
    def absolute(self):
        return self.size


def scaled(point, factor):
    return ak.zip({"x": point.x * factor, "y": point.y * factor}, with_name="Point", behavior=behavior)


behavior[np.multiply, "Point", numbers.Number] = scaled
behavior[np.multiply, "Point", np.floating] = scaled
behavior[np.equal, "Point", "Point"] = lambda a, b: (a.x == b.x) & (a.y == b.y)
behavior[np.divmod, "Point", "Point"] = lambda a, b: (a, b)

NESTED = ak.zip({"x": [[1.0, 2.0], [], [3.0]], "y": [[4.0, 5.0], [], [6.0]]}, with_name="Point", behavior=behavior)
ROWS = ak.Array(
    [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}, {"x": 5.0, "y": 6.0}], with_name="Point", behavior=behavior
)
EMPTY = NESTED[:0]


@pytest.mark.parametrize("points", [NESTED, ROWS, EMPTY, ak.mask(ROWS, [True, False, True])], ids=str)
def test_mixins(points):
    check(lambda p: p.size, points)
    check(lambda p: p.moved(1.0).size, points)
    check(lambda p: p.moved(p.y), points)
    check(lambda p: p + p, points)
    check(lambda p: (p + p).size, points)
    check(lambda p: abs(p), points)
    check(lambda p: p * 2.0, points)
    check(lambda p: p * np.float32(2), points)
    check(lambda p, t: p * t, points, np.float64(2))
    check(lambda p: p == p, points)
    check(lambda p: p - p, points)  # no overload
    check(lambda p: p * "text", points)
    check(lambda p: p + 1, points)
    check(lambda p: p * p.x, points)
    check(lambda p: divmod(p, p), points)
    check(lambda p: p[..., ::-1] + p, points)


def test_broadcasting_overloads():
    check(lambda p, q: p + q, NESTED, ROWS)
    check(lambda p, q: q + p, NESTED, ROWS)
    check(lambda p: p + p[0], ROWS)
    check(lambda p: p[0] + p[1], ROWS)
    check(lambda p: ak.firsts(p) + ak.firsts(p), NESTED)
    check(lambda p: (lambda a, b: a + b)(*ak.unzip(ak.combinations(p, 2))), NESTED)
    check(lambda p: ak.concatenate([p, p], axis=1).size, NESTED)


def test_classes_are_kept():
    seen = []

    def classes(p):
        seen.extend([type(p).__name__, type(p + p).__name__, type(p[0]).__name__, type(p[:, :1]).__name__])
        return p

    jax.jit(classes)(NESTED)
    assert seen == ["PointArray"] * 4


def test_generic_ufunc():
    """`apply_ufunc`: one overload for all ufuncs."""
    generic = {}

    def on_x(ufunc, method, arrays, kwargs):
        fields = [array.x if isinstance(array, ak.Array) and ak.fields(array) else array for array in arrays]
        return ufunc(*fields)

    generic[np.ufunc, "OnX"] = on_x
    points = ak.with_name(ak.without_parameters(NESTED), "OnX", behavior=generic)
    check(lambda p: p + 1, points)
    check(lambda p: p * p, points)
    check(lambda p: -p, points)


def test_array_subclass():
    class Doubled(ak.Array):
        def twice(self):
            return self * 2

    classes = {("*", "doubled"): Doubled, "doubled": Doubled}
    array = ak.with_parameter(ak.Array([[1.0, 2.0], []]), "__list__", "doubled", behavior=classes)
    check(lambda x: x.twice() if hasattr(x, "twice") else 0, array)


def test_gradients():
    check_gradient(lambda p: ak.sum((p + p).size), NESTED)
    check_gradient(lambda p: ak.sum((p * 2.0).x ** 2), NESTED)
