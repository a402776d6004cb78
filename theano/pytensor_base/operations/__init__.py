"""What is relied upon of operations: of scalars, tensors and sparse matrices."""
