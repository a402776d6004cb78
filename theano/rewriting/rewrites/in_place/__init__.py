"""Results in the memory of what they are computed from."""
