"""Models of PyMC's."""
