"""The main job of the package: a dimuon analysis, compiled and differentiated as one program.

Run it with `akjax demo`, or with `python -m akjax.demo`.
"""
