"""Code that only PyTensor 3.3 needs: Theano operators that it no longer has, steps that it froze."""
