"""Remainders of floats, as differences of angles need them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from akjax.kernels._reduce import computed_first

__all__ = ["rem", "remainder"]


_MANY = 1 << 21


def rem(x: jax.Array, y: jax.Array) -> jax.Array:
    """The remainder of a division rounded towards zero, as `lax.rem`, to the last bit.

    XLA's CPU compiler calls the C library for every number. Of numbers below twice the divisor, as a difference of two
    angles is, one subtraction gives the remainder, and exactly so; any larger one takes them all the long way. So do
    very many: what is chosen between is put in memory, which costs more then.

    Args:
        x: real numbers.
        y: divisors, of the same dtype: one, or as many.

    Returns:
        Remainders, of the sign of `x`.

    Example:
        >>> rem(jnp.array([3.5, -3.5, 9.0]), jnp.array(2.0)).tolist()
        [1.5, -1.5, 1.0]
    """
    if not jnp.issubdtype(x.dtype, jnp.floating) or x.ndim == 0 or x.size > _MANY:
        return _any(x, y)
    x = computed_first(x)
    near = jnp.all(~(jnp.abs(x) >= 2 * jnp.abs(y)) & (jnp.abs(y) > 0))
    # one divisor stays one, and what is near stays where it is: what goes into a branch or comes out is put in memory
    found: jax.Array = lax.cond(near, lambda x, y: x, _any, x, y)
    return _near(found, y)


def _any(x: jax.Array, y: jax.Array) -> jax.Array:
    return lax.rem(x, jnp.broadcast_to(y, x.shape))


def _near(x: jax.Array, y: jax.Array) -> jax.Array:
    size = jnp.abs(y)
    return jnp.where(jnp.abs(x) >= size, x - jnp.where(x < 0, -size, size), x)


def remainder(x: jax.Array, y: jax.Array) -> jax.Array:
    """The remainder of a division rounded down, as `np.remainder`.

    Example:
        >>> remainder(jnp.array([3.5, -3.5, 9.0]), jnp.array(2.0)).tolist()
        [1.5, 0.5, 1.0]
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.remainder(x, y)
    found = rem(x, y)
    return jnp.where((found != 0) & ((found < 0) != (y < 0)), found + y, found)
