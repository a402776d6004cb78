"""Statements in C: one module for a family of kinds."""
