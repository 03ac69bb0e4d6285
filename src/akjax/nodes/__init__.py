"""The layout of an array whose buffers may be traced: nodes hold data only."""
