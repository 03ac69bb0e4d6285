"""A whole selection, hard cuts and then soft ones, differentiated with respect to ten parameters."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import akjax

akjax.register()

pytestmark = pytest.mark.skipif(not jax.config.jax_enable_x64, reason="compares in 64 bits")

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(4, 300)


def column(values: Any) -> ak.Array:
    return ak.unflatten(values, COUNTS)


EVENTS = ak.zip(
    {
        "weight": RNG.random(len(COUNTS)),
        "signal": RNG.random(len(COUNTS)) < 0.4,
        "jets": ak.zip(
            {
                "pt": column(RNG.exponential(35, COUNTS.sum())),
                "eta": column(RNG.normal(0, 1.5, COUNTS.sum())),
                "phi": column(RNG.uniform(-3, 3, COUNTS.sum())),
            }
        ),
    },
    depth_limit=1,
)
PARAMETERS = np.array([38.0, 6.0, 2.0, 0.4, 110.0, 25.0, 55.0, 9.0, 90.0, 30.0])


def passes(value: Any, threshold: Any, width: Any) -> Any:
    return 1 / (1 + np.exp(-(value - threshold) / width))


def significance(parameters: Any, events: ak.Array) -> Any:
    jets = events.jets[(events.jets.pt > 20) & (abs(events.jets.eta) < 2.8)]
    enough = ak.num(jets) >= 2
    jets, weight, signal = jets[enough], events.weight[enough], events.signal[enough]
    p = parameters
    soft = passes(jets.pt, p[0], p[1]) * passes(-abs(jets.eta), -p[2], p[3])
    one, two = ak.unzip(ak.combinations(ak.with_field(jets, soft, "soft"), 2))
    mass = np.sqrt(2 * one.pt * two.pt * (np.cosh(one.eta - two.eta) - np.cos(one.phi - two.phi)))
    window = np.exp(-(((mass - p[8]) / p[9]) ** 2)) * one.soft * two.soft
    event = passes(ak.sum(jets.pt * soft, axis=1), p[4], p[5]) * passes(ak.max(jets.pt, axis=1), p[6], p[7])
    kept = weight * event * ak.sum(window, axis=1)
    s, b = ak.sum(kept[signal]), ak.sum(kept[~signal])
    counts, _ = akjax.histogram(ak.sum(jets.pt * soft, axis=1), 5, (0, 300), weights=kept, bandwidth=p[5])
    return s / jnp.sqrt(s + b) + jnp.sum(counts**2) * 1e-3


def test_gradient_of_ten_parameters() -> None:
    compiled = jax.jit(significance)
    assert np.isclose(compiled(PARAMETERS, EVENTS), significance(PARAMETERS, EVENTS), rtol=1e-12)
    gradient = jax.jit(jax.grad(significance))(PARAMETERS, EVENTS)
    for k, slope in enumerate(gradient):
        step = 1e-3 * abs(PARAMETERS[k])
        at = [compiled(PARAMETERS + m * step * np.eye(10)[k], EVENTS) for m in (-2, -1, 1, 2)]
        numeric = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step)  # error of the order of step**4
        assert abs(slope - numeric) < 1e-6 * abs(numeric), (k, slope, numeric)
