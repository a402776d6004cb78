"""Products of matrices, and matrices of a known structure."""
