"""Flags: what one is, what values it takes, where users set it, and the longer tables of them."""
