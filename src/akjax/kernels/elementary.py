"""Sine, cosine, arctangents and the hyperbolic sine of many numbers at once.

XLA's CPU compiler calls the C library for each number, which takes five to twenty times as long as what is here.
Angles are reduced to an eighth of a turn, with a quarter turn in parts that have few digits, so that their multiples
are exact (W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980), and a polynomial does the rest.
Its coefficients were fitted for this file: of (sin(r)/r - 1)/r² and (cos(r) - 1 + r²/2)/r⁴, as functions of r² up to
(π/4)², of (arctan(r)/r - 1)/r² up to tan(π/8)², and of (sinh(r)/r - 1)/r² up to 1.

Results differ from the exact ones by less than two units in the last place, those of arctangents and the hyperbolic
sine by less than three; in 64 bits the hyperbolic sine by less than six. NumPy's differ by up to four in 32 bits.
Subnormal numbers are zero, as for the rest of XLA's arithmetic.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["FUNCTIONS", "OPERATIONS", "arctan", "arctan2", "cosine", "sine", "sinh"]

# for fewer numbers the C library is fast enough, and a program shorter
_FEW = 1 << 10


# angles up to which multiples of a quarter turn are exact
_LARGEST = 1024.0


Function: TypeAlias = Callable[..., jax.Array]


class _Precision(NamedTuple):
    """Constants for one dtype."""

    quarter: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]
    arctangent: tuple[float, ...]
    hyperbolic: tuple[float, ...]


_PRECISIONS = {
    np.dtype(np.float32): _Precision(
        quarter=(1.5703125, 0.0004837512969970703, 7.549533620476723e-08, 2.563344151594519e-12),
        sine=(-0.1666665467846206, 0.008332165757588331, -0.00019515952804953507),
        cosine=(0.041666646236693, -0.0013887341486531458, 2.4435851735549212e-05),
        arctangent=(
            -0.3333333175381697,
            0.1999953879477192,
            -0.14263897112598675,
            0.1074309966767457,
            -0.06449835224591496,
        ),
        hyperbolic=(0.16666666646762462, 0.008333339695044161, 0.00019838095593111222, 2.806331253637132e-06),
    ),
    np.dtype(np.float64): _Precision(
        quarter=(1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32),
        sine=(
            -0.16666666666666666,
            0.008333333333330936,
            -0.00019841269836740532,
            2.7557316093198404e-06,
            -2.5051129896450185e-08,
            1.5917988979397435e-10,
        ),
        cosine=(
            0.041666666666666664,
            -0.0013888888888887389,
            2.48015872987544e-05,
            -2.755731726587808e-07,
            2.087614504941318e-09,
            -1.138254464534925e-11,
        ),
        arctangent=(
            -0.3333333333333333,
            0.1999999999999548,
            -0.14285714284657894,
            0.11111111014561013,
            -0.09090904549884611,
            0.07692182535116648,
            -0.06664502215671447,
            0.058580687568615106,
            -0.05085030492810941,
            0.0392195525325513,
            -0.019162068915902577,
        ),
        hyperbolic=(
            0.16666666666666666,
            0.008333333333333299,
            0.00019841269841324471,
            2.7557319191250885e-06,
            2.50521177239532e-08,
            1.6057676882739475e-10,
            7.746278224810715e-13,
        ),
    ),
}


def sine(x: jax.Array) -> jax.Array:
    """The sine of angles in radians.

    Args:
        x: numbers of any dtype and shape.

    Returns:
        What `jnp.sin` gives, of the same dtype.

    Example:
        >>> bool(jnp.allclose(sine(jnp.linspace(-4.0, 4.0, 2000)), jnp.sin(jnp.linspace(-4.0, 4.0, 2000)), atol=1e-6))
        True
    """
    return _sine(jnp.asarray(x)) if _is_ours(x) else jnp.sin(x)


def cosine(x: jax.Array) -> jax.Array:
    """The cosine of angles in radians, as `sine`.

    Example:
        >>> bool(jnp.allclose(cosine(jnp.linspace(-4.0, 4.0, 2000)), jnp.cos(jnp.linspace(-4.0, 4.0, 2000)), atol=1e-6))
        True
    """
    return _cosine(jnp.asarray(x)) if _is_ours(x) else jnp.cos(x)


def arctan(x: jax.Array) -> jax.Array:
    """The angle in radians, between -π/2 and π/2, with this tangent.

    Example:
        >>> arctan(jnp.full(2000, 1.0))[0] == jnp.arctan(1.0)
        Array(True, dtype=bool)
    """
    return _arctan(jnp.asarray(x)) if _is_ours(x) else jnp.arctan(x)


def arctan2(y: jax.Array, x: jax.Array) -> jax.Array:
    """The direction of points, in radians from the first axis; the signs of zeros count as in NumPy.

    Args:
        y: second coordinates.
        x: first coordinates, of the same dtype and shape; one of the two may be a scalar.

    Example:
        >>> arctan2(jnp.full(2000, 1.0), jnp.full(2000, -1.0))[0] == jnp.arctan2(1.0, -1.0)
        Array(True, dtype=bool)
    """
    y, x = jnp.asarray(y), jnp.asarray(x)
    if y.dtype != x.dtype or not (_is_ours(y) or _is_ours(x)):
        return jnp.arctan2(y, x)
    y, x = jnp.broadcast_arrays(y, x)
    return _arctan2(y, x)


def sinh(x: jax.Array) -> jax.Array:
    """The hyperbolic sine.

    Example:
        >>> bool(jnp.allclose(sinh(jnp.linspace(-9.0, 9.0, 2000)), jnp.sinh(jnp.linspace(-9.0, 9.0, 2000))))
        True
    """
    return _sinh(jnp.asarray(x)) if _is_ours(x) else jnp.sinh(x)


FUNCTIONS = {np.sin: sine, np.cos: cosine, np.arctan: arctan, np.arctan2: arctan2, np.sinh: sinh}
"""What is here, by NumPy's ufuncs."""


def _is_ours(x: jax.Array) -> bool:
    return bool(x.dtype in _PRECISIONS and x.size >= _FEW)


def _polynomial(z: jax.Array, coefficients: Sequence[float]) -> jax.Array:
    constants = [np.asarray(one, z.dtype) for one in coefficients]
    return functools.reduce(
        lambda value, one: value * z + one, reversed(constants[:-1]), jnp.full_like(z, constants[-1])
    )


def _on_cpu(ours: Function, theirs: Function, *x: jax.Array) -> jax.Array:
    found: jax.Array = lax.platform_dependent(*x, cpu=ours, default=theirs)
    return found


def _turned(x: jax.Array, quarters: int) -> jax.Array:
    """The sine of x and some quarter turns, for x that is not too large."""
    constants = _PRECISIONS[np.dtype(x.dtype)]
    turns = jnp.floor(x * np.asarray(2 / np.pi, x.dtype) + np.asarray(0.5, x.dtype))
    rest = functools.reduce(lambda rest, part: rest - turns * np.asarray(part, x.dtype), constants.quarter, x)
    square = rest * rest
    sine = jnp.where(rest == 0, rest, rest + rest * square * _polynomial(square, constants.sine))  # -0.0 stays
    half = np.asarray(0.5, x.dtype)
    cosine = (1 - half * square) + square * square * _polynomial(square, constants.cosine)
    place = turns.astype(jnp.int32) + quarters
    found = jnp.where((place & 1) == 0, sine, cosine)
    return jnp.where((place & 2) == 0, found, -found)


def _guarded(x: jax.Array, quarters: int, theirs: Function) -> jax.Array:
    small = jnp.all(~(jnp.abs(x) > _LARGEST))
    found: jax.Array = lax.cond(small, lambda x: _turned(x, quarters), theirs, x)
    return found


def _up_to_one(ratio: jax.Array) -> jax.Array:
    """The arctangent of what is between 0 and 1."""
    steep = ratio > np.asarray(np.tan(np.pi / 8), ratio.dtype)
    rest = jnp.where(steep, (ratio - 1) / (ratio + 1), ratio)
    square = rest * rest
    angle = rest + rest * square * _polynomial(square, _PRECISIONS[np.dtype(ratio.dtype)].arctangent)
    return jnp.where(steep, np.asarray(np.pi / 4, ratio.dtype) + angle, angle)


def _direction(y: jax.Array, x: jax.Array) -> jax.Array:
    high, wide = jnp.abs(y), jnp.abs(x)
    most = jnp.maximum(high, wide)
    ratio = jnp.where(
        (high == wide) & (most > 0), jnp.ones_like(x), jnp.minimum(high, wide) / jnp.where(most == 0, 1, most)
    )
    angle = _up_to_one(ratio)
    angle = jnp.where(_bits(high) > _bits(wide), _less(np.pi / 2, angle), angle)
    angle = jnp.where(jnp.signbit(x), _less(np.pi, angle), angle)
    return jnp.copysign(jnp.where(jnp.isnan(x) | jnp.isnan(y), np.asarray(np.nan, x.dtype), angle), y)


def _bits(size: jax.Array) -> jax.Array:
    """Integers in the order of numbers that are not negative: XLA takes subnormal numbers for zero."""
    return lax.bitcast_convert_type(size, np.dtype(f"int{8 * size.dtype.itemsize}"))


def _less(whole: float, angle: jax.Array) -> jax.Array:
    """A constant less an angle, with what the constant has more digits than the dtype."""
    near = np.asarray(whole, angle.dtype)
    rest = np.asarray(np.longdouble(_MORE[whole]) + (np.longdouble(whole) - np.longdouble(near)), angle.dtype)
    return jnp.subtract(near, angle - rest)


# what a double is less than these
_MORE = {np.pi: 1.2246467991473532e-16, np.pi / 2: 6.123233995736766e-17}


def _hyperbolic(x: jax.Array) -> jax.Array:
    square = x * x
    near = x + x * square * _polynomial(square, _PRECISIONS[np.dtype(x.dtype)].hyperbolic)
    half = np.asarray(0.5, x.dtype)
    root = jnp.exp(half * jnp.abs(x))  # its square may be too large for the dtype where half of it is not
    far = jnp.copysign(half * root * root - half / (root * root), x)
    return jnp.where(jnp.abs(x) < 1, near, far)


OPERATIONS: dict[str, Function] = {}
"""The operations, by the names that `jax.jit` gives them in a program."""


def _operation(name: str, value: Function, tangent: Function) -> Function:
    """One operation of a program, which shows it by its name; of what is in it a program has one copy."""

    def whole(*x: jax.Array) -> jax.Array:
        return value(*x)

    whole.__name__ = name
    function = jax.custom_jvp(whole)
    operation: Function = jax.jit(function)
    function.defjvp(lambda x, dx: (operation(*x), tangent(x, dx)))
    OPERATIONS[name] = operation
    return operation


_sine: Function = _operation(
    "akjax_sine",
    lambda x: _on_cpu(lambda x: _guarded(x, 0, jnp.sin), jnp.sin, x),
    lambda x, dx: dx[0] * _cosine(*x),
)
_cosine: Function = _operation(
    "akjax_cosine",
    lambda x: _on_cpu(lambda x: _guarded(x, 1, jnp.cos), jnp.cos, x),
    lambda x, dx: -dx[0] * _sine(*x),
)
# JAX's own tangents of arctangents: of its values nothing is computed
_arctan = _operation(
    "akjax_arctan",
    lambda x: _on_cpu(lambda x: _direction(x, jnp.ones_like(x)), jnp.arctan, x),
    lambda x, dx: jax.jvp(lax.atan, x, dx)[1],
)
_arctan2 = _operation(
    "akjax_arctan2",
    lambda y, x: _on_cpu(_direction, jnp.arctan2, y, x),
    lambda x, dx: jax.jvp(lax.atan2, x, dx)[1],
)

_sinh = _operation("akjax_sinh", lambda x: _on_cpu(_hyperbolic, jnp.sinh, x), lambda x, dx: dx[0] * jnp.cosh(x[0]))
