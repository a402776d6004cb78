"""Training of examples/char_rnn.py, through its functions."""

import numpy as np
import pytest
from char_model import checkpoint, model, optimizer
from char_model.errors import InputError

import theano
import theano.tensor as T
from tests_scan_grad.char_rnn.program import assert_same, show_nothing


def test_a_stop_within_an_epoch_changes_nothing(start, tmp_path):
    for _ in range(2):
        assert start.train_epoch(show_nothing, lambda: False)
    expected = start.checkpoint()

    start.restore(start.first_checkpoint)
    stops = iter([False] * 5 + [True] + [False] * (start.chunks - 1) + [True])
    finished = []
    while start.position.epoch < 2:
        finished.append(start.train_epoch(show_nothing, lambda: next(stops, False)))
        checkpoint.save(tmp_path, start.checkpoint())
        start.restore(start.first_checkpoint)
        start.restore(checkpoint.load(tmp_path))
    assert finished.count(False) == 2
    assert_same(start.checkpoint(), expected)


def test_validation_leaves_training_as_it_was(start):
    start.train_epoch(show_nothing, lambda: start.position.chunk == 3)
    before = start.checkpoint()
    assert start.validate() == start.validate()
    assert_same(start.checkpoint(), before)


def test_a_loss_that_is_no_number_stops_training(start):
    output = start.parameters["output"]
    output.set_value(np.full_like(output.get_value(), np.nan))
    with pytest.raises(InputError, match="loss became nan in epoch 1.*--learning-rate"):
        start.train_epoch(show_nothing, lambda: False)


def test_hidden_states_follow_the_equations_of_the_gru():
    theano.config.floatX = "float64"
    generator = np.random.default_rng(3)
    parameters = model.make_parameters(5, 4, generator)
    for parameter in parameters.values():
        parameter.set_value(generator.normal(size=parameter.get_value().shape))
    value = {name: parameter.get_value() for name, parameter in parameters.items()}
    codes = generator.integers(5, size=(6, 2)).astype("int32")
    h = start = generator.normal(size=(2, 4))
    expected = []
    for row in codes:
        x = {gate: value[f"input_{gate}"][row] + value[f"bias_{gate}"] for gate in model.GATES}
        product = {gate: h @ value[f"recurrent_{gate}"] for gate in model.GATES}
        reset = 1 / (1 + np.exp(-x["reset"] - product["reset"]))
        update = 1 / (1 + np.exp(-x["update"] - product["update"]))
        new = np.tanh(x["new"] + reset * (product["new"] + value["recurrent_bias_new"]))
        h = update * h + (1 - update) * new
        expected.append(h)
    states = model.hidden_states(parameters, T.constant(codes), T.constant(start))
    computed = theano.function([], states, mode="FAST_COMPILE")()
    np.testing.assert_allclose(computed, expected, rtol=1e-12)


def test_adam_takes_the_steps_of_its_definition():
    theano.config.floatX = "float64"
    x = theano.shared(np.array([1.0, -2.0]), name="x")
    updates, state = optimizer.adam({"x": x}, [2 * x], learning_rate=0.1)
    step = theano.function([], updates=updates)
    value, mean, square = np.array([1.0, -2.0]), 0.0, 0.0
    for count in range(1, 4):
        gradient = 2 * value
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        root = np.sqrt(square / (1 - 0.999**count))
        value = value - 0.1 * mean / (1 - 0.9**count) / (root + 1e-8)
        step()
    np.testing.assert_allclose(x.get_value(), value, rtol=1e-12)
    assert state.keys() == {"adam_count", "adam_mean_x", "adam_square_x"}


@pytest.mark.parametrize(("largest", "scale"), [(1.0, 0.1), (10.0, 1.0), (20.0, 1.0)])
def test_clipping_scales_all_gradients_by_one_factor(largest, scale):
    gradients = [np.array([6.0, 0.0]), np.array([[8.0]])]  # a joint norm of 10
    clipped = optimizer.clip_by_global_norm([T.constant(g) for g in gradients], largest)
    for gradient, result in zip(gradients, theano.function([], clipped)(), strict=True):
        np.testing.assert_allclose(result, scale * gradient)


def test_clipping_leaves_zero_gradients_at_zero():
    (clipped,) = optimizer.clip_by_global_norm([T.constant(np.zeros(3))], 1.0)
    np.testing.assert_array_equal(clipped.eval(), np.zeros(3))
