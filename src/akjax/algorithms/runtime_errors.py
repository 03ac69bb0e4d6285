"""Errors that depend on values: noted while tracing, raised by `akjax.checked` when the program has run.

A compiled program cannot raise. What goes wrong in it has a documented value instead (NaN, a missing
value), and where somebody asked for it, inside `akjax.checked`, every such place also checks its
condition. Everywhere else nothing is computed for the checks. Whether they are asked for is part of the
context that JAX keys its caches by, so that a function jitted without checks is traced again with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import checkify

_collecting: Any = jax.make_user_context(default_value=False)  # type: ignore[no-untyped-call]
_classes: dict[str, type[Exception]] = {}


def is_collecting() -> bool:
    """Whether anybody wants to know: what only `check` needs is computed only then."""
    return bool(_collecting.value)


@contextlib.contextmanager
def collecting() -> Iterator[None]:
    """Collect what `check` is told in all that is traced meanwhile, for `checkify` to make an error of."""
    with _collecting(True):
        yield


def check(ok: Any, error: type[Exception], message: str, **values: Any) -> None:
    """Raise an error at run time, if somebody wants to know, unless a condition holds everywhere.

    Elements that do not exist or are missing must be `ok`.

    Args:
        ok: booleans of any shape.
        error: the class that eager Awkward raises.
        message: its text; `{name}` is replaced by the value of that name where the condition first fails.
        values: numbers of the shape of `ok`, or scalars.

    Example:
        >>> with collecting():
        ...     index = jnp.array([0, 5])
        ...     check_index = lambda: check(index < 3, IndexError, "no element {at}", at=index)
        ...     error, _ = checkify.checkify(check_index)()
        >>> text_of(error)
        ('IndexError', 'no element 5')
    """
    if not is_collecting():
        return
    _classes[error.__name__] = error
    ok = jnp.asarray(ok)
    if ok.size == 0:
        return
    first = jnp.argmin(ok.reshape(-1))
    shown = {name: jnp.broadcast_to(jnp.asarray(value), ok.shape).reshape(-1)[first] for name, value in values.items()}
    tell: Any = checkify.check  # its annotations take the values for flags
    tell(jnp.all(ok), f"{error.__name__}: {message}", **shown)


def text_of(error: checkify.Error) -> tuple[str, str] | None:
    """The name of the class and the text of what went wrong, or None.

    Raises:
        jax.errors.ConcretizationTypeError: the program that it comes from has not run yet.
    """
    found = error.get()
    if found is None:
        return None
    name, _, text = found.removesuffix(" (`check` failed)").partition(": ")
    return (name, text) if name in _classes else ("", found)


def raise_error(error: checkify.Error) -> None:
    """Raise what went wrong, if something did, as Awkward would."""
    found = text_of(error)
    if found is None:
        return
    name, text = found
    if name not in _classes:
        error.throw()  # type: ignore[no-untyped-call]  # a check of the user's own
    raise _classes[name](text)
