"""What variables do themselves: their truth, new axes, and `eval`."""
