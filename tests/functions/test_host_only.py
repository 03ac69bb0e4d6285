"""What cannot work while tracing says so in one sentence, with the alternative."""

import awkward as ak
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import akjax
from akjax import registry

akjax.register()

HOST_ONLY = sorted(
    function.__name__
    for function, entry in registry.entries().items()
    if entry.route == "host" and getattr(ak, function.__name__, None) is function
)
X = ak.Array([[1.0, 2.0], []])


@pytest.mark.parametrize("name", [name for name in HOST_ONLY if name not in ("ArrayBuilder", "to_parquet_row_groups")])
def test_host_only(name):
    entry = registry.find(getattr(ak, name))
    file = ("/nowhere",) if name in ("to_feather", "to_parquet", "to_parquet_dataset") else ()
    for argument in (X, np.arange(3.0)):
        given = {"x": argument} if name == "to_rdataframe" else argument
        with pytest.raises(akjax.ConcreteValueError) as error:
            jax.jit(lambda x: getattr(ak, name)(x, *file))(given)
        assert str(error.value).startswith(f"ak.{name} needs the values")
        assert entry.host_only.split(". ", 1)[1] in str(error.value)


def test_row_groups():
    with pytest.raises(TypeError):
        jax.jit(lambda x: ak.to_parquet_row_groups(iter([x]), "/nowhere"))(X)


@pytest.mark.parametrize("name", ["append", "extend", "real", "integer", "complex", "boolean"])
def test_builder(name):
    with pytest.raises(akjax.ConcreteValueError, match="from_iter"):
        jax.jit(lambda x: getattr(ak.ArrayBuilder(), name)(x))(1.0)


def test_builder_of_concrete_values():
    builder = ak.ArrayBuilder()
    builder.append(jnp.float32(1.5))
    builder.real(np.float64(2.5))
    builder.integer(3)
    assert builder.snapshot().to_list() == [1.5, 2.5, 3.0]


def test_backends():
    assert jax.jit(lambda x: ak.to_backend(x, "jax") * 2)(X).to_list() == [[2.0, 4.0], []]
    with pytest.raises(akjax.ConcreteValueError, match="backend"):
        jax.jit(lambda x: ak.to_backend(x, "cpu"))(X)


def test_outside_everything_is_awkwards():
    """The guarded functions pass on what is not traced."""
    assert ak.from_iter([1, 2]).to_list() == [1, 2]
    assert ak.from_json("[1, [2]]").to_list() == [1, [2]]
    assert ak.from_numpy(np.arange(2)).to_list() == [0, 1]
    assert ak.from_numpy(jnp.arange(2)).to_list() == [0, 1]
    assert ak.from_buffers(*ak.to_buffers(X)).to_list() == X.to_list()
    assert ak.from_jax(jnp.arange(2)).layout.backend.name == "cpu"
