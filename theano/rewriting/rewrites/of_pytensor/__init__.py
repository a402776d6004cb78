"""PyTensor's rewrites: which run, under what condition, and what runs instead."""
