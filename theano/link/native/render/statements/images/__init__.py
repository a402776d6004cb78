"""How what works on one image after the other reads in C."""
