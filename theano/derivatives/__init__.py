"""The parts of `theano.gradient`."""
