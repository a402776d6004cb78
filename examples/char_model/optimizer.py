"""Gradient clipping and Adam, as symbolic updates of shared variables."""

import numpy as np

import theano
import theano.tensor as T


def clip_by_global_norm(gradients: list, largest: float) -> list:
    """Scale all gradients by one factor so that their joint norm is at most `largest`."""
    norm = T.sqrt(sum(T.sqr(gradient).sum() for gradient in gradients))
    # largest / max(norm, largest) is 1 for small gradients, and never divides by zero.
    scale = largest / T.maximum(norm, largest)
    return [gradient * scale for gradient in gradients]


def adam(
    parameters: dict,
    gradients: list,
    learning_rate: float,
    decay_mean: float = 0.9,
    decay_square: float = 0.999,
    epsilon: float = 1e-8,
) -> tuple[list, dict]:
    """Adam (Kingma and Ba, 2015).

    Parameters
    ----------
    parameters : dict
        Shared variables by name.
    gradients : list
        One gradient for each parameter, in the same order.
    learning_rate, decay_mean, decay_square, epsilon : float

    Returns
    -------
    updates : list of (shared variable, new value)
        For the `updates` of `theano.function`.
    state : dict
        The optimizer's own shared variables by name; a checkpoint must keep them.
    """
    count = theano.shared(np.zeros((), theano.config.floatX), name="adam_count")
    state = {"adam_count": count}
    new_count = count + 1
    updates = [(count, new_count)]
    for (name, parameter), gradient in zip(parameters.items(), gradients, strict=True):
        zeros = np.zeros_like(parameter.get_value())
        mean = theano.shared(zeros, name=f"adam_mean_{name}")
        square = theano.shared(zeros, name=f"adam_square_{name}")
        state |= {mean.name: mean, square.name: square}

        new_mean = decay_mean * mean + (1 - decay_mean) * gradient
        new_square = decay_square * square + (1 - decay_square) * T.sqr(gradient)
        # Both averages start at zero; these divisions undo that bias.
        unbiased_mean = new_mean / (1 - decay_mean**new_count)
        unbiased_square = new_square / (1 - decay_square**new_count)
        step = learning_rate * unbiased_mean / (T.sqrt(unbiased_square) + epsilon)
        updates += [(mean, new_mean), (square, new_square), (parameter, parameter - step)]
    return updates, state
