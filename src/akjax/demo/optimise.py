"""A few steps of gradient ascent on the cuts, with a progress bar."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from akjax.demo.analysis import SCALES

__all__ = ["BOUNDS", "Step", "climb"]

BOUNDS = {"pt": (3.0, 80.0), "eta": (0.3, 2.5), "iso": (0.02, 3.0)}
"""Where a cut may go."""

_FIRST_STEP, _LONGER, _SHORTER = 1.5, 1.4, 0.4

Cuts = dict[str, float]
ValueAndGradient = Callable[[Cuts], tuple[float, Cuts]]


@dataclass(frozen=True)
class Step:
    """Where the climb is.

    Attributes:
        value: The figure of merit.
        cuts: At these cuts.
        gradient: Its slope there.
    """

    value: float
    cuts: Cuts
    gradient: Cuts


def climb(function: ValueAndGradient, cuts: Cuts, names: Iterable[str], steps: int) -> list[Step]:
    """Follow the gradient uphill: longer steps while it goes up, and shorter ones where it does not.

    Args:
        function: Gives the figure of merit and its slope in every cut.
        cuts: Where to start.
        names: Which cuts to move.
        steps: How often to try.

    Returns:
        The start, and every place that was better than the one before.
    """
    names = list(names)
    way = [Step(*_at(function, cuts))]
    if steps == 0:
        return way
    length = _FIRST_STEP
    with progress_bar(steps) as bar:
        for _ in range(steps):
            here = way[-1]
            there = _move(here, names, length)
            trial = Step(*_at(function, there))
            if math.isfinite(trial.value) and trial.value > here.value:
                way.append(trial)
                length *= _LONGER
            else:
                length *= _SHORTER
            bar.show(way[-1], names)
    return way


def _at(function: ValueAndGradient, cuts: Cuts) -> tuple[float, Cuts, Cuts]:
    value, gradient = function(cuts)
    return float(value), dict(cuts), {name: float(slope) for name, slope in gradient.items()}


def _move(here: Step, names: list[str], length: float) -> Cuts:
    """One step of a given length, in units of the soft edges of the cuts."""
    uphill = {name: here.gradient[name] * SCALES[name] for name in names}
    norm = math.hypot(*uphill.values())
    there = dict(here.cuts)
    for name in names:
        low, high = BOUNDS[name]
        if norm > 0.0:
            moved = here.cuts[name] + length * SCALES[name] * uphill[name] / norm
            there[name] = min(max(moved, low), high)
    return there


class _Bar(Protocol):
    def __enter__(self) -> _Bar: ...

    def __exit__(self, *error: object) -> None: ...

    def show(self, step: Step, names: list[str]) -> None: ...


def progress_bar(steps: int) -> _Bar:
    """A bar where tqdm is installed, otherwise a printed line for each step."""
    try:
        from tqdm import tqdm
    except ImportError:
        return _Lines(steps)
    return _Tqdm(tqdm(total=steps, desc="gradient steps", unit="step"))


def _where(step: Step, names: list[str]) -> str:
    cuts = ", ".join(f"{name} {step.cuts[name]:.3g}" for name in names)
    return f"figure of merit {step.value:.3f}, {cuts}"


class _Tqdm:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __enter__(self) -> _Tqdm:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def show(self, step: Step, names: list[str]) -> None:
        self._bar.set_postfix_str(_where(step, names), refresh=False)
        self._bar.update(1)


class _Lines:
    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._done = 0

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def show(self, step: Step, names: list[str]) -> None:
        self._done += 1
        print(f"gradient step {self._done} of {self._steps}: {_where(step, names)}", flush=True)
