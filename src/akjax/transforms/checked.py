"""`akjax.checked`: the errors that depend on values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
from jax.experimental import checkify

from ..algorithms.runtime_errors import collecting, is_collecting, raise_error

F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """Compile a function such that it raises Awkward's errors for what is wrong with values.

    Inside `jax.jit` an index that is out of range, or lists that do not line up, cannot raise: the result
    is NaN or missing there (the table in the documentation says where). The function that `checked` makes
    computes the same and then raises the error that eager Awkward raises. It waits for the result.

    It may be used inside and around `jax.jit`, `jax.grad`, `jax.vmap` and the other transformations. Around
    all others (`checked(jax.jit(f))`) is best; inside `jax.jit` or `jax.vmap` it is JAX that raises, when the
    program runs: a `JaxRuntimeError` with the text in it.

    Args:
        function: a function of arrays (and pytrees of them), as for `jax.jit`.

    Returns:
        A function of the same arguments.

    Raises:
        IndexError, ValueError: what eager Awkward raises, when the function is called.

    Example:
        >>> import awkward as ak, jax, jax.numpy as jnp, akjax
        >>> akjax.register()
        >>> def pick(x, i):
        ...     return x[i]
        >>> x, i = ak.Array([1.5, 2.5]), jnp.array([1, 7])
        >>> jax.jit(pick)(x, i).to_list()
        [2.5, nan]
        >>> akjax.checked(pick)(x, i)
        Traceback (most recent call last):
        ...
        IndexError: index 7 is out of bounds for axis 0 with size 2
    """

    @functools.wraps(function)
    def with_checks(*args: Any, **kwargs: Any) -> Any:
        with collecting():
            return function(*args, **kwargs)

    compiled = jax.jit(checkify.checkify(with_checks))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        error, result = compiled(*args, **kwargs)
        if not _raised(error):
            _raise_later(error)
        return result

    return cast("F", call)


def _raised(error: checkify.Error) -> bool:
    """Whether it is known what went wrong; then it is raised."""
    try:
        raise_error(error)
    except jax.errors.ConcretizationTypeError:
        return False
    return True


def _raise_later(error: checkify.Error) -> None:
    """Hand an error that is being traced on to the `checked` around this one, or to the program."""
    if is_collecting():
        checkify.check_error(error)
    else:
        jax.debug.callback(raise_error, error)
