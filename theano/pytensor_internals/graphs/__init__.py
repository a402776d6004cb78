"""PyTensor's insides of graphs, their rewriting, their loops and shapes."""
