"""Code that only PyTensor 3.0 needs, given the names and shapes of 3.3: goes with Python 3.11."""
