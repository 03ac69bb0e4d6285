"""Chunks prepared for a compiled function: what it uses of them is padded, and the rest is not looked at."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import awkward as ak
import jax

from ..algorithms.runtime import at_run_time
from ..algorithms.ufuncs import canonical as jax_dtype
from ..highlevel.state import is_traced, restore
from ..nodes.kinds import Frozen, Live
from ..nodes.static import Static
from ..structure.columns import form_of, only_columns
from ..structure.envelope import GROWTH, Envelope, rounded, sizes_of
from ..structure.from_layout import from_layout
from ..structure.memory import Pool, blank
from ..structure.padding import Lengths, Padded, fitted
from ..structure.spec import Path, Spec, canonical
from .traced import envelope_like, known, padded

# Chunks of one stream are nearly alike, and what is not used costs time in proportion; but every step is a compilation:
# the sizes of a chunk that does not fit are multiplied by more each time. The length of the longest list differs most.
_ROOM = (1.04, 1.5, 4.0)
_LONGEST = 1.2
# a chunk that would use very little gets sizes of its own
_MOST_WASTE = 64


class Prepared:
    """Makes chunks into arrays with run-time structure, of few sizes.

    Args:
        used: which leaves of an array (it is given one without data) a function uses.
        like: what `traced` takes as `like`: sizes to begin with.
    """

    def __init__(self, used: Callable[[Any], Sequence[bool]], like: Any = None) -> None:
        self._used = used
        self._like = like
        self._envelopes: list[Envelope] = []
        self._targets: dict[Any, _Target] = {}
        self._columns: list[_Columns] = []
        self._pool = Pool()

    def __call__(self, chunk: Any) -> Any:
        """A chunk, padded. In the place of a leaf that is not used there may be any numbers."""
        form = form_of(chunk.layout) if isinstance(chunk, ak.Array) and not is_traced(chunk) else None
        for columns in self._columns:
            if columns.are_of(chunk, form):
                found = columns.padded(chunk)
                if found is not None:
                    return found
        # the first chunk of its form or of its sizes: all of it is looked at
        node = known(chunk)
        sizes = sizes_of(node)
        envelope = self._envelope(sizes)
        buffers, spec = padded(chunk, node, sizes, envelope)
        key = (type(chunk), spec, *((buffer.shape, buffer.dtype) for buffer in buffers))
        if key not in self._targets:
            target = self._targets[key] = _Target(type(chunk), spec, buffers, self._used, self._pool)
            self._of(chunk, form, spec.columns(target.used)).learn(target)
        return self._targets[key].array(dict(enumerate(buffers)))

    def _of(self, chunk: Any, form: Any, paths: frozenset[Path]) -> _Columns:
        for columns in self._columns:
            if columns.are_of(chunk, form, paths):
                return columns
        self._columns.append(_Columns(chunk, paths))
        return self._columns[-1]

    def _envelope(self, sizes: Envelope) -> Envelope:
        if self._like is not None:
            self._envelopes.append(envelope_like(self._like))
            self._like = None
            return self._envelopes[0]
        fitting = [one for one in self._envelopes if one.excess(sizes) is None]
        smallest = min(fitting, key=lambda one: one.rows, default=None)
        if smallest is None:
            # grown from the largest before, so that another chunk like those before fits, too
            grown = _grown(sizes, _ROOM[min(len(self._envelopes), len(_ROOM) - 1)])
            smallest = functools.reduce(operator.or_, self._envelopes, grown)
        elif _wastes(smallest.rows, sizes.rows):
            smallest = _grown(sizes, _ROOM[-1])
        else:
            return smallest
        self._envelopes.append(smallest)
        return smallest


def _grown(sizes: Envelope, room: float) -> Envelope:
    return rounded(sizes.times(room, max(room, _LONGEST)), GROWTH)


def _wastes(room: int, rows: int) -> bool:
    return room > _MOST_WASTE * (rows + 1)


class _Target:
    """What chunks are made into: arrays of one structure and size, for which there is a compiled program."""

    def __init__(
        self, cls: type, spec: Spec, buffers: Sequence[Padded], used: Callable[[Any], Sequence[bool]], pool: Pool
    ) -> None:
        self.spec = spec.as_fresh(True)
        skeleton: Any = spec.skeleton()
        self.skeleton: Live = skeleton
        self.rows: int = buffers[skeleton.dead.number].shape[0]
        self._class = cls
        self._pool = pool
        described = [jax.ShapeDtypeStruct(b.shape, jax_dtype(b.dtype)) for b in buffers]  # type: ignore[no-untyped-call]
        self.used = used(restore(cls, self.spec, described))
        # what a program does not use stays on the host
        self._unused = [None if used else blank(b.shape, b.dtype) for used, b in zip(self.used, buffers, strict=True)]

    def array(self, buffers: Mapping[int, Padded]) -> Any:
        """An array over buffers, by the numbers of the leaves; those that are used are needed."""
        leaves: list[Any] = list(self._unused)
        for number, buffer in buffers.items():
            if self.used[number]:  # the call puts it on the device, in a tenth of the time that `jax.device_put` takes
                leaves[number] = buffer.made(self._pool.blank)
        return restore(self._class, self.spec, leaves)


class _Columns:
    """What a function uses of chunks of one form, and what that is made into.

    Args:
        chunk: one of the chunks.
        paths: the places of the columns.
    """

    def __init__(self, chunk: Any, paths: frozenset[Path]) -> None:
        self._class = type(chunk)
        self._form = form_of(chunk.layout)
        self._paths = paths
        self._targets: list[_Target] = []

    def are_of(self, chunk: Any, form: Any, paths: frozenset[Path] | None = None) -> bool:
        """Whether a chunk is of this class and form (and its columns are at these places)."""
        return type(chunk) is self._class and paths in (None, self._paths) and form == self._form

    def learn(self, target: _Target) -> None:
        """Note what a chunk was made into as a whole."""
        self._targets.append(target)
        self._targets.sort(key=lambda one: one.rows)

    def padded(self, chunk: Any) -> Any:
        """A chunk of this form made into a target, or None if there is none that it fits, or not without waste."""
        layout = only_columns(chunk.layout, self._paths)
        node = at_run_time(canonical(from_layout(layout, offsets=Static)))
        attrs = Frozen(dict(chunk.attrs) or None)
        lengths = Lengths()
        for target in self._targets:
            of_another = target.spec.attrs != attrs or not target.spec.has_behavior(chunk.behavior)
            if of_another or _wastes(target.rows, node.length):
                continue
            found = fitted(node, target.skeleton, target.rows, lengths)
            if found is not None:
                return target.array(found)
        return None
