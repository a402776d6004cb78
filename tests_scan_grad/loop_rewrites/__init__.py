"""Rewrites of loops: what leaves a loop, what is computed once, and the graphs that result."""
