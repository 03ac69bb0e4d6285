"""Graphs of containers, shared parts included: to unique leaves and a hashable definition, and back.

Example:
    >>> shared = [1.5]
    >>> leaves, definition = dag_flatten((shared, shared))
    >>> leaves
    [1.5]
    >>> one, two = dag_unflatten(definition, [2.5])
    >>> one is two
    True
"""

from .definition import DagDef as DagDef
from .flatten import dag_flatten as dag_flatten
from .jax import register_with_jax as register_with_jax
from .registry import register_pydag_node as register_pydag_node
from .unflatten import dag_unflatten as dag_unflatten
from .walk import DagCycleError as DagCycleError

__all__ = [  # a star import without this would bring the submodule `jax` along
    "DagCycleError",
    "DagDef",
    "dag_flatten",
    "dag_unflatten",
    "register_pydag_node",
    "register_with_jax",
]
