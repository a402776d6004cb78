"""What is relied upon of graphs, their rewriting, their loops and shapes."""
