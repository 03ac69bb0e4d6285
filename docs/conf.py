"""Sphinx configuration."""

from __future__ import annotations

from importlib.metadata import version as _version

project = "akjax"
author = "akjax developers"
copyright = author
release = version = _version("akjax")

extensions = ["myst_nb", "sphinx.ext.mathjax"]
exclude_patterns = ["_build", "jupyter_execute", "**/.ipynb_checkpoints"]

# Notebook pages are executed at every build. Plain ```python blocks are executed by tests/test_docs.py.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "akjax"
