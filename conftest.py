"""What every test run shares: how JAX starts, names for docstring examples, hypothesis profiles.

Environment variables read here:

* ``AKJAX_TEST_X64=0``: run without 64-bit types (JAX's own default; the tests' default is with them).
* ``AKJAX_TEST_GPU=1``: use the accelerator and run the tests marked ``gpu``.
* ``AKJAX_TEST_PROGRAMS``: a folder that keeps compiled programs for the next run; without it, one for this run only.
* ``HYPOTHESIS_PROFILE``: ``default``, ``ci`` or ``campaign``.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import hypothesis
import pytest

GPU = os.environ.get("AKJAX_TEST_GPU", "0") == "1"
X64 = os.environ.get("AKJAX_TEST_X64", "1") != "0"

# Before JAX starts: two devices on the host, so that moving between devices can be tested anywhere.
if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    os.environ["XLA_FLAGS"] = flags.strip()
os.environ["JAX_ENABLE_X64"] = "1" if X64 else "0"
if not GPU:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")

# Many tests ask for a program that another test or module has compiled, and compiling takes most of their time.
# A folder for each worker, as JAX writes these files in place, where another process may read half of one.
if "AKJAX_TEST_PROGRAMS" not in os.environ:
    os.environ["AKJAX_TEST_PROGRAMS"] = tempfile.mkdtemp(prefix="akjax-programs-")
    atexit.register(shutil.rmtree, os.environ["AKJAX_TEST_PROGRAMS"], ignore_errors=True)
_worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
os.environ["JAX_COMPILATION_CACHE_DIR"] = os.path.join(os.environ["AKJAX_TEST_PROGRAMS"], _worker)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

if "jax" in sys.modules:  # a pytest plugin was first; JAX reads those variables when it is imported
    import jax

    jax.config.update("jax_enable_x64", X64)
    jax.config.update("jax_platforms", os.environ.get("JAX_PLATFORMS"))
    jax.config.update("jax_compilation_cache_dir", os.environ["JAX_COMPILATION_CACHE_DIR"])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

_settings: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],  # compiling takes the time
}
hypothesis.settings.register_profile("default", max_examples=50, **_settings)
hypothesis.settings.register_profile("ci", max_examples=50, derandomize=True, print_blob=True, **_settings)
hypothesis.settings.register_profile("campaign", max_examples=2000, print_blob=True, **_settings)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="needs an accelerator: AKJAX_TEST_GPU=1")
    if not GPU:
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(skip)


@pytest.fixture(autouse=True)
def _accelerator(request: pytest.FixtureRequest) -> None:
    """A test marked ``gpu`` never passes by running on the host."""
    if request.node.get_closest_marker("gpu"):
        import jax

        assert jax.default_backend() != "cpu", "AKJAX_TEST_GPU=1, but JAX found no accelerator"


@pytest.fixture(autouse=True)
def _doctest_names(request: pytest.FixtureRequest) -> None:
    """Names that docstring examples use without importing them, each where its library is known at all."""
    if not isinstance(request.node, pytest.DoctestItem) or "pydag" in request.node.path.parts:
        return
    import jax
    import numpy as np

    namespace: dict[str, Any] = request.getfixturevalue("doctest_namespace")
    namespace.update(jax=jax, jnp=jax.numpy, np=np)
    if "kernels" in request.node.path.parts:
        return
    import awkward as ak

    import akjax

    akjax.register()
    namespace.update(ak=ak, akjax=akjax)


@pytest.fixture(autouse=True, scope="module")
def _forget_programs() -> Iterator[None]:
    """Thousands of compiled programs make everything slower; no module needs those of another."""
    yield
    import jax

    jax.clear_caches()
