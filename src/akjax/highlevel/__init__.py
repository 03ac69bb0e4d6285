"""What the user holds while tracing: an `ak.Array` whose buffers are tracers."""
