"""The queries of the benchmark, as users write them: they can be traced, and count what they count eagerly."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from queries.awkward_queries import QUERIES
from queries.events import generate

import akjax

akjax.register()

EVENTS = generate(300)
BOTH = pytest.mark.parametrize("events", [EVENTS, akjax.traced(EVENTS)], ids=["exact", "traced"])


@pytest.mark.parametrize("name", QUERIES)
@BOTH
def test_traces(name: str, events: Any) -> None:
    found = jax.eval_shape(QUERIES[name], events)
    assert [counts.shape for counts in found] == [np.shape(counts) for counts in QUERIES[name](EVENTS)]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
@BOTH
def test_counts(name: str, events: Any) -> None:
    for found, expected in zip(jax.jit(QUERIES[name])(events), QUERIES[name](EVENTS), strict=True):
        # an entry at the edge of a bin may be on its other side
        assert np.abs(np.asarray(found) - np.asarray(expected)).sum() <= 2
