"""Convolutions and what else is done with images."""
