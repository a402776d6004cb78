"""Sparse matrices in functions of the native engine: PyTensor's own operators run them."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import theano
import theano.sparse
import theano.tensor as T
from theano.sparse.opt import AddSD_ccode

MATRIX = scipy.sparse.csr_matrix(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))


@pytest.mark.parametrize("given", [MATRIX, scipy.sparse.csc_matrix((2, 3))])
def test_a_sparse_constant_is_returned(given):
    f = theano.function([], theano.sparse.as_sparse_variable(given))
    assert (f() != given).nnz == 0 and f().format == given.format


def test_a_sparse_matrix_that_a_loop_does_not_change_reaches_its_step():
    x, h = theano.sparse.csr_matrix("x"), T.vector("h")
    states, _ = theano.scan(
        lambda h, x: theano.sparse.dot(x.T, theano.sparse.dot(x, h)),
        outputs_info=[h],
        non_sequences=[x],
        n_steps=2,
    )
    product = (MATRIX.T @ MATRIX).toarray()
    start = np.arange(3.0)
    (last,) = theano.function([x, h], [states[-1]])(MATRIX, start)
    assert_allclose(last, product @ product @ start)


def test_operators_that_exist_in_c_only_run_in_c():
    x, dense = theano.sparse.csc_matrix("x"), T.matrix("dense")
    f = theano.function([x, dense], theano.sparse.add(x, dense))
    assert any(isinstance(node.op, AddSD_ccode) for node in f.maker.fgraph.toposort())
    ones = np.ones((2, 3))
    assert_allclose(f(MATRIX.tocsc(), ones), MATRIX.toarray() + ones)
