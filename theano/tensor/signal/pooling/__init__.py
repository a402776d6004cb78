"""Pooling: operators that the engines know, and where windows lie."""
