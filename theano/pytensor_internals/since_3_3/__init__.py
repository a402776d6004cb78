"""Code that only PyTensor 3.3 needs: operators of Theano's that it no longer has, steps that it froze."""
