"""Names that programs take from Theano 1.0's `theano.tests`: helpers of tests, and a breakpoint."""
