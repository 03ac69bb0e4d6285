"""Lists of integers as an index that a reducer gave, against eager Awkward."""

import awkward as ak
import jax
import numpy as np
import pytest
from oracle import plain, same

import akjax

X = ak.Array({"x": [[3.0, 1.0, 2.0], [], [np.nan, 4.0], [5.0, 5.0]], "y": [[1, 2, 3], [], [4, 5], [6, 7]]})


def best(a):
    return ak.argmin(a.x, axis=1, keepdims=True)


FUNCTIONS = {
    "argmin": lambda a: a[best(a)],
    "argmax": lambda a: a.y[ak.argmax(a.x, axis=1, keepdims=True)],
    "selected": lambda a: (lambda b: b[best(b)])(a[a.x < 4.5]),
    "another selection": lambda a: (lambda b: a[best(b)])(a[a.x > 1.5]),
    "first": lambda a: ak.firsts(a[best(a)]),
    "rows after it": lambda a: a[best(a)][ak.any(a.x > 2, axis=1)],
    "rows before it": lambda a: (lambda b: b[best(b)].y)(a[ak.num(a.x) > 1]),
    "what is not missing": lambda a: a.y[ak.drop_none(best(a))],
    "other rows": lambda a: a.y[::-1][best(a[::-1])],
    "in lists of others": lambda a: a.y[ak.unflatten(ak.drop_none(ak.flatten(best(a[[0, 2, 3]]))), [2, 0, 1, 0])],
}


@pytest.mark.parametrize("prepare", [jax.device_put, akjax.traced], ids=["exact", "traced"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_index_of_one_element_a_list(name, prepare):
    same(plain(jax.jit(FUNCTIONS[name])(prepare(X))), plain(FUNCTIONS[name](X)))


def test_moves_nothing_into_order():
    """What is taken is known by its slot: no list is put into the order of what exists in it."""

    def chosen(a):
        kept = a[a.x < 4.5]
        return kept.y[best(kept)]

    program = str(jax.make_jaxpr(chosen)(akjax.traced(X)))
    assert "scatter[" not in program
