"""The profile of a whole program: ``python -m theano.profile script.py``.

The program runs as it would without; then a page says what its functions, loops, statements and
lines took, next to what the processor can do, what compilation took, and what may help.
"""
