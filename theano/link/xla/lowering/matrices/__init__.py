"""Operations on matrices, of which JAX's own read more than the part that they should read."""
