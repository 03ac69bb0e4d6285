"""`akjax.stream`: one compiled function over many chunks of data."""

from __future__ import annotations

import collections
import contextlib
import functools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import awkward as ak
import jax
import numpy as np

from .preparing import Prepared
from .used import used_inputs

Combine: TypeAlias = Callable[[Any, Any], Any]

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
    many chunks there are. While a chunk is computed the next one is prepared; no more than two are held. Buffers that
    the function does not use are neither padded nor copied.

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
    called = _Called(function, args, like)
    selecting = None if preselect is None else _Called(preselect, args)
    results = _Results(combine)
    pending: collections.deque[tuple[str, Any]] = collections.deque()

    def combined(most: int) -> None:
        """Combine results until no more than so many are left."""
        while len(pending) > most:
            where, result = pending.popleft()
            with _reported(where, on_error, inside=1):
                results.add(jax.block_until_ready(result))  # type: ignore[no-untyped-call]

    for number, label, read in _numbered(_shown(chunks) if progress else chunks):
        where = f"chunk {number}" + (f" ({label})" if label else "")
        with _reported(where, on_error):
            chunk = read()
            if selecting is not None:
                chunk = _selected(chunk, selecting)
            pending.append((where, called(chunk)))
        combined(_IN_FLIGHT - 1)
    combined(0)
    return results.total()


@contextlib.contextmanager
def _reported(where: str, on_error: str, inside: int = 0) -> Iterator[None]:
    """Say of an error in which chunk it was; to skip it, warn. It is called this many functions `inside` `stream`."""
    try:
        yield
    except Exception as error:
        if on_error == "raise":
            error.add_note(f"in {where} of akjax.stream")
            raise
        message = f"{where} was left out: {type(error).__name__}: {error}"
        # shown where `stream` was called: behind this function, its context manager and `stream` itself
        warnings.warn(message, ChunkWarning, stacklevel=4 + inside)


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


class _Called:
    """A compiled function of chunks, which are padded for it."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], like: Any = None) -> None:
        self._function: Any = function if hasattr(function, "lower") else jax.jit(function)
        self._args = args
        self._prepared = Prepared(self._used, like)

    def __call__(self, chunk: Any) -> Any:
        return self._function(self._prepared(chunk), *self._args)

    def _used(self, chunk: Any) -> Sequence[bool]:
        """Which of the leaves, of a chunk without data, the function uses."""
        count = len(jax.tree.leaves(chunk))
        if not hasattr(self._function, "trace"):  # compiled by something else than jax.jit
            return [True] * count
        traced = self._function.trace(chunk, *self._args)
        used = used_inputs(traced.jaxpr)
        # values of a trace outside, which the function closes over, come before what it is given; those of `args` after
        first = len(used) - len(jax.tree.leaves(traced.args_info))
        return used[first : first + count]


def _selected(chunk: Any, selecting: _Called) -> Any:
    condition = selecting(chunk)
    try:
        kept = np.asarray(condition)
    except ValueError:  # there are missing values, or lists of several lengths
        kept = np.empty((), dtype=object)
    if kept.dtype != np.bool_ or kept.shape != (len(chunk),):
        array = isinstance(condition, ak.Array)
        found = f"an array of {condition.type}" if array else f"{kept.dtype} of shape {kept.shape}"
        message = (
            f"preselect gives a boolean for each of {len(chunk)} rows, not {found}: fill missing values, as in "
            "ak.fill_none(condition, False), and reduce lists, as with ak.any(condition, axis=1)"
        )
        raise TypeError(message)
    return chunk[kept]


def _added(before: Any, leaf: Any) -> Any:
    if isinstance(leaf, ak.Array):
        return None
    return leaf if before is None else before + leaf


class _Results:
    """The results so far: added up, or put one after another."""

    def __init__(self, combine: Combine | None) -> None:
        self._combine = combine
        self._sum: Any = None
        self._arrays: list[list[Any]] = []
        self._definition: Any = None

    def add(self, result: Any) -> None:
        """Combine a result with those before: all of it, or nothing when there is an error."""
        if self._combine is not None:
            self._sum = result if self._definition is None else self._combine(self._sum, result)
            self._definition = True
            return
        leaves, definition = jax.tree.flatten(result, is_leaf=lambda x: isinstance(x, ak.Array | ak.Record))
        if any(isinstance(leaf, ak.Record) for leaf in leaves):
            message = (
                "a record is neither added up nor put behind another: return a dict of its fields, or an array "
                "of rows such as events[:1], or give `combine`"
            )
            raise TypeError(message)
        if self._definition is None:
            self._definition, self._sum = definition, [None] * len(leaves)
            self._arrays = [[] for _ in leaves]
        elif definition != self._definition:
            message = f"the result of a chunk is {definition}, and {self._definition} before: give `combine`"
            raise TypeError(message)
        arrays = [
            [ak.Array(leaf.layout, behavior=leaf.behavior, attrs=leaf.attrs)] if isinstance(leaf, ak.Array) else []
            for leaf in leaves
        ]
        self._sum = [_added(before, leaf) for before, leaf in zip(self._sum, leaves, strict=True)]
        for several, one in zip(self._arrays, arrays, strict=True):
            several += one

    def total(self) -> Any:
        if self._combine is not None or self._definition is None:
            return self._sum
        pairs = zip(self._arrays, self._sum, strict=True)
        whole = [ak.concatenate(arrays) if arrays else numbers for arrays, numbers in pairs]
        return jax.tree.unflatten(self._definition, whole)
