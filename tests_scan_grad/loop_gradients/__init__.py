"""Gradients of loops: one kind of loop or of derivative each, and what is saved for them."""
