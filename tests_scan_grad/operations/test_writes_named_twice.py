"""Elements that are increased where a position is named more than once."""

import numpy as np
import pytest

import theano
import theano.tensor as T

MODES = ["FAST_RUN", "FAST_COMPILE", "XLA"]


@pytest.fixture(params=MODES)
def mode(request):
    if request.param == "XLA":
        pytest.importorskip("jax")
    return request.param


def increased(array, index, by, once):
    result = array.copy()
    if once:
        result[index] += by
    else:
        np.add.at(result, index, by)
    return result


@pytest.mark.parametrize("once", [True, False])
def test_rows(mode, once):
    x, i, v = T.dmatrix("x"), T.lvector("i"), T.dmatrix("v")
    fn = theano.function([x, i, v], T.inc_subtensor(x[i], v, ignore_duplicates=once), mode=mode)
    array, rows = np.arange(6.0).reshape(3, 2), np.array([1, 1, 2])
    by = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(fn(array, rows, by), increased(array, rows, by, once))


@pytest.mark.parametrize("once", [True, False])
def test_elements(mode, once):
    x, i, j, v = T.dmatrix("x"), T.lvector("i"), T.lvector("j"), T.dscalar("v")
    result = T.inc_subtensor(x[i, j], v, ignore_duplicates=once)
    fn = theano.function([x, i, j, v], result, mode=mode)
    array, index = np.arange(6.0).reshape(2, 3), (np.array([0, 1, 0]), np.array([2, 1, 2]))
    np.testing.assert_array_equal(fn(array, *index, 0.5), increased(array, index, 0.5, once))


@pytest.mark.parametrize("once", [True, False])
def test_a_state_in_a_loop(mode, once):
    rows, v = T.lmatrix("rows"), T.dscalar("v")

    def step(i, state):
        return T.inc_subtensor(state[i], v, ignore_duplicates=once)

    states, _ = theano.scan(step, sequences=[rows], outputs_info=[T.zeros(3)])
    fn = theano.function([rows, v], states[-1], mode=mode)
    places = np.array([[1, 1], [0, 1], [2, 2]])
    state = np.zeros(3)
    for index in places:
        state = increased(state, index, 1.5, once)
    np.testing.assert_array_equal(fn(places, 1.5), state)
