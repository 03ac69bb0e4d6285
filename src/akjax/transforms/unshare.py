"""`akjax.unshare`: a leaf of its own for each use of a buffer."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..highlevel.state import node_of, wrap
from ..nodes.kinds import Flat, replace
from ..nodes.walk import map_flat


def unshare(array: Any) -> Any:
    """Give every field its own buffers.

    Two fields that hold the very same buffer are one leaf, and its gradient is the sum over both uses. After
    `unshare` each has its own gradient, in one more leaf.

    Args:
        array: an `ak.Array` or `ak.Record`.

    Returns:
        An array of the same values and type, in which no data buffer is used twice.

    Example:
        >>> import awkward as ak, jax, akjax
        >>> akjax.register()
        >>> x = ak.Array([1.0, 2.0])
        >>> both = ak.zip({"a": x, "b": x})
        >>> loss = lambda r: ak.sum(2 * r.a + 3 * r.b)
        >>> jax.grad(loss)(both).to_list()
        [{'a': 5.0, 'b': 5.0}, {'a': 5.0, 'b': 5.0}]
        >>> jax.grad(loss)(akjax.unshare(both)).to_list()
        [{'a': 2.0, 'b': 3.0}, {'a': 2.0, 'b': 3.0}]
    """
    used: set[int] = set()

    def own(flat: Flat) -> Flat:
        if id(flat.data) not in used:
            used.add(id(flat.data))
            return replace(flat)  # type: ignore[no-any-return]
        copy = np.array(flat.data) if isinstance(flat.data, np.ndarray) else jnp.array(flat.data, copy=True)
        return replace(flat, data=copy)  # type: ignore[no-any-return]

    return wrap(map_flat(own, node_of(array)), array.behavior, array.attrs, type(array))
