"""Linear algebra as Theano 1.0 has it: operators, their gradients and rewrites."""
