"""Crossing the boundary: arrays as JAX pytrees."""
