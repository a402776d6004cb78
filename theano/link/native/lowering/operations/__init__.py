"""Lowerings of operations: one module for a family of operators."""
