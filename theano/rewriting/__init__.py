"""The choice and order of PyTensor's rewrites, and how often they look at a node.

PyTensor's database says what there is. `left_out` names what is not asked for, `arranged` puts
faster ways of running the rest in the places of PyTensor's.
"""

from theano.rewriting.arranged import arranged

__all__ = ["arranged"]
