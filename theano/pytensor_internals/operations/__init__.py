"""PyTensor's internals for operations: of scalars, tensors and sparse matrices."""
