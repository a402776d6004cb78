"""Kernels as CUDA C: the only place of this engine with text of that language."""
