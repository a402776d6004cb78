"""Names that programs take from Theano 1.0's `theano.gpuarray.tests`."""
