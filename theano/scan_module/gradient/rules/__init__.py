"""Gradients of operations that are not PyTensor's."""
