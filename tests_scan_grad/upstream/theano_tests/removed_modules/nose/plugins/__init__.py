"""The plugins of nose that Theano's tests use."""
