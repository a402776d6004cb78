"""The tasks of kernels in C: one module for a family of them."""
