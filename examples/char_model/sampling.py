"""Drawing text from a trained model, one character at a time."""

import numpy as np

import theano
import theano.tensor as T
from char_model.model import hidden_states, next_log_probabilities, zero_state


def compile_next_character(parameters: dict):
    """Compile ``f(codes, state) -> log-probabilities (1, vocabulary), new state``."""
    codes = T.imatrix("codes")
    state = T.matrix("state")
    states = hidden_states(parameters, codes, state)
    return theano.function([codes, state], [next_log_probabilities(parameters, states), states[-1]])


def draw_text(
    next_character,
    vocabulary: str,
    hidden_size: int,
    length: int,
    temperature: float,
    generator: np.random.Generator,
) -> str:
    """Draw `length` characters.

    Parameters
    ----------
    next_character : callable
        From `compile_next_character`.
    vocabulary : str
        The character of each code.
    hidden_size, length : int
    temperature : float
        Divides the log-probabilities: below 1 the text is more likely, above 1 more varied.
    generator : numpy.random.Generator
        The same generator state gives the same text.
    """
    # A text starts as after a line end, where the vocabulary has one.
    code = max(vocabulary.find("\n"), 0)
    state = zero_state(1, hidden_size)
    drawn = []
    for _ in range(length):
        log_probabilities, state = next_character(np.array([[code]], "int32"), state)
        scores = log_probabilities[0].astype("float64") / temperature
        weights = np.exp(scores - scores.max())
        code = int(generator.choice(len(vocabulary), p=weights / weights.sum()))
        drawn.append(vocabulary[code])
    return "".join(drawn)
