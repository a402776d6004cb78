"""Correlations of batches of images with filters, and their gradients: what engines know of them."""
