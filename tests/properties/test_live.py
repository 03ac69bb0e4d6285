"""Random arrays, random masks: a function of what traced conditions select answers as it does eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from oracle import check

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not jax.config.jax_enable_x64, reason="compares in 64 bits"),
]

FEW = settings(max_examples=3, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

NUMBERS = st.floats(-8, 8, width=32).map(lambda v: round(v, 2))
# structures repeat, so that what has been compiled is used again
COUNTS = st.sampled_from([[3, 0, 2, 1], [0, 0], [1], [4], [0, 2, 2], []])


@st.composite
def selected(draw: st.DrawFn) -> tuple[ak.Array, ak.Array, ak.Array, ak.Array]:
    """Records in lists, two masks of their structure, and a mask of the rows."""
    counts = draw(COUNTS)
    size = sum(counts)

    def lists(elements: st.SearchStrategy[Any], dtype: Any) -> ak.Array:
        values = draw(st.lists(elements, min_size=size, max_size=size))
        return ak.unflatten(np.array(values, dtype), np.array(counts, np.int64))

    records = ak.zip({"a": lists(NUMBERS, float), "b": lists(NUMBERS, float), "n": lists(st.integers(-3, 3), int)})
    masks = [lists(st.booleans(), bool) for _ in range(2)]
    rows = draw(st.lists(st.booleans(), min_size=len(counts), max_size=len(counts)))
    return records, *masks, ak.Array(np.array(rows, bool))


REDUCERS = (
    ak.sum,
    ak.prod,
    ak.min,
    ak.max,
    ak.any,
    ak.all,
    ak.count,
    ak.count_nonzero,
    ak.mean,
    ak.var,
    ak.std,
    ak.ptp,
)

OPERATIONS: dict[str, Callable[[ak.Array], Any]] = {
    "itself": lambda s: s,
    "field": lambda s: s.a * 2 + s.n,
    "lists": lambda s: ak.num(s),
    "positions": lambda s: (ak.argmin(s.a, axis=1), ak.argmax(s.n, axis=-1)),
    "flatten": lambda s: ak.flatten(s),
    "all flat": lambda s: (ak.flatten(s, axis=None), ak.ravel(s.n)),
    "pairs": lambda s: ak.combinations(s, 2, fields=["x", "y"]),
    "pairs of pairs": lambda s: (lambda p: p[p.x.a < p.y.b])(ak.combinations(s, 2, fields=["x", "y"])),
    "triples": lambda s: ak.max(ak.combinations(s.a, 3)["2"], axis=1),
    "product": lambda s: ak.cartesian({"x": s.a, "y": s.n}),
    "zip": lambda s: ak.zip({"x": s.a, "k": ak.num(s), "m": ak.max(s.b, axis=1)}),
    "columns": lambda s: ak.zip({"x": s.a, "m": ak.max(s.b, axis=1)}, depth_limit=1),
    "with_field": lambda s: ak.with_field(s, s.a - ak.mean(s.b, axis=1), "d"),
    "where": lambda s: ak.where(s.a > s.b, s.n, ak.num(s)),
    "where missing": lambda s: ak.where(s.a > s.b, ak.mask(s.a, s.n > 0), s.b),
    "mask": lambda s: (lambda k: (k, ak.is_none(k, axis=1), ak.fill_none(k, 0.0), ak.drop_none(k)))(
        ak.mask(s.a, s.b > 0)
    ),
    "missing maxima": lambda s: (lambda k: (ak.is_none(k), ak.fill_none(k, -1), ak.drop_none(k)))(ak.max(s.a, axis=1)),
    "firsts": lambda s: ak.firsts(s),
    "slices": lambda s: (s[:, :1], s[:, 1:], s[:, -2:], s[:, ::2].a, s[1:]),
    "again": lambda s: s[s.a > s.b][s[s.a > s.b].n > 0],
    "rows": lambda s: s[ak.num(s) > 1],
    "rows by maxima": lambda s: s[ak.max(s.a, axis=1) > 0],
    "rows of elements": lambda s: (lambda g: g[ak.any(g.n > 0, axis=1)].b)(s[s.a > s.b]),
    "fractions": lambda s: s.a / ak.sum(abs(s.b) + 1, axis=1, keepdims=True),
    "backwards": lambda s: (s[:, ::-1].n, s[:, -1:0:-1].a, s[::-1].a),
    "rows by number": lambda s: s[0:1].a,
    "sort": lambda s: (ak.sort(s.a), ak.sort(s.n, ascending=False), ak.argsort(s.n), s[ak.argsort(s.a)]),
    "sort missing": lambda s: (lambda k: (ak.sort(k), ak.argsort(k)))(ak.mask(s.n, s.a > 0)),
    "best": lambda s: (s[ak.argmax(s.n, axis=1, keepdims=True)].a, ak.firsts(s[ak.argmin(s.a, axis=1, keepdims=True)])),
    "pad": lambda s: (ak.pad_none(s, 2), ak.pad_none(s.n, 2, clip=True), ak.pad_none(s.a, 6, axis=0)),
    "join": lambda s: (ak.concatenate([s, s[s.a > 0]], axis=1), ak.concatenate([s.a, s.n], axis=0)),
    "positions in lists": lambda s: (ak.local_index(s), ak.local_index(s, axis=0), s.n[ak.local_index(s.n)]),
    "numbered pairs": lambda s: (lambda p: (p.i, s[p.i].n - s[p.j].n))(ak.argcombinations(s, 2, fields=["i", "j"])),
    "nested product": lambda s: ak.cartesian([s.a, s[s.n > 0].n], nested=True),
    "closest": lambda s: (lambda a, b: ak.min(abs(a - b), axis=2))(*ak.unzip(ak.cartesian([s.a, s.b], nested=True))),
    "columns of lists": lambda s: (ak.sum(s.a, axis=0), ak.max(s.n, axis=0), ak.argmax(s.a, axis=0)),
    "runs": lambda s: ak.run_lengths(s.n),
    "unflatten": lambda s: ak.unflatten(ak.flatten(s.a), ak.num(s)),
    "singletons": lambda s: ak.singletons(ak.max(s.a, axis=1)),
    "other cuts": lambda s: s.a[s.n > 0] + s.b[~(s.n <= 0)],
    "broadcast maxima": lambda s: s.a - ak.max(s.a, axis=1, keepdims=True),
    "deep": lambda s: (lambda p: (ak.sum(p, axis=1), ak.sort(p), p[:, :1], ak.pad_none(p, 2)))(
        ak.cartesian([s.a, s.b], nested=True)["1"]
    ),
    "histogram": lambda s: np.histogram(ak.flatten(s.a), 4, (-8, 8), weights=ak.flatten(s.b)),
    "unzip": lambda s: ak.unzip(s),
    **{f.__name__: lambda s, f=f: f(s.a, axis=1) for f in REDUCERS},
    **{f"{f.__name__} of all": lambda s, f=f: f(s.n) for f in REDUCERS if f not in (ak.min, ak.max, ak.ptp)},
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("how", ["elements", "twice", "rows", "both"])
@given(selected())
@FEW
def test_operations(how: str, name: str, arrays: tuple[ak.Array, ...]) -> None:
    operation = OPERATIONS[name]

    def f(s: ak.Array, one: ak.Array, two: ak.Array, rows: ak.Array) -> Any:
        match how:
            case "elements":
                return operation(s[one])
            case "twice":
                return operation(s[one][two[one]])
            case "rows":
                return operation(s[rows])
            case _:
                return operation(s[one][rows][two[one][rows]])

    check(f, *arrays, types=name != "histogram", rtol=1e-7)
