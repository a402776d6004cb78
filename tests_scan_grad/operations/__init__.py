"""Operations and their gradients, against NumPy."""
