"""Remainders of floats, as differences of angles need them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from akjax.kernels._reduce import computed_first
from akjax.kernels.gather import take

__all__ = ["rem", "remainder"]

# for fewer numbers the C library is fast enough, and a program shorter
_FEW = 1 << 10
_MANY = 1 << 21


def rem(x: jax.Array, y: jax.Array) -> jax.Array:
    """The remainder of a division rounded towards zero, as `lax.rem`, to the last bit.

    XLA's CPU compiler calls the C library for every number. Of 32-bit numbers and one divisor, as angles have it, the
    remainder is found by arithmetic without a branch, for many numbers at once. Of other numbers below twice the
    divisor one subtraction gives it; any larger one takes them all the long way. So do very many: what is chosen
    between is put in memory, which costs more then.

    Args:
        x: real numbers.
        y: divisors, of the same dtype: one, or as many.

    Returns:
        Remainders, of the sign of `x`.

    Example:
        >>> rem(jnp.array([3.5, -3.5, 9.0]), jnp.array(2.0)).tolist()
        [1.5, -1.5, 1.0]
    """
    if not jnp.issubdtype(x.dtype, jnp.floating) or x.size < _FEW:
        return _any(x, y)
    if x.dtype == np.float32 and y.ndim == 0:
        return _of_one_divisor(x, y)
    if x.size > _MANY:
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


@jax.custom_jvp
def _of_one_divisor(x: jax.Array, y: jax.Array) -> jax.Array:
    # where the divisor is a constant of the program the compiler drops the choice, which would put `x` in memory
    def ours(x: jax.Array, y: jax.Array) -> jax.Array:
        found: jax.Array = lax.cond(y < _LEAST, _any, _by_powers, x, y)
        return found

    found: jax.Array = lax.platform_dependent(x, jnp.abs(y), cpu=ours, default=_any)
    return found


def _slope(x: Any, dx: Any) -> tuple[jax.Array, jax.Array]:
    """The derivative, of which there is less to compute where the divisor has none."""
    (x, y), (dx, dy) = x, dx
    found = _of_one_divisor(x, y)
    dx = jnp.zeros_like(x) if isinstance(dx, SymbolicZero) else dx
    if isinstance(dy, SymbolicZero):
        return found, dx
    turns = lax.stop_gradient(jnp.round((x - found) / y))
    return found, dx - turns * dy


_of_one_divisor.defjvp(_slope, symbolic_zeros=True)

# the last digit of smaller divisors is no normal number
_LEAST = 2.0**-100
_DIGITS = 23
_SIGN = np.int32(-(2**31))
_MANTISSA = np.int32(2**_DIGITS - 1)
# the value of the last digit of a number, by its exponent as it is stored; below 2**24 there is no number to divide
_POWERS = np.exp2(np.maximum(np.arange(256), _DIGITS + 1) - 150).astype(np.float32)
# where this is added integers are rounded to even ones, and are the last digits: a conversion minds what does not fit
_ROUNDS = np.float32(1.5 * 2**24)


def _by_powers(x: jax.Array, y: jax.Array) -> jax.Array:
    """32-bit remainders for a positive divisor: those of powers of two are looked up.

    A number is an integer `m` times a power of two, of which the remainder is `t`. All are multiples of the last digit
    of the divisor, and integers below 2**24 as such. The quotient of `m * t` is a few too small at most, so that what
    is left is small: what does not fit in 32 bits until then cancels.
    """
    digit = _as_float((_bits(y) & ~_MANTISSA) - np.int32(_DIGITS << _DIGITS))
    divisor = _integer(y)
    powers = (_any(jnp.asarray(_POWERS), y) / digit).astype(np.int32)
    powers = jnp.where(2 * powers > divisor, powers - divisor, powers)
    quotients = powers.astype(np.float32) / divisor.astype(np.float32) * np.float32(2**_DIGITS)

    exponent = lax.shift_right_logical(_bits(x), np.int32(_DIGITS)) & np.int32(255)
    m, t = _integer(x), _looked_up(powers, exponent)
    fraction = _as_float(_bits(x) & _MANTISSA | _bits(np.float32(1)))  # m / 2**23
    half = _bits(fraction * _looked_up(quotients, exponent) + _ROUNDS) - _bits(_ROUNDS)
    # of quotients up to 2**23 the three roundings are 1/2, 1/4 and 1 at most: what is left is less than 4 divisors
    rest = (m * t - (half + half - np.int32(2)) * divisor).astype(np.uint32)
    for times in (2, 1):  # what would be negative is large
        rest = jnp.minimum(rest, rest - np.uint32(times) * divisor.astype(np.uint32))
    found = rest.astype(np.int32).astype(np.float32) * digit + (x - x) + (y - y)
    return jnp.where(jnp.abs(x) < y, x, _as_float(_bits(found) | (_bits(x) & _SIGN)))


def _bits(x: jax.Array | np.float32) -> jax.Array:
    return lax.bitcast_convert_type(x, np.int32)


def _as_float(bits: jax.Array) -> jax.Array:
    return lax.bitcast_convert_type(bits, np.float32)


def _integer(x: jax.Array) -> jax.Array:
    """The digits of a float as an integer."""
    return _bits(x) & _MANTISSA | np.int32(2**_DIGITS)


def _looked_up(table: jax.Array, at: jax.Array) -> jax.Array:
    return take(computed_first(table), at.reshape(-1)).reshape(at.shape)


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
