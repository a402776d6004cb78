"""Element-wise work and what is chosen element by element."""
