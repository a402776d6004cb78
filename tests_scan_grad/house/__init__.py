"""The package as a whole: its layers, what importing it costs, and what it offers to PyTensor."""
