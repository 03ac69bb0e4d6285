"""Leaving Awkward: to plain JAX arrays; what would need host values says so."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax

from ..errors import ConcreteValueError
from ..highlevel.operations import to_jax
from ..highlevel.state import is_traced, tracer_in, wrap
from ..nodes.kinds import Flat
from ..registry import implements


@implements(ak.to_jax, route="moves", always=True)
def _to_jax(array: Any) -> Any:
    return array if isinstance(array, jax.Array) else to_jax(array)


@implements(ak.from_jax, route="moves", always=True)
def _from_jax(array: Any, **kwargs: Any) -> Any:
    return wrap(Flat(array)) if isinstance(array, jax.Array) else array


def _host_only(function: Any) -> None:
    def call(*args: Any, **kwargs: Any) -> Any:
        traced = next((x for x in (*args, *kwargs.values()) if is_traced(x)), None)
        tracer = tracer_in(traced) if traced is not None else next(x for x in args if isinstance(x, jax.Array))
        raise ConcreteValueError(tracer, f"ak.{function.__name__}")

    implements(function, route="host", live=True, differentiable=False)(call)


for _function in (
    ak.to_arrow,
    ak.to_arrow_table,
    ak.to_buffers,
    ak.to_cupy,
    ak.to_dataframe,
    ak.to_feather,
    ak.to_json,
    ak.to_list,
    ak.to_numpy,
    ak.to_parquet,
    ak.to_raggedtensor,
    ak.to_rdataframe,
    ak.to_torch,
):
    _host_only(_function)
