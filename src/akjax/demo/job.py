"""The job: the analysis eagerly and compiled, compared; the gradient, checked; the cuts, improved by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import awkward as ak
import jax
import numpy as np
import numpy.typing as npt

from akjax.demo.analysis import SCALES, figure_of_merit, histograms
from akjax.demo.loading import Loaded
from akjax.demo.optimise import Cuts, Step, climb
from akjax.demo.timing import Timing, measure

__all__ = ["Gradient", "Outcome", "run"]

START = {"pt": 30.0, "eta": 2.1, "iso": 0.8}
STEPS = 15

_RELATIVE, _ABSOLUTE = 1e-5, 1e-8
_DIFFERENCE = 1e-4

Counts = dict[str, npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Gradient:
    """The slope of the figure of merit in one cut, two ways.

    Attributes:
        compiled: By `jax.grad`.
        differences: By central finite differences of the eager function.
    """

    compiled: float
    differences: float

    @property
    def relative_difference(self) -> float:
        """0 where both are 0."""
        largest = max(abs(self.compiled), abs(self.differences))
        return abs(self.compiled - self.differences) / largest if largest > 0.0 else 0.0

    @property
    def agrees(self) -> bool:
        """Whether both are the same up to what finite differences can tell."""
        return bool(np.isclose(self.compiled, self.differences, rtol=_RELATIVE, atol=_ABSOLUTE))


@dataclass(frozen=True)
class Outcome:
    """All that the table and the picture show.

    Attributes:
        source: Where the events come from.
        events: How many.
        muons: How many are in them.
        device: What the compiled program ran on.
        way: The climb, from the first cuts to the last.
        tuned: The cuts that moved.
        before: Counts with the first cuts, compiled.
        after: Counts with the last ones, compiled.
        different_bins: How many counts, of both, are not those of eager Awkward.
        bins: How many were compared.
        histograms_eager: Times of the selection and the histograms.
        histograms_compiled: The same, compiled.
        merit_eager: Times of the figure of merit.
        merit_compiled: The same with its gradient, compiled.
        gradients: At the first cuts, by cut.
        notes: Lines for the user.
    """

    source: str
    events: int
    muons: int
    device: str
    way: list[Step]
    tuned: tuple[str, ...]
    before: Counts
    after: Counts
    different_bins: int
    bins: int
    histograms_eager: Timing
    histograms_compiled: Timing
    merit_eager: Timing
    merit_compiled: Timing
    gradients: dict[str, Gradient]
    notes: list[str] = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether all counts are equal and all gradients agree."""
        return self.different_bins == 0 and all(gradient.agrees for gradient in self.gradients.values())


def run(loaded: Loaded, steps: int = STEPS) -> Outcome:
    """Do everything but the printing and the drawing. Needs `akjax.register()` and JAX's 64-bit mode.

    Args:
        loaded: The events.
        steps: How many gradient steps to take.
    """
    events, notes = loaded.events, list(loaded.notes)
    start = {name: cut for name, cut in START.items() if name != "iso" or loaded.has_isolation}
    tuned = ("pt", "iso") if loaded.has_isolation else ("pt", "eta")

    compiled_histograms = jax.jit(histograms)
    eager, histograms_eager = measure(histograms, events, start)
    compiled, histograms_compiled = measure(compiled_histograms, events, start)
    before = _counts(compiled)
    compared = [(_counts(eager), before)]

    value_and_gradient = jax.jit(jax.value_and_grad(figure_of_merit, argnums=1))
    _, merit_eager = measure(figure_of_merit, events, start)
    (merit, slopes), merit_compiled = measure(value_and_gradient, events, start)
    gradients = {
        name: Gradient(float(slopes[name]), _slope(lambda cuts: figure_of_merit(events, cuts), start, name))
        for name in tuned
    }

    if int(before["pairs"]) == 0:
        notes.append("the first cuts leave no muon pair of opposite charge: the histograms before the steps are empty")
    if all(gradient.compiled == 0.0 for gradient in gradients.values()):
        notes.append("no pair near the Z that the cuts could keep or lose: no slope to follow, no step taken")
        steps = 0
    elif float(merit) <= 0.0:
        notes.append("no more pairs in the Z window than the sidebands foretell: no peak, no step taken")
        steps = 0
    way = climb(lambda cuts: value_and_gradient(events, cuts), start, tuned, steps)
    after = _counts(compiled_histograms(events, way[-1].cuts))
    compared.append((_counts(histograms(events, way[-1].cuts)), after))

    return Outcome(
        source=loaded.source,
        events=len(events),
        muons=int(ak.sum(ak.num(events.Muon))),
        device=f"{jax.default_backend()}, {np.asarray(merit).dtype}",
        way=way,
        tuned=tuned,
        before=before,
        after=after,
        different_bins=sum(_different(one[name], two[name]) for one, two in compared for name in one),
        bins=sum(one[name].size for one, _ in compared for name in ("spectrum", "z")),
        histograms_eager=histograms_eager,
        histograms_compiled=histograms_compiled,
        merit_eager=merit_eager,
        merit_compiled=merit_compiled,
        gradients=gradients,
        notes=notes,
    )


def _counts(result: dict[str, Any]) -> Counts:
    return {name: np.asarray(value) for name, value in result.items()}


def _different(one: npt.NDArray[np.int64], two: npt.NDArray[np.int64]) -> int:
    return int(np.count_nonzero(one != two))


def _slope(function: Callable[[Cuts], Any], cuts: Cuts, name: str) -> float:
    """The slope by central finite differences."""
    h = _DIFFERENCE * SCALES[name]
    above, below = (float(function({**cuts, name: cuts[name] + sign * h})) for sign in (1, -1))
    return (above - below) / (2 * h)
