"""What works on the host only: files, other libraries' arrays, Python objects."""

from __future__ import annotations

from typing import Any

import awkward as ak
import jax

from .._compat import is_tracer
from ..errors import ConcreteValueError
from ..registry import implements

# why a function is the host's alone, what to do instead, and which functions these are
_GROUPS = (
    (
        "makes Python or NumPy objects",
        "Return the array and convert it outside; inside, ak.to_jax gives a JAX array",
        ("to_list", "to_json", "to_numpy"),
    ),
    (
        "hands the buffers to another library",
        "Return the array and convert it outside; inside, ak.to_jax gives a JAX array",
        (
            "to_arrow",
            "to_arrow_table",
            "to_buffers",
            "to_cudf",
            "to_cupy",
            "to_dataframe",
            "to_raggedtensor",
            "to_rdataframe",
            "to_tensorflow",
            "to_torch",
        ),
    ),
    (
        "writes files",
        "Return the array and write it outside",
        ("to_feather", "to_parquet", "to_parquet_dataset", "to_parquet_row_groups", "to_safetensors"),
    ),
    (
        "reads files",
        "Read outside and pass the array as an argument",
        (
            "from_avro_file",
            "from_feather",
            "from_json",
            "from_parquet",
            "from_safetensors",
            "metadata_from_parquet",
        ),
    ),
    (
        "takes the buffers of another library",
        "Convert outside and pass the array as an argument; inside, ak.from_jax takes a JAX array",
        (
            "from_arrow",
            "from_arrow_schema",
            "from_buffers",
            "from_cudf",
            "from_cupy",
            "from_raggedtensor",
            "from_rdataframe",
            "from_tensorflow",
            "from_torch",
        ),
    ),
    (
        "grows by one value at a time",
        "Use ak.Array([...]), ak.from_iter or ak.concatenate",
        ("ArrayBuilder",),
    ),
)


def _refuse(name: str, why: str, instead: str) -> None:
    function = getattr(ak, name, None)
    if function is None:  # another version of Awkward has it
        return

    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = next(filter(is_tracer, jax.tree.leaves((args, kwargs))), None)
        raise ConcreteValueError(tracer, f"ak.{name}", instead)

    implements(function, route="host", no_gradient="-", host_only=f"{why}. {instead}")(call)


for _why, _instead, _names in _GROUPS:
    for _name in _names:
        _refuse(_name, _why, _instead)
