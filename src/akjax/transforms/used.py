"""What of its arguments a program uses: buffers of the rest need not be prepared for it."""

from __future__ import annotations

from jax.extend.core import ClosedJaxpr, Literal


def used_inputs(program: ClosedJaxpr) -> tuple[bool, ...]:
    """For each input of a program whether a result, or a side effect, may depend on it.

    Programs inside count as using all that they are given.

    Example:
        >>> import jax
        >>> used_inputs(jax.make_jaxpr(lambda x, y: (x + 1, y * 2)[0])(1.0, 2.0))
        (True, False)
    """
    jaxpr = program.jaxpr
    needed = {variable for variable in jaxpr.outvars if not isinstance(variable, Literal)}
    for equation in reversed(jaxpr.eqns):
        if equation.effects or not needed.isdisjoint(equation.outvars):
            needed.update(variable for variable in equation.invars if not isinstance(variable, Literal))
    return tuple(variable in needed for variable in jaxpr.invars)
