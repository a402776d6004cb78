"""Views of dictionaries and iterators, which were lists in Python 2, where Theano takes lists."""

from collections import OrderedDict

import numpy as np
import pytest

import theano
import theano.tensor as T

VIEWS = [
    lambda *variables: OrderedDict(enumerate(variables)).values(),
    lambda *variables: dict(enumerate(variables)).values(),
    lambda *variables: dict.fromkeys(variables).keys(),
    lambda *variables: iter(variables),
    lambda *variables: map(T.as_tensor_variable, variables),
    lambda *variables: (variable for variable in variables),
]
views = pytest.mark.parametrize(
    "view", VIEWS, ids="ordered values keys iterator map generator".split()
)


@views
def test_wrt(view):
    x, y = T.dscalars("x", "y")
    gradients = theano.grad(x**2 * y, view(x, y))
    assert isinstance(gradients, list)
    assert [float(g.eval({x: 3.0, y: 2.0})) for g in gradients] == [12.0, 9.0]


@views
def test_inputs_and_outputs(view):
    x, y = T.dscalars("x", "y")
    assert theano.function(view(x, y), view(x - y, x + y))(3, 2) == [1, 5]


@views
def test_arguments_of_scan(view):
    x, a, h = T.dvector("x"), T.dscalar("a"), T.dscalar("h")
    states, _ = theano.scan(
        lambda x, h, a: a * h + x, sequences=view(x), outputs_info=view(h), non_sequences=view(a)
    )
    assert theano.function([x, h, a], states)([1, 2], 3, 2).tolist() == [7, 16]


@views
@pytest.mark.parametrize(
    "join, expected", [(T.concatenate, np.arange(4)), (T.stack, [[0, 1], [2, 3]])]
)
def test_joined_tensors(view, join, expected):
    x, y = T.dvectors("x", "y")
    np.testing.assert_array_equal(
        theano.function([x, y], join(view(x, y)))([0, 1], [2, 3]), expected
    )


def test_an_array_is_no_list_of_variables():
    with pytest.raises(TypeError, match="should be contained in a list"):
        theano.function(np.ones(2), T.dscalar("x"))
