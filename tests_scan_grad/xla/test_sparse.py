"""Functions of sparse matrices in mode 'XLA': these stay on the host, and what is computed of arrays does not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import theano
import theano.tensor as T
from theano import sparse

pytest.importorskip("jax")

RANDOM = np.random.default_rng(0)
DENSE = RANDOM.normal(size=(4, 4)) * (RANDOM.random((4, 4)) > 0.5)
ROWS = RANDOM.normal(size=(4, 3))


def _loop(step_matrix, rows, *non_sequences):
    states, _ = theano.scan(
        lambda h, *given: T.tanh(sparse.dot(step_matrix or given[0], h)),
        outputs_info=rows,
        non_sequences=non_sequences,
        n_steps=3,
    )
    return [states, theano.grad(states.sum(), rows)]


def _made_in_steps(rows):
    states, _ = theano.scan(
        lambda x, h: T.tanh(sparse.dot(sparse.csr_from_dense(x), h)),
        sequences=T.stack([T.as_tensor_variable(DENSE), 2 * T.as_tensor_variable(DENSE)]),
        outputs_info=rows,
    )
    return [states, theano.grad(states.sum(), rows)]


def _shared():
    return theano.shared(scipy.sparse.csr_matrix(DENSE), "shared")


def _gradient_by_a_sparse_matrix(matrix, rows):
    cost = (sparse.structured_dot(matrix, rows) ** 2).sum()
    return sparse.dense_from_sparse(theano.grad(cost, matrix))


# of a sparse matrix and an array
OF_BOTH = {
    "product": sparse.dot,
    "array next to it": lambda m, x: T.tanh(sparse.dot(m, T.exp(x))).sum(0),
    "gradient by the array": lambda m, x: theano.grad((sparse.dot(m, T.exp(x)) ** 2).sum(), x),
    "gradient by the matrix": _gradient_by_a_sparse_matrix,
    "sparse result": lambda m, x: [sparse.structured_sigmoid(m), T.exp(x)],
    "sum": lambda m, x: sparse.sp_sum(m, axis=0) + x.sum(),
    "parts": lambda m, x: [*sparse.csm_properties(m), x * 2],
    "loop": lambda m, x: _loop(None, x, m),
}

# of an array
OF_ONE = {
    "of an array": lambda x: sparse.dot(sparse.csr_from_dense(x.dot(x.T)), x),
    "constant": lambda x: sparse.dot(sparse.as_sparse_variable(_shared().get_value()), T.tanh(x)),
    "shared": lambda x: sparse.dot(_shared(), T.exp(x)).sum(),
    "shared, in a loop": lambda x: _loop(_shared(), x),
    "made in steps": _made_in_steps,
}


def _as_array(value):
    return value.toarray() if scipy.sparse.issparse(value) else np.asarray(value)


def _check(variables, outputs, values):
    wanted = outputs if isinstance(outputs, list) else [outputs]
    f = theano.function(variables, wanted, mode="XLA")
    expected = theano.function(variables, wanted, mode="FAST_COMPILE")(*values)
    for _ in range(2):
        for found, right in zip(f(*values), expected, strict=True):
            assert type(found) is type(right) and found.dtype == right.dtype
            np.testing.assert_allclose(_as_array(found), _as_array(right), rtol=1e-9, atol=1e-14)
    return f


@pytest.mark.parametrize("build", OF_BOTH.values(), ids=OF_BOTH)
def test_of_a_sparse_matrix_and_an_array(build):
    matrix, rows = sparse.csr_matrix("matrix", dtype="float64"), T.dmatrix("rows")
    f = _check([matrix, rows], build(matrix, rows), [scipy.sparse.csr_matrix(DENSE), ROWS])
    assert any("Sparse" in reason for reason in f.vm.plan.reasons.values())


@pytest.mark.parametrize("build", OF_ONE.values(), ids=OF_ONE)
def test_of_an_array(build):
    rows = T.dmatrix("rows")
    _check([rows], build(rows), [ROWS])


def test_what_is_computed_of_arrays_is_the_devices():
    matrix, rows = sparse.csr_matrix("matrix", dtype="float64"), T.dmatrix("rows")
    f = theano.function([matrix, rows], T.tanh(sparse.dot(matrix, T.exp(rows))), mode="XLA")
    assert [type(node.op).__name__ for node in f.vm.plan.reasons] == ["Dot"]


def test_a_shared_sparse_matrix_is_updated():
    shared, rows = _shared(), T.dmatrix("rows")
    f = theano.function(
        [rows], sparse.dot(shared, rows), updates=[(shared, shared * 2.0)], mode="XLA"
    )
    np.testing.assert_allclose(f(ROWS), DENSE @ ROWS)
    np.testing.assert_allclose(f(ROWS), 2 * DENSE @ ROWS)
    np.testing.assert_allclose(shared.get_value().toarray(), 4 * DENSE)
