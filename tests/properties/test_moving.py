"""Functions that move elements, on any array: as eager Awkward."""

import awkward as ak
import hypothesis.strategies as st
import jax
import pytest
from hypothesis import assume, given
from oracle import check, outcome

from .strategies import arrays, holds, quick

jax.config.update("jax_enable_x64", True)

pytestmark = pytest.mark.slow


FUNCTIONS = {
    "firsts": ak.firsts,
    "singletons": ak.singletons,
    "pad_none": lambda x: ak.pad_none(x, 2),
    "pad_none clip": lambda x: ak.pad_none(x, 1, clip=True),
    "pad_none rows": lambda x: ak.pad_none(x, 3, axis=0),
    "fill_none": lambda x: ak.fill_none(x, 7),
    "fill_none by fractions": lambda x: ak.fill_none(x, 7.5, axis=None),
    "is_none": ak.is_none,
    "drop_none": ak.drop_none,
    "local_index": ak.local_index,
    "num": ak.num,
    "flatten": ak.flatten,
    "ravel": ak.ravel,
    "flatten rows": lambda x: ak.flatten(x, axis=0),
    "concatenate": lambda x: ak.concatenate([x, x]),
    "concatenate inside": lambda x: ak.concatenate([x, x], axis=1),
    "concatenate numbers": lambda x: ak.concatenate([x, ak.Array([1.5])]),
    "concatenate booleans": lambda x: ak.concatenate([x, ak.Array([True])], mergebool=False),
    "pairs": lambda x: ak.combinations(x, 2),
    "product": lambda x: ak.cartesian([x, x]),
    "zip": lambda x: ak.zip({"a": x, "b": x}),
    "zip rows": lambda x: ak.zip([x, x], depth_limit=1),
    "from_regular": lambda x: ak.from_regular(x, axis=None),
    "to_packed": ak.to_packed,
    "without_parameters": ak.without_parameters,
    "as it is": lambda x: x,
}

# An array comes in in one canonical way of storing it; where Awkward's answer depends on the way it was
# stored, the answer for the canonical way is the one to compare with.
STORAGE = (
    ak.contents.ByteMaskedArray,
    ak.contents.BitMaskedArray,
    ak.contents.IndexedArray,
    ak.contents.IndexedOptionArray,
)


# accidents inside Awkward, not its answer
ACCIDENTS = (AssertionError, AttributeError, NotImplementedError, RuntimeError)


def canonical(array):
    """The array as it comes out of JAX: stored in the one canonical way."""
    leaves, structure = jax.tree.flatten(array)
    return jax.tree.unflatten(structure, leaves)


@quick
@given(array=arrays(), name=st.sampled_from(sorted(FUNCTIONS)))
def test_moving(array, name):
    function = FUNCTIONS[name]
    if holds(array, *STORAGE):
        array = canonical(array)
    # AssertionError, AttributeError and the like are accidents inside Awkward, not its answer
    assume(
        not isinstance(outcome(function, array), AssertionError | AttributeError | NotImplementedError | RuntimeError)
    )
    check(function, array)
