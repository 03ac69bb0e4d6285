"""Says when one function is traced for one array structure after another."""

from __future__ import annotations

import contextlib
import threading
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

from .. import _compat
from ..errors import RetraceWarning
from ..nodes.kinds import Constant, Flat, Indexed, Jagged, List, Node, Option, Record, Union
from ..nodes.walk import iterate
from ..structure.spec import Spec

# so many structures of one form are taken for as many chunks of data
SEVERAL = 3


class _Seen:
    """The structures of one form that a function was traced for; those of one trace count once.

    Only their hashes are kept, which hold no structure: two that are alike by chance count as one.
    """

    def __init__(self) -> None:
        self.specs: set[int] = set()
        self.traces = 0
        self.last: Any = None

    def add(self, spec: Spec) -> bool:
        """Note a structure; whether a further trace was made for it."""
        trace = _compat.current_trace()
        if hash(spec) in self.specs:
            return False
        self.specs.add(hash(spec))
        if self.last is not None and self.last() is trace:
            return False
        self.last = weakref.ref(trace)
        self.traces += 1
        return True


_seen: weakref.WeakKeyDictionary[Any, dict[Any, _Seen]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()
_local = threading.local()


def note_trace(spec: Spec) -> None:
    """An array with this structure enters a function that is being traced.

    Warns:
        RetraceWarning: when it is one of several for which the function was traced.
    """
    function = _compat.traced_function()
    form = _form(spec)
    if function is None or form is None:
        return
    with _lock:
        seen = _seen.setdefault(function, {}).setdefault(form, _Seen())
        again = seen.add(spec)
    strict = getattr(_local, "strict", False)
    # the sizes of a stream grow with its chunks, which is nothing to be done about
    if not again or seen.traces < 2 or ((seen.traces != SEVERAL or spec.fresh) and not strict):
        return
    name = getattr(function, "__qualname__", repr(function))
    message = f"{name} was traced for {seen.traces} arrays that {_advice(spec)}"
    if strict:
        raise RetraceWarning(message)
    warnings.warn(message, RetraceWarning, stacklevel=2)


def _advice(spec: Spec) -> str:
    if any(isinstance(node, Jagged) for node in iterate(spec.skeleton())):
        return (
            "were padded to different sizes: to jax.jit each is another program. Say the sizes of all of them, like= "
            "the akjax.envelope of a sample, or of the largest"
        )
    return (
        "differ in the lengths of their lists (or in what is missing) only: to jax.jit each is another program. Give "
        "it akjax.traced(array), which pads to a few sizes and makes the structure data, or "
        "akjax.traced(array, like=...) with the sizes of an array before"
    )


@contextlib.contextmanager
def no_retracing() -> Iterator[None]:
    """Raise `RetraceWarning` where a function is traced a second time for other lists: for tests.

    It counts from when the function was first traced, inside the context or before.

    Raises:
        RetraceWarning: in the call that traces again.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> f = jax.jit(lambda x: ak.sum(x, axis=1))
        >>> with akjax.no_retracing():
        ...     for x in (ak.Array([[1.0], []]), ak.Array([[], [2.0, 3.0]])):
        ...         print(f(akjax.traced(x)))
        [1, 0]
        [0, 5]
    """
    before = getattr(_local, "strict", False)
    _local.strict = True
    try:
        yield
    finally:
        _local.strict = before


def _form(spec: Spec) -> Any:
    """What arrays have in common that differ in their structure only; None without any structure."""
    nodes = list(iterate(spec.skeleton()))
    if not any(isinstance(n, List | Option | Indexed | Union | Jagged) for n in nodes):
        return None
    return tuple(map(_outline, nodes))


def _outline(node: Node) -> Any:
    match node:
        case Flat():
            return Flat, node.rank
        case Record():
            return Record, node.fields
        case Constant():
            return Constant, str(node.data.array.dtype)
        case _:
            return type(node)
