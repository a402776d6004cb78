"""Loops that PyTensor runs, with operators in their steps that are graphs, such as softmax."""

import numpy as np

import theano
import theano.tensor as T


def test_a_graph_that_native_code_runs_is_not_compiled_again(compilations):
    x = T.dmatrix("x")

    def step(row, h):
        distinct = T.extra_ops.Unique()(row).sum()
        return T.nnet.softmax((h + row + distinct).dimshuffle("x", 0))[0]

    states, _ = theano.scan(step, sequences=x, outputs_info=T.zeros(4))
    f = theano.function([x], states)
    np.testing.assert_allclose(f(np.ones((3, 4))), np.full((3, 4), 0.25))
    f.free()
    assert not compilations
