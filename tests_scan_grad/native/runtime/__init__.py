"""The C runtime: products, correlations, activations, and the pool of threads."""
