"""The schedule: which of PyTensor's rewrites run, and how."""
