"""Checks that what a user's ``perform`` puts into its outputs is of the outputs' types."""

import numpy as np
import pytest

import theano
import theano.sparse
import theano.tensor as T

MODES = ["FAST_RUN", "FAST_COMPILE", theano.Mode("vm"), theano.Mode("c|py"), "XLA"]


class Puts(theano.Op):
    """An operation that puts what a function gives into its output."""

    __props__ = ()

    def __init__(self, function, kind):
        self.function, self.kind = function, kind

    def make_node(self, x):
        return theano.Apply(self, [x], [self.kind()])

    def perform(self, node, inputs, output_storage):
        value = self.function(inputs[0])
        if value is not None:
            output_storage[0][0] = value


WRONG = {
    "nothing": (lambda x: None, T.dvector, TypeError, "nothing was put into it"),
    "list": (lambda x: x.tolist(), T.dvector, TypeError, "list [0.0, 1.0, 2.0]"),
    "dtype": (lambda x: x.astype("float32"), T.dvector, TypeError, "float32 and shape (3,)"),
    "ndim": (lambda x: x[None], T.dvector, TypeError, "float64 and shape (1, 3)"),
    "number": (lambda x: 3.5, T.dvector, TypeError, "float 3.5"),
    "length": (lambda x: x.reshape((3, 1)), T.drow, ValueError, "shape (3, 1)"),
    "fraction": (lambda x: 3.5, T.lscalar, TypeError, "float 3.5"),
    "dense": (lambda x: x[None], theano.sparse.csr_dmatrix, TypeError, "it put "),
    "no_object": (lambda x: None, theano.sparse.csr_dmatrix, TypeError, "nothing was put"),
}


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("name", WRONG)
def test_another_value_is_an_error(name, mode):
    function, kind, error, words = WRONG[name]
    x = T.dvector("x")
    made = Puts(function, kind)(x)
    if name in ("dense", "no_object"):
        made = theano.sparse.dense_from_sparse(made)
    for result in (made, T.exp(made) + 1):
        compiled = theano.function([x], result, mode=mode)
        with pytest.raises(error) as caught:
            compiled(np.arange(3.0))
        message = str(caught.value)
        assert "Puts: perform must put a value of the type" in message
        assert "output_storage[0][0]" in message
        assert words in message
        if mode != "XLA":
            assert __file__ in message


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_another_value_in_a_step_is_an_error(mode):
    operation = Puts(lambda x: None, T.dvector)
    x = T.dvector("x")
    rows, _ = theano.scan(lambda t, x: operation(t * x), T.arange(3.0), non_sequences=x)
    with pytest.raises(TypeError, match="nothing was put into it") as caught:
        theano.function([x], rows, mode=mode)(np.ones(2))
    assert "In a step of the loop" in str(caught.value)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_numbers_are_arrays_without_dimensions(mode):
    x = T.dvector("x")
    functions = [lambda x: x.sum(), lambda x: float(x.sum()), lambda x: int(x.sum())]
    results = [Puts(function, T.dscalar)(x) for function in functions]
    values = theano.function([x], results, mode=mode)(np.arange(3.0))
    assert [(type(value), value.dtype, value.shape) for value in values] == [
        (np.ndarray, np.float64, ())
    ] * 3
    assert [float(value) for value in values] == [3.0] * 3


def test_functions_that_are_operations_are_looked_at():
    @theano.as_op(itypes=[T.dvector], otypes=[T.dvector])
    def as_integers(x):
        return x.astype("int64")

    x = T.dvector("x")
    with pytest.raises(TypeError, match="as_integers}: perform must put .* dtype int64"):
        theano.function([x], as_integers(x))(np.arange(3.0))


def test_the_class_of_an_array_and_the_order_of_its_bytes_are_free():
    x = T.dvector("x")
    for function in (lambda x: x.view(np.recarray), lambda x: x.astype(">f8")):
        result = theano.function([x], Puts(function, T.dvector)(x) + 1)(np.arange(3.0))
        np.testing.assert_array_equal(result, [1, 2, 3])


def test_a_sparse_result_is_right():
    import scipy.sparse

    x = T.dvector("x")
    kind = theano.sparse.csr_dmatrix
    made = Puts(lambda x: scipy.sparse.csr_matrix(x[None]), kind)(x)
    result = theano.function([x], theano.sparse.dense_from_sparse(made))(np.arange(3.0))
    np.testing.assert_array_equal(result, [[0, 1, 2]])
