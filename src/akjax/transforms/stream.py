"""`akjax.stream`: one compiled function over many chunks of data."""

from __future__ import annotations

import collections
import functools
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeAlias

import awkward as ak
import jax
import numpy as np

from ..structure.envelope import Envelope, rounded
from .traced import sizes_in, traced

Combine: TypeAlias = Callable[[Any, Any], Any]

# buckets of a stream grow in larger steps than those of one array, for every step is a compilation; what is
# not used costs time in proportion, so a chunk that would use very little gets smaller ones of its own
_GROWTH = 4.0
_MOST_WASTE = 64
_IN_FLIGHT = 2


class ChunkWarning(UserWarning):
    """`akjax.stream` has left out a chunk that could not be read or computed.

    Example:
        >>> import akjax
        >>> issubclass(akjax.ChunkWarning, UserWarning)
        True
    """


def stream(
    function: Callable[..., Any],
    chunks: Iterable[Any],
    *args: Any,
    combine: Combine | None = None,
    preselect: Callable[..., Any] | None = None,
    like: Any = None,
    on_error: Literal["raise", "skip"] = "raise",
    progress: bool = False,
) -> Any:
    """Run a function over chunks of events and combine the results.

    Every chunk is padded (see `traced`) to one of few sizes, so that the function is compiled a few times however
    many chunks there are. While a chunk is computed the next one is prepared; no more than two are held.

    Args:
        function: of a chunk and `args`; it is compiled with `jax.jit` unless it is already.
        chunks: arrays; or pairs of an array and what it is called, as `uproot.iterate(..., report=True)` gives; or
            functions without arguments that read an array.
        args: further arguments, the same for every chunk.
        combine: makes one result of two. By default numbers and JAX arrays are added, and Awkward Arrays are put
            one after another.
        preselect: of a chunk and `args`: a boolean a row. Only rows for which it holds are given to `function`, in
            buckets of their own: worth it when few are left and the function is expensive.
        like: an `envelope`, or a result of `traced`, whose sizes to begin with.
        on_error: whether a chunk that fails ends the stream, with its number in the error, or is left out with a
            `ChunkWarning`.
        progress: whether to show a bar, for which `tqdm` must be installed.

    Returns:
        The combined result; None without any chunk.

    Example:
        >>> import awkward as ak, jax, numpy as np, akjax
        >>> akjax.register()
        >>> chunks = [ak.Array([[1.0, 2.0], []]), ak.Array([[3.0]]), ak.Array([[], [4.0], [5.0, 6.0]])]
        >>> def counts(x):
        ...     return np.histogram(ak.flatten(x), bins=3, range=(0, 6))[0]
        >>> akjax.stream(counts, chunks).tolist()
        [1, 2, 3]
    """
    if on_error not in ("raise", "skip"):
        message = f"on_error is 'raise' or 'skip', not {on_error!r}"
        raise ValueError(message)
    compiled = _compiled(function)
    sizes = _Sizes(like)
    selecting = None if preselect is None else (_compiled(preselect), _Sizes(None))
    results = _Results(combine)
    for number, label, read in _numbered(_shown(chunks) if progress else chunks):
        try:
            chunk = read()
            if selecting is not None:
                chunk = _selected(chunk, selecting, args)
            results.add(compiled(sizes.traced(chunk), *args))
        except Exception as error:
            where = f"chunk {number}" + (f" ({label})" if label else "")
            if on_error == "raise":
                error.add_note(f"in {where} of akjax.stream")
                raise
            warnings.warn(f"{where} was left out: {type(error).__name__}: {error}", ChunkWarning, stacklevel=2)
    return results.total()


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return function if hasattr(function, "lower") else jax.jit(function)


def _numbered(chunks: Iterable[Any]) -> Iterator[tuple[int, str, Callable[[], Any]]]:
    """The chunks by number, what each is called, and how to get it."""
    for number, chunk in enumerate(chunks):
        label: Any = ""
        if isinstance(chunk, tuple):
            chunk, report = chunk
            label = getattr(report, "file_path", report)
        yield number, str(label), chunk if callable(chunk) else functools.partial(_same, chunk)


def _same(chunk: Any) -> Any:
    return chunk


def _shown(chunks: Iterable[Any]) -> Iterable[Any]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        message = "a progress bar needs tqdm: pip install tqdm, or leave progress=True out"
        raise ImportError(message) from None
    return tqdm(chunks, unit="chunk")  # type: ignore[no-any-return]


class _Sizes:
    """The sizes chunks are padded to; one more for a chunk that fits none of them, or wastes much."""

    def __init__(self, like: Any) -> None:
        self._like = like
        self._envelopes: list[Envelope] = []

    def traced(self, chunk: Any) -> Any:
        if self._like is not None:
            first, self._like = self._like, None
            found = traced(chunk, like=first)
            self._envelopes.append(sizes_in(first))
            return found
        sizes = sizes_in(chunk)
        fitting = [one for one in self._envelopes if one.excess(sizes) is None]
        smallest = min(fitting, key=lambda one: one.rows, default=None)
        if smallest is None:
            # grown from the largest before, so that another chunk like those before fits, too
            smallest = functools.reduce(operator.or_, self._envelopes, rounded(sizes, _GROWTH))
            self._envelopes.append(smallest)
        elif smallest.rows > _MOST_WASTE * (sizes.rows + 1):
            smallest = rounded(sizes, _GROWTH)
            self._envelopes.append(smallest)
        return traced(chunk, like=smallest)


def _selected(chunk: Any, selecting: tuple[Any, _Sizes], args: Any) -> Any:
    function, sizes = selecting
    kept = np.asarray(function(sizes.traced(chunk), *args))
    if kept.dtype != np.bool_ or kept.shape != (len(chunk),):
        message = f"preselect gives a boolean for each of {len(chunk)} rows, not {kept.dtype} of shape {kept.shape}"
        raise TypeError(message)
    return chunk[kept]


class _Results:
    """The results so far: added up, or put one after another."""

    def __init__(self, combine: Combine | None) -> None:
        self._combine = combine
        self._pending: collections.deque[Any] = collections.deque()
        self._sum: Any = None
        self._arrays: list[list[Any]] = []
        self._definition: Any = None

    def add(self, result: Any) -> None:
        self._pending.append(result)
        if len(self._pending) >= _IN_FLIGHT:
            self._take(jax.block_until_ready(self._pending.popleft()))  # type: ignore[no-untyped-call]

    def _take(self, result: Any) -> None:
        if self._combine is not None:
            self._sum = result if self._definition is None else self._combine(self._sum, result)
            self._definition = True
            return
        leaves, definition = jax.tree.flatten(result, is_leaf=lambda x: isinstance(x, ak.Array))
        if self._definition is None:
            self._definition, self._sum = definition, [None] * len(leaves)
            self._arrays = [[] for _ in leaves]
        elif definition != self._definition:
            message = f"the result of a chunk is {definition}, and {self._definition} before: give `combine`"
            raise TypeError(message)
        for k, leaf in enumerate(leaves):
            if isinstance(leaf, ak.Array):
                self._arrays[k].append(ak.Array(leaf.layout, behavior=leaf.behavior, attrs=leaf.attrs))
            else:
                self._sum[k] = leaf if self._sum[k] is None else self._sum[k] + leaf

    def total(self) -> Any:
        while self._pending:
            self._take(self._pending.popleft())
        if self._combine is not None or self._definition is None:
            return self._sum
        pairs = zip(self._arrays, self._sum, strict=True)
        whole = [ak.concatenate(arrays) if arrays else numbers for arrays, numbers in pairs]
        return jax.tree.unflatten(self._definition, whole)
