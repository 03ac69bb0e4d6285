"""Which element belongs to which segment, and what the host knows about it."""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as np

from akjax.kernels._index import facts_of

__all__ = ["Segments"]


@dataclasses.dataclass(frozen=True, eq=False)
class Segments:
    """The segment number of each element, and the (static) number of segments.

    A NumPy ``parents`` is structure: it is inspected on the host and becomes a constant of the program. A JAX
    ``parents`` is a run-time value; it must lie in ``[0, length)`` (padding gets any parent in that range,
    and is left out with ``live``).

    Attributes:
        parents: segment number of each element, int32 or int64; NumPy (static) or JAX (traced).
        length: number of segments.
        sorted: whether ``parents`` is non-decreasing.
        bound: number of elements of the longest segment but the last, at most, when the parents are traced; the
            last one holds what stands for nothing.
        starts: where each segment starts, when the parents are traced and this is known.

    Example:
        >>> Segments(np.array([0, 0, 2]), 3).longest
        2
        >>> Segments(np.array([0, 0, 1, 1]), 2).regular_size
        2
    """

    parents: np.ndarray | jax.Array
    length: int
    sorted: bool = True
    bound: int | None = None
    starts: jax.Array | None = None

    def __post_init__(self) -> None:
        if isinstance(self.parents, np.ndarray) and self.parents.size:
            # sorted parents need two comparisons only, unsorted ones a pass over them
            low = self.parents[0] if self.sorted else self.parents.min()
            high = self.parents[-1] if self.sorted else self.parents.max()
            if low < 0 or high >= self.length:
                msg = f"parents between {low} and {high}, but there are {self.length} segments"
                raise ValueError(msg)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self.parents.shape[0])

    @property
    def static(self) -> bool:
        """Whether the parents are known on the host."""
        return isinstance(self.parents, np.ndarray)

    @property
    def index(self) -> np.ndarray | jax.Array:
        """The parents as an index: int32 when static, to halve the constant in the program."""
        return self._static_index if isinstance(self.parents, np.ndarray) else self.parents

    @property
    def column(self) -> np.ndarray | jax.Array:
        """The index as scatters and gathers take it: one object when static, so that a program holds it once."""
        return self._static_column if isinstance(self.parents, np.ndarray) else self.parents[:, None]

    @functools.cached_property
    def _static_column(self) -> np.ndarray:
        index = self._static_index
        return facts_of(index).column if index.size else index[:, None]

    @functools.cached_property
    def _static_index(self) -> np.ndarray:
        fits = self.length <= np.iinfo(np.int32).max
        return np.asarray(self.parents, dtype=np.int32 if fits else np.int64)

    @functools.cached_property
    def begins(self) -> np.ndarray | jax.Array | None:
        """Where each segment starts, if that is known."""
        if not isinstance(self.parents, np.ndarray):
            return self.starts
        known = np.searchsorted(self.parents, np.arange(self.length)).astype(np.int32)
        return known if self.sorted and self.size <= np.iinfo(np.int32).max else None

    @functools.cached_property
    def counts(self) -> np.ndarray | None:
        """Number of elements of each segment, when static."""
        if not isinstance(self.parents, np.ndarray):
            return None
        if self.sorted and 8 * self.length < self.size:  # a search is faster than a look at every element
            return np.diff(np.searchsorted(self.parents, np.arange(self.length + 1, dtype=self.parents.dtype)))
        return np.bincount(self.parents, minlength=self.length)

    @functools.cached_property
    def longest(self) -> int | None:
        """Number of elements of the longest segment, when static; a bound of it (but of the last one) when not."""
        counts = self.counts
        return self.bound if counts is None else int(counts.max(initial=0))

    @functools.cached_property
    def regular_size(self) -> int | None:
        """The common size when every segment is a contiguous run of the same size, else ``None``."""
        n, length = self.size, self.length
        if n == 0 or length == 0 or n % length:
            return None
        size = n // length
        if length == 1:
            return size
        parents = self.parents
        if not (self.sorted and isinstance(parents, np.ndarray)):
            return None
        # a few probes reject nearly every ragged array before the full comparison
        probes = np.linspace(0, length - 1, 16).astype(np.int64)
        if not (
            np.array_equal(parents[probes * size], probes) and np.array_equal(parents[probes * size + size - 1], probes)
        ):
            return None
        same = parents.reshape(length, size) == np.arange(length, dtype=parents.dtype)[:, None]
        return size if bool(same.all()) else None
