"""Functions that PyTensor has in another form than Theano 1.0."""
