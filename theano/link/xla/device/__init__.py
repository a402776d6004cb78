"""A device: its name, and the programs and values on it."""
