"""One home per `ak.*` function: importing this package fills the registry."""

from . import (
    broadcasting,
    combinatorics,
    converting,
    describing,
    histograms,
    lengths,
    missing,
    moving,
    records,
    reducers,
    sorting,
    statistics,
)

__all__ = [
    "broadcasting",
    "combinatorics",
    "converting",
    "describing",
    "histograms",
    "lengths",
    "missing",
    "moving",
    "records",
    "reducers",
    "sorting",
    "statistics",
]
