"""Compilation: how it grows with the graph, and what it does to graphs of any form."""
