"""What `theano.gradient` is made of."""
