"""A program for `test_program_profiles.py`: what it does that a profile has something to say of."""

import sys

import numpy as np

import theano
import theano.tensor as T
from theano.scan_module import until

x, w = T.tensor3("x"), theano.shared(0.1 * np.ones((256, 256)), name="w")


def step(x, h, w):
    projected = x.dot(w)
    return T.tanh(projected + h), until(h.sum() > 1e9)


h, _ = theano.scan(
    step, sequences=x, outputs_info=T.zeros((32, 256)), non_sequences=w, name="may_stop"
)
train = theano.function([x], h[-1].sum(), name="train")
for _ in range(int(sys.argv[1])):
    train(np.full((50, 32, 256), 1e-3))
for k in range(5):
    again = theano.function([], w.sum() * k)
    again()
if "fail" in sys.argv:
    raise ArithmeticError("as was asked")
