"""What the user sees: a table in the terminal and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from akjax.demo.analysis import SIDEBANDS, SPECTRUM_BINS, SPECTRUM_RANGE, WINDOW, Z_BINS, Z_MASS, Z_RANGE
from akjax.demo.errors import DemoError
from akjax.demo.job import Outcome
from akjax.demo.timing import Timing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw", "need_matplotlib", "table"]

FORMATS = {"pt": ".1f", "eta": ".2f", "iso": ".3f"}
SYMBOLS = {"pt": "$p_T$ > {} GeV", "eta": "$|\\eta|$ < {}", "iso": "isolation < {}"}
WORDS = {"pt": "muon pt above, GeV", "eta": "muon |eta| below", "iso": "muon isolation below"}
PEAKS = {r"$J/\psi$": 3.0969, r"$\Upsilon$(nS)": 9.4604, "Z": Z_MASS}

_BEFORE, _AFTER = "#8c96a3", "#0b6bb8"
_BANDS: dict[str, dict[str, Any]] = {
    "Z window": {"color": "#f2b134", "alpha": 0.22, "lw": 0},
    "sideband": {"color": "#5f8a5b", "alpha": 0.16, "lw": 0},
}


def need_matplotlib() -> None:
    """Say what to install where matplotlib is missing.

    Raises:
        DemoError: It is.
    """
    if find_spec("matplotlib") is None:
        msg = 'the picture needs matplotlib: pip install "akjax[plot]"'
        raise DemoError(msg)


def table(outcome: Outcome) -> str:
    """The numbers, as lines of text."""
    first, last = outcome.way[0], outcome.way[-1]
    selection = [(WORDS[name], _cut(name, first.cuts[name]), _cut(name, last.cuts[name])) for name in first.cuts]
    selection += [
        (label, str(int(outcome.before[name])), str(int(outcome.after[name])))
        for name, label in (
            ("events", "events with two such muons"),
            ("muons", "muons in them"),
            ("pairs", "pairs of opposite charge"),
        )
    ]
    selection.append(("figure of merit, soft cuts", _merit(first.value), _merit(last.value)))
    times = [
        ("selection and histograms", *_times(outcome.histograms_eager, outcome.histograms_compiled)),
        ("figure of merit *", *_times(outcome.merit_eager, outcome.merit_compiled)),
    ]
    gradients = [
        (
            f"per {name} cut",
            f"{gradient.compiled + 0.0:.9g}",
            f"{gradient.differences + 0.0:.9g}",
            f"{gradient.relative_difference:.1e}",
        )
        for name, gradient in outcome.gradients.items()
    ]
    equal = (
        f"all {outcome.bins} bins equal eager Awkward's"
        if outcome.different_bins == 0
        else f"{outcome.different_bins} counts of {outcome.bins} bins DIFFER from eager Awkward's"
    )
    lines = [
        f"{_events(outcome)}, {_number(outcome.muons, 'muon')} ({outcome.device})",
        "",
        *_columns(("cuts and counts", "first", "last"), selection),
        "",
        *_columns(("time, median of a call", "eager", "compiled", "ratio", "first call"), times),
        "  * compiled: with its gradient; the first call of a compiled function traces and compiles it",
        "",
        *_columns(("slope of the figure of merit", "jax.grad", "differences", "relative"), gradients),
        "",
        f"histograms: {equal}",
    ]
    if not all(gradient.agrees for gradient in outcome.gradients.values()):
        lines.append("gradient: does NOT agree with finite differences")
    lines += [f"note: {note}" for note in outcome.notes]
    return "\n".join(lines)


def _events(outcome: Outcome) -> str:
    return f"{outcome.source}: {_number(outcome.events, 'event')}"


def _number(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _merit(value: float) -> str:
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def _cut(name: str, value: float) -> str:
    return f"{value:{FORMATS[name]}}"


def _times(eager: Timing, compiled: Timing) -> tuple[str, str, str, str]:
    ratio = f"{eager.median / compiled.median:.1f} x" if compiled.median > 0.0 else "-"
    return _seconds(eager.median), _seconds(compiled.median), ratio, _seconds(compiled.first)


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{1e3 * seconds:.3g} ms"


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table: the first column to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(30 if i == 0 else 11, *(len(line[i]) for line in lines)) for i in range(len(header))]
    text = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    return [text[0], "-" * len(text[0]), *text[1:]]


def draw(outcome: Outcome, path: Path) -> None:
    """Draw the dimuon mass before and after the steps: the whole spectrum, and around the Z.

    Args:
        outcome: What to draw.
        path: The PNG to write.
    """
    # not pyplot: it would choose a window system
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5.4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _draw_spectrum(left, outcome)
    _draw_z(right, outcome)
    figure.suptitle(f"Muon pairs of opposite charge, before and after the gradient steps\n{_events(outcome)}")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", frameon=False)
    figure.savefig(path)


def _draw_spectrum(axes: Axes, outcome: Outcome) -> None:
    edges = 10 ** np.linspace(*SPECTRUM_RANGE, SPECTRUM_BINS + 1)
    top = _draw_steps(axes, outcome, "spectrum", edges)
    axes.set_xscale("log")
    axes.set_xlim(edges[0], edges[-1])
    if top > 0:
        axes.set_yscale("log")
        axes.set_ylim(0.6, 4.0 * top)
    else:
        axes.set_ylim(0.0, 1.0)
    ticks = [1, 2, 5, 10, 20, 50, 100, 200]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("dimuon mass [GeV]")
    axes.set_ylabel(f"pairs / ({10 ** (SPECTRUM_RANGE[1] / SPECTRUM_BINS) - 1:.1%} of the mass)")
    axes.set_title("the whole spectrum", fontsize="medium")
    for name, mass in PEAKS.items():
        at = int(np.searchsorted(edges, mass)) - 1
        near = slice(at - 2, at + 3)
        height = max(int(counts["spectrum"][near].max()) for counts in (outcome.before, outcome.after))
        if height > 0:
            axes.annotate(name, (mass, 1.4 * height), ha="center", fontsize="large")


def _draw_z(axes: Axes, outcome: Outcome) -> None:
    edges = np.linspace(*Z_RANGE, Z_BINS + 1)
    top = _draw_steps(axes, outcome, "z", edges)
    near, far = SIDEBANDS
    bands = (("Z window", -WINDOW, WINDOW), ("sideband", -far, -near), ("sideband", near, far))
    for name, low, high in bands:
        axes.axvspan(Z_MASS + low, Z_MASS + high, **_BANDS[name])
        at = (Z_MASS + (low + high) / 2, 0.97)
        axes.text(*at, name, transform=axes.get_xaxis_transform(), ha="center", va="top", color="#555555")
    axes.set_xlim(*Z_RANGE)
    axes.set_ylim(0.0, 1.25 * max(top, 1))
    axes.set_xlabel("dimuon mass [GeV]")
    axes.set_ylabel(f"pairs / ({(Z_RANGE[1] - Z_RANGE[0]) / Z_BINS:g} GeV)")
    axes.set_title("around the Z", fontsize="medium")


def _draw_steps(axes: Axes, outcome: Outcome, name: str, edges: Any) -> int:
    """Draw a histogram before and after, and give the height of the highest bin."""
    first, last = outcome.way[0], outcome.way[-1]
    axes.stairs(
        outcome.before[name],
        edges,
        fill=True,
        color=_BEFORE,
        alpha=0.65,
        label=_legend("before", first.cuts, first.value),
    )
    axes.stairs(outcome.after[name], edges, color=_AFTER, lw=1.6, label=_legend("after", last.cuts, last.value))
    axes.spines[["top", "right"]].set_visible(False)
    highest = max(int(counts[name].max()) for counts in (outcome.before, outcome.after))
    if highest == 0:
        axes.text(0.5, 0.5, "no muon pairs", ha="center", transform=axes.transAxes, color="#666666")
    return highest


def _legend(word: str, cuts: dict[str, float], value: float) -> str:
    text = ", ".join(SYMBOLS[name].format(_cut(name, cut)) for name, cut in cuts.items())
    return f"{word}: {text}; figure of merit {value:.2f}"
