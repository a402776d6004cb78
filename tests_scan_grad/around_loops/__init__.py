"""Programs around loops: what loops put out is joined, cut, written, moved and read together.

``drawing`` makes a program of ``pieces`` and ``loops`` from a seed; ``programs`` computes it in
unrolled NumPy and builds it as a graph; ``agreement`` compares the two.
"""
