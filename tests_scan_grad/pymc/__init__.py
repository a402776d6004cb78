"""PyMC models."""
