"""Streams of the generator MRG31k3p: states that lie far apart, and the jumps between them.

Streams start 2**134 steps apart and their substreams 2**72, as in P. L'Ecuyer, R. Simard,
E. J. Chen and W. D. Kelton, An object-oriented random-number package with many long streams
and substreams, Operations Research 50 (2002), 1073-1075.
"""

import numpy as np

from theano.sandbox.mrg31k3p import M1, M2, ONE_STEP_1, ONE_STEP_2, product_modulo

__all__ = ["A1p72", "A1p134", "A2p72", "A2p134", "jumped", "substreams"]


def _squared(matrix: np.ndarray, modulus: int, times: int) -> np.ndarray:
    """Square `matrix` `times` times: its power of 2**times."""
    for _ in range(times):
        matrix = product_modulo(matrix, matrix, modulus)
    return matrix


A1p72 = _squared(np.array(ONE_STEP_1, dtype="int64"), M1, 72)
A2p72 = _squared(np.array(ONE_STEP_2, dtype="int64"), M2, 72)
A1p134 = _squared(A1p72, M1, 134 - 72)
A2p134 = _squared(A2p72, M2, 134 - 72)


def jumped(states: np.ndarray, a1: np.ndarray, a2: np.ndarray) -> np.ndarray:
    """Move each row of `states` by the steps that the two matrices stand for."""
    wide = np.atleast_2d(states).astype("int64")
    first = product_modulo(wide[:, :3], a1.T, M1)
    second = product_modulo(wide[:, 3:], a2.T, M2)
    return np.concatenate([first, second], axis=1).astype("int32").reshape(np.shape(states))


def substreams(state: np.ndarray, count: int) -> np.ndarray:
    """Return the states of `count` substreams, 2**72 steps apart, the first at `state`.

    Parameters
    ----------
    state : array of 6 int32
    count : int
        At least 1.

    Returns
    -------
    int32 array of shape (count, 6)
    """
    states = np.empty((count, 6), dtype="int32")
    states[0] = state
    known, a1, a2 = 1, A1p72, A2p72
    while known < count:
        # The known rows, as many substreams further on, are the next ones.
        states[known : 2 * known] = jumped(states[: min(known, count - known)], a1, a2)
        known, a1, a2 = 2 * known, product_modulo(a1, a1, M1), product_modulo(a2, a2, M2)
    return states
