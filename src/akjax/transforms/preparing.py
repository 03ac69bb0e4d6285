"""Chunks prepared for a compiled function: what it uses of them is padded, and the rest is not looked at."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import awkward as ak
import jax

from ..highlevel.state import restore
from ..structure.columns import only_columns
from ..structure.envelope import GROWTH, Envelope, Padded, blank, rounded, sizes_of
from ..structure.spec import Path, Spec
from .traced import envelope_like, known, padded

# chunks of one stream are nearly alike, and what is not used costs time in proportion; but every step is a compilation:
# the sizes of a chunk that does not fit are multiplied by more each time
_ROOM = (1.0, 1.5, 4.0)
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

    def __call__(self, chunk: Any) -> Any:
        """A chunk, padded. In the place of a leaf that is not used there may be any numbers."""
        for columns in self._columns:
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
            target = self._targets[key] = _Target(type(chunk), spec, buffers, self._used)
            self._columns.append(_Columns(chunk, envelope, target))
        return self._targets[key].array(dict(enumerate(buffers)))

    def _envelope(self, sizes: Envelope) -> Envelope:
        if self._like is not None:
            self._envelopes.append(envelope_like(self._like))
            self._like = None
            return self._envelopes[0]
        fitting = [one for one in self._envelopes if one.excess(sizes) is None]
        smallest = min(fitting, key=lambda one: one.rows, default=None)
        if smallest is None:
            # grown from the largest before, so that another chunk like those before fits, too
            room = _ROOM[min(len(self._envelopes), len(_ROOM) - 1)]
            smallest = functools.reduce(operator.or_, self._envelopes, rounded(sizes.times(room), GROWTH))
        elif _wastes(smallest, sizes):
            smallest = rounded(sizes.times(_ROOM[-1]), GROWTH)
        else:
            return smallest
        self._envelopes.append(smallest)
        return smallest


def _wastes(envelope: Envelope, sizes: Envelope) -> bool:
    return envelope.rows > _MOST_WASTE * (sizes.rows + 1)


class _Target:
    """What chunks are made into: arrays of one structure and size, for which there is a compiled program."""

    def __init__(self, cls: type, spec: Spec, buffers: Sequence[Padded], used: Callable[[Any], Sequence[bool]]) -> None:
        self.spec = spec
        self._class = cls
        self._leaves: list[Any] = [jax.ShapeDtypeStruct(b.shape, b.dtype) for b in buffers]  # type: ignore[no-untyped-call]
        self.used = used(restore(cls, spec, self._leaves))
        # always the same ones, unless a function took their memory
        self._unused: dict[int, Any] = {}

    def array(self, buffers: Mapping[int, Padded]) -> Any:
        """An array over buffers, by the numbers of the leaves; those that are used are needed."""
        leaves: list[Any] = [None] * len(self._leaves)
        used = {number: buffer.made() for number, buffer in buffers.items() if self.used[number]}
        for number, leaf in zip(used, jax.device_put(list(used.values())), strict=True):
            leaves[number] = leaf
        for number, described in enumerate(self._leaves):
            if not self.used[number]:
                if number not in self._unused or self._unused[number].is_deleted():
                    self._unused[number] = jax.device_put(blank(described.shape, described.dtype))
                leaves[number] = self._unused[number]
        return restore(self._class, self.spec, leaves)


class _Columns:
    """What a function uses of chunks of one form, and how that is made into a target.

    Args:
        chunk: one of the chunks.
        envelope: in which it fits.
        target: what all of it is made into.
    """

    def __init__(self, chunk: Any, envelope: Envelope, target: _Target) -> None:
        self._class = type(chunk)
        self._form = chunk.layout.form
        self._target = target
        self._paths: frozenset[Path] = target.spec.columns(target.used)
        array, node, sizes = self._of(chunk)
        self._envelope = envelope.only(sizes)
        _, self._spec = padded(array, node, sizes, self._envelope)
        numbers = {place: number for number, place in enumerate(target.spec.first_places())}
        self._numbers = [numbers.get(place) for place in self._spec.first_places()]

    def _of(self, chunk: Any) -> Any:
        layout = only_columns(chunk.layout, self._paths)
        array = ak.Array(layout, behavior=chunk.behavior, attrs=chunk.attrs)
        node = known(array)
        return array, node, sizes_of(node)

    def padded(self, chunk: Any) -> Any:
        """A chunk made into the target, or None if it has another form, does not fit, or wastes room."""
        if type(chunk) is not self._class or not self._form.is_equal_to(chunk.layout.form, all_parameters=True):
            return None
        array, node, sizes = self._of(chunk)
        if self._envelope.excess(sizes) is not None or _wastes(self._envelope, sizes):
            return None
        buffers, spec = padded(array, node, sizes, self._envelope)
        if spec != self._spec:  # columns that line up in one chunk and not in the other
            return None
        pairs = zip(self._numbers, buffers, strict=True)
        return self._target.array({number: buffer for number, buffer in pairs if number is not None})
