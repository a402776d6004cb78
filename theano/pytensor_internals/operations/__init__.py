"""PyTensor's insides of operations: of scalars, tensors and sparse matrices."""
