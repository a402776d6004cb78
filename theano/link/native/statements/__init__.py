"""Statements of steps: one class for a kind of statement, one module for a kind or a small family."""
