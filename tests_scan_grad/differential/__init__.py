"""Programs with loops, described as data, run by Theano and interpreted by unrolled NumPy.

``programs`` says what a program is, ``drawing`` makes one of a seed, ``operations`` lists what a
step can do, ``interpreter`` runs a program in long double with its derivatives (``dual``),
``building`` makes a Theano function of it, ``agreement`` compares the two. Nothing of the
interpretation uses Theano or PyTensor.
"""
