"""Factors, inverses and determinants of matrices."""
