"""What is remembered between traces, to be dropped by `clear_caches`.

Most of what is remembered of a buffer or a structure is held weakly and goes with it. The caches here hold more: tables
that do not belong to anything, and what was worked out about structures that something else still holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["clear_caches", "droppable"]

_Mapping = TypeVar("_Mapping", bound=Any)
_clear: list[Callable[[], Any]] = []


def droppable(cache: _Mapping) -> _Mapping:
    """Let `clear_caches` empty a mapping, or a function with an `lru_cache`; returns it.

    Nothing may depend on what is in it: it is worked out again when it is asked for.
    """
    _clear.append(getattr(cache, "cache_clear", None) or cache.clear)
    return cache


def clear_caches() -> None:
    """Drop what akjax remembers between traces, to have its memory back.

    Nothing has to be traced again because of this. Structures themselves are kept by whoever uses them: by arrays, and
    by JAX as long as it keeps a program compiled for them. After `jax.clear_caches()` and this, nothing is left
    of the structures of arrays that are gone.

    Returns:
        Nothing.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> total = jax.jit(lambda x: ak.sum(x, axis=1))
        >>> total(ak.Array([[1.0, 2.0], [3.0]])).to_list()
        [3.0, 3.0]
        >>> jax.clear_caches()
        >>> akjax.clear_caches()
    """
    for clear in _clear:
        clear()
