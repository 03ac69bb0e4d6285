"""Pure ``jax.numpy`` kernels on raw buffers: no Awkward in here."""
