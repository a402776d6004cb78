"""Every rewrite that Theano's modes run, on graphs made for it, against the graph unrewritten."""

import theano

# imported before PyTensor, so that the flags hold
assert theano
