"""PyTensor's internals that compile and link functions, and their modes and flags."""
