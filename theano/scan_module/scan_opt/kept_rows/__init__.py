"""Rewrites after which a loop keeps, or runs, no more rows than are read."""
