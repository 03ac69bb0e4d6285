"""Arrays in programs that `jax.export` writes to a file: how their structure is written and read."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

from jax import export

_names: set[str] = set()


def register_for_export(cls: type) -> None:
    """Let exported programs that take or give arrays of this class be serialised.

    Another process finds the class by its name; of several classes of one name it finds the first.
    """
    name = f"{cls.__module__}.{cls.__qualname__}"
    free = next(n for n in _numbered(name) if n not in _names)
    _names.add(free)
    export.register_pytree_node_serialization(
        cls, serialized_name=free, serialize_auxdata=_to_bytes, deserialize_auxdata=pickle.loads
    )


def _numbered(name: str) -> Any:
    yield name
    yield from (f"{name}#{number}" for number in itertools.count(2))


def _to_bytes(spec: Any) -> bytes:
    try:
        return pickle.dumps(spec)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        message = (
            "an exported program keeps the behavior and the attributes of its arrays, and those of this array cannot "
            f"be pickled ({error}): define the classes in a module, or leave behavior= out and use ak.behavior"
        )
        raise TypeError(message) from error
