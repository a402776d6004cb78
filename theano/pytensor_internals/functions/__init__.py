"""PyTensor's insides that compile and link functions, and their modes and flags."""
