"""Each kernel next to the eager operation it stands for: one million lists of about three elements.

Run with `pytest benchmarks/bench_kernels.py` (pytest-benchmark).
"""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from akjax.kernels.elementary import FUNCTIONS
from akjax.kernels.extrema import segment_argmax, segment_max
from akjax.kernels.gather import take
from akjax.kernels.histogram import histogram
from akjax.kernels.segment import Segments, segment_any, segment_count_nonzero, segment_prod, segment_sum

jax.config.update("jax_enable_x64", True)

N_LISTS = 1_000_000
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(3, N_LISTS)
STARTS = np.cumsum(COUNTS) - COUNTS
PARENTS = np.repeat(np.arange(N_LISTS, dtype=np.int32), COUNTS)
RANK = np.arange(PARENTS.size) - STARTS[PARENTS]
DATA = RNG.normal(size=PARENTS.size)
LIVE = RNG.random(PARENTS.size) < 0.5
INDEX = RNG.integers(0, PARENTS.size, PARENTS.size)


def argmax(data: Any, segments: Segments, live: Any = None) -> jax.Array:
    return segment_argmax(data, segments, RANK, live)


KERNELS = {
    "sum": (segment_sum, ak.sum),
    "prod": (segment_prod, ak.prod),
    "max": (segment_max, ak.max),
    "argmax": (argmax, ak.argmax),
    "any": (segment_any, ak.any),
    "count_nonzero": (segment_count_nonzero, ak.count_nonzero),
}
DTYPES = [np.float32, np.float64]
static = Segments(PARENTS, N_LISTS)


def timed(benchmark: Any, f: Any, *args: Any) -> None:
    """Time the compiled function, not the compilation and not the transfer of its arguments."""
    compiled = jax.jit(f).lower(*args).compile()
    placed = jax.device_put(args)
    benchmark.pedantic(lambda: jax.block_until_ready(compiled(*placed)), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
class TestSegments:
    def test_eager_awkward(self, benchmark: Any, name: str, dtype: type) -> None:
        array = ak.unflatten(DATA.astype(dtype), COUNTS)
        benchmark.pedantic(lambda: KERNELS[name][1](array, axis=1), rounds=5, warmup_rounds=1)

    def test_static(self, benchmark: Any, name: str, dtype: type) -> None:
        timed(benchmark, lambda x: KERNELS[name][0](x, static), DATA.astype(dtype))

    def test_live(self, benchmark: Any, name: str, dtype: type) -> None:
        timed(benchmark, lambda x, m: KERNELS[name][0](x, static, m), DATA.astype(dtype), LIVE)

    def test_traced(self, benchmark: Any, name: str, dtype: type) -> None:
        def f(x: jax.Array, parents: jax.Array) -> jax.Array:
            return KERNELS[name][0](x, Segments(parents, N_LISTS))

        timed(benchmark, f, DATA.astype(dtype), PARENTS)


@pytest.mark.parametrize("name", ["sum", "prod", "max"])
def test_gradient(benchmark: Any, name: str) -> None:
    def loss(x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.tanh(KERNELS[name][0](x, static)))

    timed(benchmark, jax.grad(loss), DATA)


@pytest.mark.parametrize(("name", "ufunc"), [("sum", np.add), ("prod", np.multiply), ("max", np.maximum)])
def test_reduceat(benchmark: Any, name: str, ufunc: np.ufunc) -> None:
    nonempty = STARTS[COUNTS > 0]  # reduceat has no empty lists
    benchmark.pedantic(lambda: ufunc.reduceat(DATA, nonempty), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("parents", ["static", "traced"])
def test_long_float32_sum(benchmark: Any, parents: str) -> None:
    one = np.repeat(np.arange(2, dtype=np.int32), [10, 10_000_000])
    data = np.ones(one.size, dtype=np.float32)
    if parents == "static":
        timed(benchmark, lambda x: segment_sum(x, Segments(one, 2)), data)
    else:
        timed(benchmark, lambda x, p: segment_sum(x, Segments(p, 2)), data, one)


EDGES = {n: np.linspace(-3, 3, n + 1) for n in (10, 60)}


@pytest.mark.parametrize("nbins", EDGES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uniform", [True, False])
class TestHistogram:
    def test_akjax(self, benchmark: Any, dtype: type, nbins: int, uniform: bool) -> None:
        how = (-3.0, 3.0, nbins) if uniform else None
        values = DATA[:1_000_000].astype(dtype)
        timed(benchmark, lambda v: histogram(v, EDGES[nbins], uniform=how), values)

    def test_numpy(self, benchmark: Any, dtype: type, nbins: int, uniform: bool) -> None:
        values = DATA[:1_000_000].astype(dtype)
        bins, limits = (nbins, (-3.0, 3.0)) if uniform else (EDGES[nbins], None)
        benchmark.pedantic(lambda: np.histogram(values, bins=bins, range=limits), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("barrier", [False, True])
def test_take_computed(benchmark: Any, barrier: bool) -> None:
    """Gathering something computed: what the barrier is for."""

    def f(x: jax.Array) -> jax.Array:
        return take(jnp.cosh(x) * jnp.cos(x), INDEX, barrier=barrier)

    timed(benchmark, f, DATA)


def test_total_of_gathered(benchmark: Any) -> None:
    """A sum of something computed from gathered numbers."""
    one = Segments(np.zeros(INDEX.size, np.int32), 1)

    def f(x: jax.Array) -> jax.Array:
        return segment_sum(jnp.sqrt(take(x, INDEX) ** 2 + take(x, INDEX[::-1]) ** 2 + take(x, INDEX // 2) ** 2), one)

    timed(benchmark, f, DATA.astype(np.float32))


def test_take_numpy(benchmark: Any) -> None:
    benchmark.pedantic(lambda: (np.cosh(DATA) * np.cos(DATA))[INDEX], rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda ufunc: ufunc.__name__)
class TestElementary:
    """A million numbers: by polynomials, by XLA, and by NumPy."""

    def arguments(self, ufunc: Any, dtype: type) -> Any:
        return DATA[: ufunc.nin * 1_000_000].reshape(ufunc.nin, -1).astype(dtype)

    def test_akjax(self, benchmark: Any, ufunc: Any, dtype: type) -> None:
        timed(benchmark, FUNCTIONS[ufunc], *self.arguments(ufunc, dtype))

    def test_jax(self, benchmark: Any, ufunc: Any, dtype: type) -> None:
        timed(benchmark, getattr(jnp, ufunc.__name__), *self.arguments(ufunc, dtype))

    def test_numpy(self, benchmark: Any, ufunc: Any, dtype: type) -> None:
        x = self.arguments(ufunc, dtype)
        benchmark.pedantic(lambda: ufunc(*x), rounds=5, warmup_rounds=1)
