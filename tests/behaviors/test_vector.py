"""vector inside a transformation: every class, coordinate system, property and method, against eager vector."""

import itertools
import re

import awkward as ak
import jax
import numpy as np
import pytest
from many import check_many
from oracle import check, check_gradient

from akjax.algorithms import tracking

vector = pytest.importorskip("vector")
vector.register_awkward()
jax.config.update("jax_enable_x64", True)

BASE = ak.zip(
    {
        "px": [[3.0, 4.0], [], [-2.0, 5.0, 0.7]],
        "py": [[1.0, -2.0], [], [2.0, 0.3, -4.0]],
        "pz": [[0.5, -6.0], [], [1.0, 2.0, 0.1]],
        "E": [[6.0, 11.0], [], [5.0, 7.0, 8.0]],
    },
    with_name="Momentum4D",
)
COORDINATES = [[("px", "py"), ("pt", "phi")], [("pz",), ("theta",), ("eta",)], [("E",), ("mass",)]]
GENERIC = {"px": "x", "py": "y", "pt": "rho", "pz": "z", "E": "t", "mass": "tau"}


def systems():
    """An array for each class and coordinate system, by a name like `Momentum3D pt phi eta`."""
    for dimension in (2, 3, 4):
        for parts in itertools.product(*COORDINATES[: dimension - 1]):
            names = [name for part in parts for name in part]
            fields = {name: getattr(BASE, name) for name in names}
            generic = {GENERIC.get(name, name): column for name, column in fields.items()}
            kind = f"{dimension}D"
            yield f"Momentum{kind} {' '.join(names)}", ak.zip(fields, with_name=f"Momentum{kind}")
            yield f"Vector{kind} {' '.join(generic)}", ak.zip(generic, with_name=f"Vector{kind}")


SYSTEMS = dict(systems())
POLAR, CARTESIAN = SYSTEMS["Momentum4D pt phi eta mass"], SYSTEMS["Momentum4D px py pz E"]
TOLERANCE = 1e-6  # formulas with differences of large numbers
PROPERTIES = {
    2: "x y rho rho2 phi px py pt pt2",
    3: "z theta eta costheta cottheta mag mag2 pz p p2 pseudorapidity",
    4: "t t2 tau tau2 beta gamma rapidity E e energy E2 M m mass mass2 Et et et2 Mt mt mt2 transverse_mass",
}


def dimension_of(name):
    return int(name.split("D")[0][-1])


@pytest.mark.parametrize("name", SYSTEMS)
def test_properties(name):
    names = [n for d in range(2, dimension_of(name) + 1) for n in PROPERTIES[d].split()]
    momentum = name.startswith("Momentum")
    read = {n: lambda v, n=n: getattr(v, n) for n in names if momentum or not hasattr(vector.MomentumObject4D, n)}
    shared = {n: lambda v, n=n: getattr(v, n) for n in names}  # the same error for those a plain vector has not
    more = {
        "sum": lambda v: v + v[..., ::-1],
        "total": lambda v: ak.sum(v, axis=-1),
        "first": lambda v: ak.firsts(v).phi,
    }
    check_many({**read, **shared, **more}, SYSTEMS[name], rtol=TOLERANCE)


def other(v):
    return v[..., ::-1]


def slow(v):
    return ak.zip({axis: 0.05 * getattr(v, axis) / v.mag for axis in "xyz"}, with_name="Vector3D")


def pairs(v):
    return ak.unzip(ak.combinations(v, 2))


def matrix(axes):
    return {a + b: float(i) for i, (a, b) in enumerate(itertools.product(axes, axes))}


PLANAR = {
    "minus": lambda v: v - 2 * other(v),
    "signs": lambda v: (-v) + (+v) * 3,
    "numbers": lambda v: 2 * v * 2.5 / 3.0,
    "arrays": lambda v: v * v.rho,
    "powers": lambda v: v**2,
    "cube": lambda v: v**3,
    "roots": lambda v: np.sqrt(v) + np.cbrt(v),
    "absolute": abs,
    "equal": lambda v: v == other(v),
    "not equal": lambda v: v != other(v),
    "isclose": lambda v: v.isclose(other(v)),
    "equal method": lambda v: v.equal(v) & ~v.not_equal(v),
    "dot": lambda v: v.dot(other(v)),
    "matmul": lambda v: v @ other(v),
    "unit": lambda v: v.unit(),
    "deltaphi": lambda v: v.deltaphi(other(v)),
    "rotateZ": lambda v: v.rotateZ(0.3),
    "rotateZ by arrays": lambda v: v.rotateZ(v.phi),
    "scale": lambda v: v.scale(-2.0),
    "scale2D": lambda v: v.scale2D(3.0),
    "negatives": lambda v: v.neg2D.x + v.neg3D.y + v.neg4D.x,
    "to_xy": lambda v: v.to_xy(),
    "to_rhophi": lambda v: v.to_rhophi(),
    "to_ptphi": lambda v: v.to_ptphi(),
    "to_Vector2D": lambda v: v.to_Vector2D(),
    "to_3D": lambda v: v.to_3D(),
    "to_4D": lambda v: v.to_4D(),
    "to_Vector3D": lambda v: v.to_Vector3D(z=1.0),
    "to_Vector4D": lambda v: v.to_Vector4D(z=1.0, t=9.0),
    "transform2D": lambda v: v.transform2D(matrix("xy")),
    "parallel": lambda v: v.is_parallel(v * 2) & ~v.is_antiparallel(v) & ~v.is_perpendicular(other(v)),
    "no overload": lambda v: v + 1,
    "no product": lambda v: v * v,
    "no order": lambda v: v < v,
    "count": lambda v: ak.count(v, axis=-1),
    "any": lambda v: ak.any(v, axis=-1),
    "mean": lambda v: ak.mean(v, axis=-1),
    "mean of all": lambda v: ak.mean(v),
    "mean with weights": lambda v: ak.mean(v, weight=v.rho, axis=-1, keepdims=True),
    "sum axis 0": lambda v: ak.sum(v, axis=0),
    "sum of all": lambda v: ak.sum(v),
    "sum of rows": lambda v: ak.sum(ak.flatten(v), axis=0),
    "sum keepdims": lambda v: ak.sum(v, axis=-1, keepdims=True),
    "no max": lambda v: ak.max(v, axis=-1),
    "firsts": lambda v: ak.firsts(v) + ak.firsts(v),
    "firsts.deltaphi": lambda v: ak.firsts(v).deltaphi(ak.firsts(other(v))),
    "padded": lambda v: (ak.pad_none(v, 2) * 2).y,
    "masked": lambda v: ak.mask(v, v.rho > 3).phi,
    "broadcast": lambda v: v.deltaphi(ak.firsts(v)),
    "row": lambda v: (v[0] + v[0]).x,
    "records": lambda v: v[0, 1] + v[0, 0],
    "record": lambda v: v[0, 1].phi,
    "record and array": lambda v: v.deltaphi(v[0, 1]),
    "pairs": lambda v: (lambda a, b: a + b)(*pairs(v)),
    "selected": lambda v: (lambda s: (s + s).rho)(v[v.rho > 3]),
    "vector.obj": lambda v: v.deltaphi(vector.obj(x=1.0, y=2.0)),
    "vector.obj first": lambda v: vector.obj(x=1.0, y=2.0).deltaphi(v),
    "NumPy vector": lambda v: v.deltaphi(vector.array({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]})),
    "array from outside": lambda v: v.deltaphi(CARTESIAN) + POLAR.deltaphi(v),
    "only from outside": lambda v: CARTESIAN.pt + v.rho,
}
SPATIAL = {
    "cross": lambda v: v.to_Vector3D().cross(other(v).to_Vector3D()),
    "deltaangle": lambda v: v.deltaangle(v.rotateX(0.3)),
    "deltaeta": lambda v: v.deltaeta(other(v)),
    "deltaR": lambda v: v.deltaR(other(v)),
    "deltaR2": lambda v: v.deltaR2(other(v)),
    "rotateX": lambda v: v.rotateX(0.3),
    "rotateY": lambda v: v.rotateY(0.3),
    "rotate_axis": lambda v: v.rotate_axis(slow(v), 0.3),
    "rotate_euler": lambda v: v.rotate_euler(0.1, 0.2, 0.3, order="zyz"),
    "rotate_nautical": lambda v: v.rotate_nautical(0.1, 0.2, 0.3),
    "rotate_quaternion": lambda v: v.rotate_quaternion(0.5, 0.5, 0.5, 0.5),
    "scale3D": lambda v: v.scale3D(2.0),
    "transform3D": lambda v: v.transform3D(matrix("xyz")),
    "to_xyz": lambda v: v.to_xyz(),
    "to_rhophieta": lambda v: v.to_rhophieta(),
    "to_xytheta": lambda v: v.to_xytheta(),
    "to_ptphitheta": lambda v: v.to_ptphitheta(),
    "products": lambda v: (lambda a, b: a.deltaR(b))(*ak.unzip(ak.cartesian([v, v], nested=True))),
    "nearest": lambda v: v[ak.argmin(v.deltaR(other(v)), axis=1, keepdims=True)].eta,
    "firsts.deltaR": lambda v: ak.firsts(v).deltaR(ak.firsts(other(v))),
    "deltaR to first": lambda v: v.deltaR(ak.firsts(v)),
    "record.deltaR": lambda v: v[0, 0].deltaR(v[0, 1]),
}
LORENTZ = {
    "boost": lambda v: v.boost(other(v)),
    "boost_p4": lambda v: v.boost_p4(other(v)),
    "boost_beta3": lambda v: v.boost_beta3(slow(v)),
    "boostCM_of": lambda v: v.boostCM_of(other(v)),
    "boostCM_of_p4": lambda v: v.boostCM_of_p4(v + other(v)),
    "boostCM_of_beta3": lambda v: v.boostCM_of_beta3(slow(v)),
    "boosts": lambda v: v.boostX(beta=0.3).boostY(gamma=1.3).boostZ(beta=-0.3),
    "to_beta3": lambda v: v.to_beta3(),
    "timelike": lambda v: v.is_timelike() & ~v.is_spacelike() & ~v.is_lightlike(),
    "deltaRapidityPhi": lambda v: v.deltaRapidityPhi(other(v)) + v.deltaRapidityPhi2(other(v)),
    "to_xyzt": lambda v: v.to_xyzt(),
    "to_rhophietatau": lambda v: v.to_rhophietatau(),
    "to_xythetatau": lambda v: v.to_xythetatau(),
    "to_pxpypzenergy": lambda v: v.to_pxpypzenergy(),
    "to_ptphietamass": lambda v: v.to_ptphietamass(),
    "scale4D": lambda v: v.scale4D(2.0),
    "transform4D": lambda v: v.transform4D(matrix("xyzt")),
    "pair masses": lambda v: (lambda a, b: (a + b).tau)(*pairs(v)),
    "masses with others": lambda v: (v + CARTESIAN).tau + (POLAR + v).tau,
    "firsts.mass": lambda v: (ak.firsts(v) + ak.firsts(other(v))).tau,
    "vector.obj added": lambda v: (vector.obj(x=1.0, y=2.0, z=3.0, t=9.0) + v).tau,
    "record.boost": lambda v: v[0, 0].boost(v[0, 1]),
    "sorted": lambda v: v[ak.argsort(v.rho, axis=1)].tau,
    "new field": lambda v: ak.with_field(v, v.x, "iso").to_xyzt(),
    "from arrays": lambda v: vector.zip({"pt": v.rho, "phi": v.phi, "eta": v.eta, "mass": v.tau}).pz,
}


@pytest.mark.parametrize(
    "name", ["Momentum2D px py", "Vector3D rho phi eta", "Momentum4D px py pz E", "Momentum4D pt phi eta mass"]
)
def test_methods(name):
    methods = {**PLANAR, **(SPATIAL if dimension_of(name) > 2 else {}), **(LORENTZ if dimension_of(name) > 3 else {})}
    check_many(methods, SYSTEMS[name], rtol=TOLERANCE)


@pytest.mark.parametrize("name", SYSTEMS)
def test_sums_of_several(name):
    """The sum of sums, of differences, of what was selected, and of nothing."""

    def sums(v):
        one, two, three = ak.unzip(ak.combinations(v, 3))
        total = one + two - three
        near = (one + two)[abs(total.phi) < 2.0]
        return total, total + total, near + near, v + v - v

    check(sums, SYSTEMS[name], rtol=TOLERANCE)


@pytest.mark.parametrize("names", ["rho phi eta tau", "rho phi theta t", "rho phi z", "rho phi"])
def test_sums_of_nothing(names):
    """The direction of a sum that has none is that of its first vector."""
    fields = {name: ak.Array([[0.0, 0.0, 0.0], [0.0]]) for name in names.split()}
    fields["phi"] = ak.Array([[0.3, -2.0, 3.2], [1.0]])
    check(lambda v: v + v, ak.zip(fields, with_name=f"Vector{len(fields)}D"), rtol=TOLERANCE)


def test_a_sum_in_the_direction_of_pi():
    """vector counts directions from -pi on, pi itself excluded."""
    opposite = ak.zip({"rho": [[1.0], []], "phi": [[np.pi], []], "eta": [[0.5], []]}, with_name="Vector3D")
    check(lambda v: v + v, opposite, rtol=TOLERANCE)


def test_coordinates_of_a_sum_under_other_names():
    """The components a sum keeps are those of its own coordinates."""

    def renamed(v):
        total = v + v
        other = ak.zip({"rho": total.rho, "phi": total.phi, "z": total.eta}, with_name="Vector3D")
        return other + other

    check(renamed, SYSTEMS["Vector3D rho phi eta"], rtol=TOLERANCE)


def test_sines_are_of_elements():
    """However many vectors are added: components are computed before elements are copied."""
    jets = ak.zip({name: ak.Array([np.linspace(0.1, 1.0, 9)]) for name in POLAR.fields}, with_name="Momentum4D")

    def mass(v):
        one, two, three = ak.unzip(ak.combinations(v, 3))
        return (one + two + three).mass

    check(mass, jets, rtol=TOLERANCE)
    program = jax.jit(mass).lower(jets).compile().as_text()
    work = [line for line in program.splitlines() if "[84" in line and re.search(r" (sine|cosine|atan2)\(", line)]
    assert not work


def test_traced_numbers():
    check(lambda v, angle: v.rotateZ(angle), POLAR, np.float64(0.3), rtol=TOLERANCE)
    check(lambda v, factor: v.scale(factor).E, POLAR, np.float64(0.3), rtol=TOLERANCE)


def test_a_single_record():
    check_many({"mass": lambda v: v.mass, "sum": lambda v: v + v, "deltaR": lambda v: v.deltaR(POLAR)}, POLAR[0, 1])


@pytest.mark.parametrize("name", ["Momentum4D px py pz E", "Momentum4D pt phi eta mass"])
def test_gradients(name):
    def loss(v):
        a, b = ak.unzip(ak.combinations(v, 2))
        total = ak.sum((a + b).mass) + ak.sum(a.deltaR(b)) + ak.sum(v.mass * v.pt) + ak.sum(v.boost(slow(v)).E)
        return total + ak.sum(ak.fill_none(ak.firsts(v).pt, 0)) + ak.sum(ak.sum(v, axis=1).px ** 2)

    check_gradient(loss, SYSTEMS[name], order=1)


def test_nothing_changes_outside_a_transformation():
    assert vector.obj(x=1.0, y=2.0).lib is np
    assert POLAR.lib == ak.copy(POLAR).lib
    assert POLAR.lib.sqrt(np.float64(4.0)) == 2.0
    assert POLAR.lib.nplike is POLAR.layout.backend.nplike


def test_users_vectors_keep_their_classes():
    """Classes made of vector's, as coffea has them, defined when everything is registered, given by `behavior=`."""
    own = dict(vector.backends.awkward.behavior)

    @ak.mixin_class(own)
    class Lepton(vector.backends.awkward.MomentumAwkward4D):
        @property
        def half(self):
            return self.pt / 2

        @ak.mixin_class_method(np.add, {"Lepton"})
        def add(self, other):
            sums = {axis: getattr(self, axis) + getattr(other, axis) for axis in ("px", "py", "pz", "E")}
            return ak.zip(sums, with_name="Lepton", behavior=self.behavior)

    @ak.mixin_class(own)
    class Tau(Lepton):
        def isolated(self, cut):
            return self[self.isolation < cut]

    awkward = vector.backends.awkward
    for name in ("Lepton", "Tau"):  # what vector makes of them when they are projected
        cls = own["*", name]
        cls.ProjectionClass2D, cls.ProjectionClass3D = awkward.VectorArray2D, awkward.VectorArray3D
        cls.ProjectionClass4D = cls.MomentumClass = own["*", "Lepton"]
    array = ak.with_field(POLAR, POLAR.pt / 100, "isolation")
    taus = ak.Array(ak.with_name(array, "Tau").layout, behavior=own)
    seen = []

    def names(t):
        seen.append([type(x).__name__ for x in (t, t[0, 0], t.isolated(0.04), t[:, ::-1], t.x)])
        return t

    result = jax.jit(names)(taus)
    assert seen == [["TauArray", "TauRecord", "TauArray", "TauArray", "Array"]]
    assert type(result).__name__ == type(jax.tree.map(lambda leaf: leaf, taus)).__name__ == "TauArray"
    assert type(jax.grad(lambda t: ak.sum(t.half))(taus)).__name__ == "TauArray"
    uses = {
        "property": lambda t: t.half,
        "method": lambda t: t.isolated(0.04).mass,
        "vector's": lambda t: t.deltaR(ak.firsts(t)),
        "overload": lambda t: t[:, :1] + t[:, :1],
        "of a record": lambda t: t[0, 0].half,
    }
    check_many(uses, taus, rtol=TOLERANCE)


def test_formulas_of_pairs_number_no_elements(monkeypatch):
    """Nothing moves between lists that both arguments have in common."""

    def numbered(*_):
        raise AssertionError

    monkeypatch.setattr(tracking.Table, "_numbers", numbered)

    def nearest(pairs):
        one, two = ak.unzip(pairs)
        return ak.min(one.deltaR(two), axis=2)

    pairs = ak.to_packed(ak.cartesian([POLAR, POLAR], nested=True))
    assert ak.almost_equal(jax.jit(nearest)(pairs), nearest(pairs), rtol=TOLERANCE)
