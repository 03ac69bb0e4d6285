"""vector's momenta inside a transformation."""

import awkward as ak
import jax
import numpy as np
import pytest
from oracle import check, check_gradient

vector = pytest.importorskip("vector")
vector.register_awkward()
jax.config.update("jax_enable_x64", True)

POLAR = ak.zip(
    {
        "pt": [[30.0, 40.0], [], [20.0, 5.0, 7.0]],
        "eta": [[0.1, -1.2], [], [2.0, 0.3, -0.4]],
        "phi": [[0.1, 3.0], [], [-2.0, 1.0, 0.5]],
        "mass": [[0.1, 0.2], [], [0.3, 0.4, 1.0]],
    },
    with_name="Momentum4D",
)
CARTESIAN = ak.zip({"px": POLAR.px, "py": POLAR.py, "pz": POLAR.pz, "E": POLAR.E * 1.1}, with_name="Momentum4D")
ROWS = ak.flatten(POLAR)
MOMENTA = {"polar": POLAR, "cartesian": CARTESIAN, "rows": ROWS}
TOLERANCE = 1e-6  # formulas with differences of large numbers


@pytest.mark.parametrize("kind", MOMENTA)
def test_properties(kind):
    for name in [
        "mass",
        "px",
        "py",
        "pz",
        "E",
        "pt",
        "eta",
        "phi",
        "theta",
        "rho",
        "p",
        "mt",
        "costheta",
        "energy",
        "et",
        "rapidity",
        "beta",
        "gamma",
    ]:
        check(lambda v, name=name: getattr(v, name), MOMENTA[kind], rtol=TOLERANCE)


def slower(v):
    return ak.zip({axis: getattr(v, axis) / (10 * v.E) for axis in "xyz"}, with_name="Vector3D")


METHODS = {
    "sum": lambda v: v + v[..., ::-1],
    "mass of sum": lambda v: (v + v[..., ::-1]).mass,
    "difference": lambda v: v - 3 * v[..., ::-1],
    "minus": lambda v: -v,
    "times": lambda v: 2.0 * v * 2,
    "over": lambda v: v / 2.0,
    "times numbers": lambda v: v * v.pt,
    "dot": lambda v: v.dot(v),
    "equal": lambda v: v == v,
    "absolute": abs,
    "squared": lambda v: v**2,
    "deltaR": lambda v: v.deltaR(v[..., ::-1]),
    "deltaphi": lambda v: v.deltaphi(v[..., ::-1]),
    "boost": lambda v: v.boost(slower(v)),
    "to_xyzt": lambda v: v.to_xyzt(),
    "to_ptphietamass": lambda v: v.to_ptphietamass(),
    "rotateZ": lambda v: v.rotateZ(0.3),
    "unit": lambda v: v.unit(),
    "three dimensions": lambda v: v.to_Vector3D().mag,
    "isclose": lambda v: v.isclose(v),
    "is_timelike": lambda v: v.is_timelike(),
    "one": lambda v: v[..., 0:1].mass,
    "from arrays": lambda v: vector.zip({"pt": v.pt, "phi": v.phi, "eta": v.eta, "mass": v.mass}).pz,
}


@pytest.mark.parametrize("method", METHODS)
def test_methods(method):
    for momenta in MOMENTA.values():
        check(METHODS[method], momenta, rtol=TOLERANCE)


def test_traced_numbers():
    check(lambda v, angle: v.rotateZ(angle), POLAR, np.float64(0.3), rtol=TOLERANCE)
    check(lambda v, factor: v.scale(factor).E, POLAR, np.float64(0.3), rtol=TOLERANCE)


def test_pairs():
    check(lambda v: (lambda a, b: (a + b).mass)(*ak.unzip(ak.combinations(v, 2))), POLAR, rtol=TOLERANCE)
    check(lambda v: (lambda a, b: a.deltaR(b))(*ak.unzip(ak.cartesian([v, v]))), POLAR, rtol=TOLERANCE)
    check(lambda v: ak.sum(v, axis=-1), POLAR, rtol=TOLERANCE)
    check(lambda v: ak.firsts(v).mass, POLAR, rtol=TOLERANCE)
    check(lambda v: (ak.firsts(v) + ak.firsts(v)).mass, POLAR, rtol=TOLERANCE)
    check(lambda v: (ak.pad_none(v, 3) + ak.pad_none(v, 3)).mass, POLAR, rtol=TOLERANCE)
    check(lambda v: v[v.pt > 10].mass, POLAR, rtol=TOLERANCE)
    check(lambda v: (v[0] + v[1]).mass, ROWS, rtol=TOLERANCE)
    check(lambda v: v.mass, ROWS[0], rtol=TOLERANCE)


def test_gradients():
    def masses(v):
        a, b = ak.unzip(ak.combinations(v, 2))
        return ak.sum((a + b).mass) + ak.sum(a.deltaR(b))

    check_gradient(masses, POLAR, order=1)
    check_gradient(lambda v: ak.sum(v.boost(slower(v)).E), POLAR, order=1)


@pytest.mark.parametrize("axis", [0, -1])
def test_sum_of_a_flat_array_is_one_record(axis):
    check(lambda v: ak.sum(v, axis=axis), ak.flatten(POLAR), rtol=TOLERANCE)
