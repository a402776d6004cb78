"""A gated recurrent unit (GRU) over characters, written with `theano.scan`."""

import numpy as np

import theano
import theano.tensor as T

GATES = ("reset", "update", "new")


def make_parameters(vocabulary_size: int, hidden_size: int, generator: np.random.Generator) -> dict:
    """Return the model's weights as shared variables, by name.

    Weights start uniform in plus or minus ``1 / sqrt(hidden_size)``, biases at zero.
    """
    bound = 1 / np.sqrt(hidden_size)
    shapes = {}
    for gate in GATES:
        shapes[f"input_{gate}"] = (vocabulary_size, hidden_size)
        shapes[f"recurrent_{gate}"] = (hidden_size, hidden_size)
        shapes[f"bias_{gate}"] = (hidden_size,)
    shapes["recurrent_bias_new"] = (hidden_size,)
    shapes["output"] = (hidden_size, vocabulary_size)
    shapes["bias_output"] = (vocabulary_size,)

    def start(shape: tuple) -> np.ndarray:
        is_bias = len(shape) == 1
        values = np.zeros(shape) if is_bias else generator.uniform(-bound, bound, shape)
        return values.astype(theano.config.floatX)

    return {name: theano.shared(start(shape), name=name) for name, shape in shapes.items()}


def zero_state(batch: int, hidden_size: int) -> np.ndarray:
    """Return the hidden state before the first character, of shape (batch, hidden_size)."""
    return np.zeros((batch, hidden_size), dtype=theano.config.floatX)


def gru_step(x_reset, x_update, x_new, h, U_reset, U_update, U_new, b_new):
    """Advance the hidden state `h` by one character; `x_*` are projected inputs."""
    reset = T.nnet.sigmoid(x_reset + h.dot(U_reset))
    update = T.nnet.sigmoid(x_update + h.dot(U_update))
    new = T.tanh(x_new + reset * (h.dot(U_new) + b_new))
    return update * h + (1 - update) * new


def hidden_states(parameters: dict, codes, state):
    """Return the hidden states after each character.

    Parameters
    ----------
    parameters : dict
        From `make_parameters`.
    codes : integer matrix of shape (time, batch)
    state : matrix of shape (batch, hidden)

    Returns
    -------
    tensor of shape (time, batch, hidden)
    """
    # A row of the weights for each code is the product with one-hot characters.
    projected = [parameters[f"input_{g}"][codes] + parameters[f"bias_{g}"] for g in GATES]
    recurrent = [parameters[f"recurrent_{g}"] for g in GATES]
    states, _ = theano.scan(
        gru_step,
        sequences=projected,
        outputs_info=state,
        non_sequences=[*recurrent, parameters["recurrent_bias_new"]],
    )
    return states


def next_log_probabilities(parameters: dict, states):
    """Return log-probabilities of the next character, of shape (rows, vocabulary).

    The leading axes of `states` are flattened into rows.
    """
    rows = states.reshape((-1, states.shape[-1]))
    return T.nnet.logsoftmax(rows.dot(parameters["output"]) + parameters["bias_output"])


def bits_per_character(parameters: dict, states, targets):
    """Return the mean of ``-log2 p(target)`` over an integer matrix (time, batch) of targets."""
    log_probabilities = next_log_probabilities(parameters, states)
    wanted = targets.flatten()
    nats = -log_probabilities[T.arange(wanted.shape[0]), wanted].mean()
    return nats / np.log(2).astype(theano.config.floatX)
