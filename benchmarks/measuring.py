"""How the programs here take times: side by side in one process, taking turns, what is done once apart."""

from __future__ import annotations

import gc
import importlib.metadata
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax

__all__ = ["Contender", "Times", "machine", "measure"]

_STAGES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_FEWEST = 3


@dataclass(frozen=True)
class Contender:
    """One way to do something.

    Attributes:
        prepare: Makes the arguments of `run`: conversions, copies to the device. Not part of its time.
        run: What is timed.
    """

    prepare: Callable[[], tuple[Any, ...]]
    run: Callable[..., Any]


@dataclass
class Times:
    """Seconds.

    Attributes:
        prepare: Of the conversion of the input.
        first: Of the first call: tracing, lowering, compiling (in part listed as such) and one run.
        trace, lower, compile: Parts of the first call, as JAX reports them; 0 where there are none.
        median, low, high: Of the calls after it: the median, and the first and third quartile.
        repeats: How many those were.
        error: What went wrong instead.
    """

    prepare: float = 0.0
    first: float = 0.0
    trace: float = 0.0
    lower: float = 0.0
    compile: float = 0.0
    median: float = 0.0
    low: float = 0.0
    high: float = 0.0
    repeats: int = 0
    error: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class _Stages:
    """What JAX says about the time it takes to make programs."""

    def __init__(self) -> None:
        self.of: dict[str, float] = {}
        jax.monitoring.register_event_duration_secs_listener(self._listen)

    def _listen(self, event: str, duration: float, **_: Any) -> None:
        stage = _STAGES.get(event)
        if stage == "compile":
            self.of[stage] = self.of.get(stage, 0.0) + duration
        elif stage is not None:  # of nested functions the outermost one, which takes longest
            self.of[stage] = max(self.of.get(stage, 0.0), duration)


_stages = _Stages()


def _clocked(f: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = jax.block_until_ready(f(*args))
    return result, time.perf_counter() - start


def measure(
    contenders: Mapping[str, Contender],
    check: Callable[[str, Any], str],
    *,
    repeats: int,
    seconds: float,
) -> dict[str, Times]:
    """Check that all do the same, then time them in turns.

    Args:
        contenders: By name.
        check: Of a name and its result: what is wrong with it, or nothing.
        repeats: How often each is called.
        seconds: What one may take in all, but it is called three times at least.

    Returns:
        The times of each; one that raises, or gives a wrong result, has an `error` and no times.
    """
    found: dict[str, Times] = {}
    arguments: dict[str, tuple[Any, ...]] = {}
    for name, contender in contenders.items():
        times = found[name] = Times()
        try:
            arguments[name], times.prepare = _clocked(contender.prepare)
            _stages.of.clear()
            result, times.first = _clocked(contender.run, *arguments[name])
            times.trace, times.lower, times.compile = (_stages.of.get(s, 0.0) for s in _STAGES.values())
            times.error = check(name, result)
        except Exception as error:  # the others are worth measuring all the same
            times.error = f"{type(error).__name__}: {error}"
    running = {name: list[float]() for name, times in found.items() if not times.error}
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            for name, taken in running.items():
                if len(taken) < _FEWEST or sum(taken) < seconds:
                    taken.append(_clocked(contenders[name].run, *arguments[name])[1])
    finally:
        gc.enable()
    for name, taken in running.items():
        times = found[name]
        times.median, times.repeats = statistics.median(taken), len(taken)
        times.low, _, times.high = statistics.quantiles(taken, n=4, method="inclusive") if len(taken) > 1 else taken * 3
    return found


def machine() -> dict[str, Any]:
    """What the numbers belong to: processor, cores, versions, device, and how busy the machine is."""
    versions = {}
    for package in ("jax", "jaxlib", "awkward", "numpy", "numba", "vector"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
        "device": str(jax.devices()[0].device_kind),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": versions,
    }


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    if known.exists():
        for line in known.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
