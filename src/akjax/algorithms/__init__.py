"""Nodes in, nodes out: moving, broadcasting, reducing, selecting."""
