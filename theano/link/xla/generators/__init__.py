"""Samples by JAX's generators, from keys that are made of the states of others."""
