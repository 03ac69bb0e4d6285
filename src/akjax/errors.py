"""Every public exception and warning; the docstring of each is its tutorial."""

from __future__ import annotations

from typing import Any

import jax


class AkjaxError(Exception):
    """Base class of the errors that akjax defines itself.

    Example:
        >>> import akjax
        >>> issubclass(akjax.StructureError, akjax.AkjaxError)
        True
    """


class StructureError(AkjaxError, TypeError):
    """An operation needs list lengths or missing values that are known only at run time.

    Inside a transformation the *values* of an array are unknown. A selection by such values keeps
    the shape of the input and marks which elements exist (a live mask), and most functions work on
    the result; a few need the positions of what is left and cannot be compiled yet. The message
    names the function and what to write instead.

    Example:
        >>> import akjax
        >>> issubclass(akjax.StructureError, TypeError)
        True
    """


class RegistrationError(AkjaxError, RuntimeError):
    """`akjax.register` found that something else has registered `ak.Array` with JAX.

    JAX accepts one registration a class and process. Remove the other one, usually
    `ak.jax.register_and_check()`, and call `akjax.register()` in its place.

    Example:
        >>> import akjax
        >>> issubclass(akjax.RegistrationError, RuntimeError)
        True
    """


class ConcreteValueError(AkjaxError, jax.errors.TracerArrayConversionError):
    """A concrete value was asked for inside a transformation, where values do not exist yet.

    Typical causes: `ak.to_list`, `ak.to_numpy`, `np.asarray`, printing values, or writing to a file
    inside a function that `jax.jit` or `jax.grad` is tracing. Return the array and convert it
    outside, or stay with `ak.*`, NumPy ufuncs and `jax.numpy` inside. It is a subclass of JAX's
    own error for the same mistake.

    Example:
        >>> import akjax, jax, awkward as ak
        >>> akjax.register()
        >>> try:
        ...     jax.jit(lambda x: ak.to_list(x))(ak.Array([[1.0], []]))
        ... except jax.errors.TracerArrayConversionError as error:
        ...     print("to_list" in str(error))
        True
    """

    def __init__(self, tracer: Any, what: str, instead: str = "") -> None:
        if tracer is None:  # nothing but the structure of the array belongs to the transformation
            Exception.__init__(self, "")
        else:
            super().__init__(tracer)
        instead = instead or (
            "Return the array from the transformed function and convert it outside, or use ak.* functions, "
            "NumPy ufuncs or jax.numpy inside"
        )
        self.args = (
            f"{what} needs the values of an array that is being traced by a JAX transformation, and they do "
            f"not exist yet. {instead}.\n\n{self.args[0]}",
        )


class RetraceWarning(UserWarning):
    """One function is compiled again and again for arrays whose lists have other lengths.

    To `jax.jit` the lists of an array are what shapes are: a new structure is a new program. Where
    many arrays go through one function, such as the chunks of a large data set, `akjax.traced` pads
    them to a few sizes and makes their structure data. `akjax.no_retracing` makes an error of it.

    Example:
        >>> import akjax
        >>> issubclass(akjax.RetraceWarning, UserWarning)
        True
    """
