"""PyTensor's internals for graphs, their rewriting, their loops and shapes."""
