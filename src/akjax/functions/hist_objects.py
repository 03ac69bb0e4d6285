"""`akjax.to_hist`: counts made inside a program, as a histogram to plot and to keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from .binnings import axes_of


def to_hist(counts: Any, bins: Any, *, variances: Any = None) -> Any:
    """A `hist.Hist` of counts, outside the compiled function.

    It needs the package `hist`. The other direction needs nothing: `akjax.histogram` takes a `hist.Hist`, or its axes,
    for its bins.

    Args:
        counts: what `akjax.histogram` gave, with or without the bins below and above (`flow`).
        bins: the axes: a `hist.Hist`, axes of `hist`, or edges as `akjax.histogram` returns them.
        variances: their variances (for weights w, `akjax.histogram` with weights `w**2`), in the same shape.

    Returns:
        A new `hist.Hist` with these contents: of weights and variances if `variances` is given, else of numbers.

    Raises:
        ValueError: the counts do not have the shape of the axes.

    Example:
        >>> import akjax
        >>> counts, edges = akjax.histogram([0.5, 1.5, 1.7], [0.0, 1.0, 2.0])
        >>> akjax.to_hist(counts, edges).values().tolist()
        [1.0, 2.0]
    """
    import hist

    axes = axes_of(bins)
    if axes is None:
        each = bins if isinstance(bins, list | tuple) and np.ndim(bins[0]) == 1 else [bins]
        axes = [hist.axis.Variable(np.asarray(edges, dtype=float)) for edges in each]
    contents = np.asarray(counts)
    flow = contents.shape == tuple(axis.extent for axis in axes)
    if not flow and contents.shape != tuple(len(axis) for axis in axes):
        message = f"counts of shape {contents.shape} do not fit axes with {tuple(len(axis) for axis in axes)} bins"
        raise ValueError(message)
    made = hist.Hist(*axes, storage=hist.storage.Double() if variances is None else hist.storage.Weight())
    view: Any = made.view(flow=flow)
    if variances is None:
        view[...] = contents
    else:
        view["value"] = contents
        view["variance"] = np.asarray(variances)
    return made
