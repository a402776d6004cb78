"""Rough times on one thread, which decide how many threads share a step."""

from __future__ import annotations

# Nanoseconds, on a processor with vectors of 32 to 64 bytes.
MULTIPLY_ADD = {"float32": 0.03, "float64": 0.06}
MOVE = 0.1
ARITHMETIC = 0.05
VECTOR_FUNCTION = {"float32": 0.5, "float64": 2.0}
FUNCTION = 10.0
