"""Awkward Arrays in JAX: ragged data straight into `jit`, `grad`, `vmap` and `scan`."""

from . import pydag as pydag
from .caches import clear_caches as clear_caches
from .errors import AkjaxError as AkjaxError
from .errors import ConcreteValueError as ConcreteValueError
from .errors import RegistrationError as RegistrationError
from .errors import RetraceWarning as RetraceWarning
from .errors import StructureError as StructureError
from .functions.hist_objects import to_hist as to_hist
from .functions.soft_histograms import histogram as histogram
from .highlevel.retracing import no_retracing as no_retracing
from .transforms.checked import checked as checked
from .transforms.compact import compact as compact
from .transforms.like import like as like
from .transforms.partition import combine as combine
from .transforms.partition import partition as partition
from .transforms.register import register as register
from .transforms.stream import ChunkWarning as ChunkWarning
from .transforms.stream import stream as stream
from .transforms.traced import envelope as envelope
from .transforms.traced import traced as traced
from .transforms.unshare import unshare as unshare
from .transforms.vmap import vmap as vmap
from .transforms.with_live import with_live as with_live

__version__ = "0.1.0.dev0"

__all__ = [
    "AkjaxError",
    "ChunkWarning",
    "ConcreteValueError",
    "RegistrationError",
    "RetraceWarning",
    "StructureError",
    "__version__",
    "checked",
    "clear_caches",
    "combine",
    "compact",
    "envelope",
    "histogram",
    "like",
    "no_retracing",
    "partition",
    "pydag",
    "register",
    "stream",
    "to_hist",
    "traced",
    "unshare",
    "vmap",
    "with_live",
]
