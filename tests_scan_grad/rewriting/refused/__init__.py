"""PyTensor rewrites that run under a condition: graphs on both sides of each condition."""
