"""Loops that keep few steps for their gradient and compute the others again, as a budget of memory asks."""
