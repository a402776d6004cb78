"""Operations that users write: their C code, gradients and results."""
