"""Passes, which change a lowered step before it is written as C."""
