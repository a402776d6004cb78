"""Loops that PyTensor's rewrites made or change: kept as the others rely on."""
