"""How the tasks of kernels read in C: one module for a family of them."""
