"""Static structure: Awkward layouts to nodes and back, and the hashable half of an array."""
