"""The generator MRG31k3p on arrays of states: its steps, its jumps and its streams.

MRG31k3p combines two recurrences of order 3 with moduli just below 2**31:

    x1[t] = (2**22 x1[t-2] + (2**7 + 1) x1[t-3])   mod M1 = 2**31 - 1
    x2[t] = (2**15 x2[t-1] + (2**15 + 1) x2[t-3])  mod M2 = 2**31 - 21069
    draw  = (x1[t] - x2[t]) mod M1, in 1 .. M1, divided by 2**31

P. L'Ecuyer and R. Touzin, Fast combined multiple recursive generators with multipliers of the
form a = +/- 2^q +/- 2^r, Proceedings of the 2000 Winter Simulation Conference, 683-689.

Both recurrences are linear, so t steps at once are a product with the t-th power of a matrix.
Streams start 2**134 steps apart and their substreams 2**72, as in P. L'Ecuyer, R. Simard,
E. J. Chen and W. D. Kelton, An object-oriented random-number package with many long streams
and substreams, Operations Research 50 (2002), 1073-1075.

A state is a row of 6 int32: x1[t], x1[t-1], x1[t-2], x2[t], x2[t-1], x2[t-2].
"""

import numpy as np

__all__ = [
    "A1p72",
    "A1p134",
    "A2p72",
    "A2p134",
    "M1",
    "M2",
    "drawn_numbers",
    "jumped",
    "next_draws",
    "substreams",
]

M1 = 2**31 - 1
M2 = 2**31 - 21069

_ONE_STEP_1 = [[0, 2**22, 2**7 + 1], [1, 0, 0], [0, 1, 0]]
_ONE_STEP_2 = [[2**15, 0, 2**15 + 1], [1, 0, 0], [0, 1, 0]]


def _product(a: np.ndarray, b: np.ndarray, modulus: int) -> np.ndarray:
    # Each product of two residues fits in 62 bits; their sum would not.
    return ((a[:, :, None] * b[None, :, :]) % modulus).sum(1) % modulus


def _squared(matrix: np.ndarray, modulus: int, times: int) -> np.ndarray:
    """Square `matrix` `times` times: its power of 2**times."""
    for _ in range(times):
        matrix = _product(matrix, matrix, modulus)
    return matrix


A1p72 = _squared(np.array(_ONE_STEP_1, dtype="int64"), M1, 72)
A2p72 = _squared(np.array(_ONE_STEP_2, dtype="int64"), M2, 72)
A1p134 = _squared(A1p72, M1, 134 - 72)
A2p134 = _squared(A2p72, M2, 134 - 72)


def jumped(states: np.ndarray, a1: np.ndarray, a2: np.ndarray) -> np.ndarray:
    """Move each row of `states` by the steps that the two matrices stand for."""
    wide = np.atleast_2d(states).astype("int64")
    first = _product(wide[:, :3], a1.T, M1)
    second = _product(wide[:, 3:], a2.T, M2)
    return np.concatenate([first, second], axis=1).astype("int32").reshape(np.shape(states))


def substreams(state: np.ndarray, count: int) -> np.ndarray:
    """The states of `count` substreams, 2**72 steps apart, the first at `state`.

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
        known, a1, a2 = 2 * known, _product(a1, a1, M1), _product(a2, a2, M2)
    return states


def _steps_ahead(one_step: list[list[int]], modulus: int, count: int) -> np.ndarray:
    """Row k times (x[t], x[t-1], x[t-2]) is x[t+1+k], modulo `modulus`."""
    matrix = power = np.array(one_step, dtype="int64")
    rows = [power[0]]
    for _ in range(count - 1):
        power = _product(power, matrix, modulus)
        rows.append(power[0])
    return np.array(rows, dtype="uint64")


# So many steps are taken by one product: few calls, and small enough for the cache.
_BLOCK = 32
_AHEAD = np.stack([_steps_ahead(_ONE_STEP_1, M1, _BLOCK), _steps_ahead(_ONE_STEP_2, M2, _BLOCK)])
_MODULI = np.uint64(M1), np.uint64(M2)


def next_draws(states: np.ndarray, count: int) -> np.ndarray:
    """Draw `count` integers in 1 .. M1, the i-th from row ``i % len(states)`` of `states`.

    Parameters
    ----------
    states : int32 array of shape (streams, 6)
        The states; those that were drawn from are changed in place.
    count : int

    Returns
    -------
    int64 array of `count` draws
    """
    if not count:
        return np.empty(0, dtype="int64")
    used = min(count, len(states))
    steps = -(-count // used)
    # x[c, t + 3]: component c after t steps; before them, what the states hold.
    x = np.empty((2, steps + 3, used), dtype="uint64")
    x[:, :3] = states[:used].reshape(used, 2, 3)[:, :, ::-1].transpose(1, 2, 0)
    for start in range(3, steps + 3, _BLOCK):
        end = min(start + _BLOCK, steps + 3)
        # Three products below 2**62 have a sum below 2**64.
        ahead = np.einsum(
            "ckj,cjs->cks", _AHEAD[:, : end - start], x[:, start - 3 : start][:, ::-1]
        )
        for component, modulus in enumerate(_MODULI):
            # NumPy divides by one number faster than it takes remainders.
            quotients = ahead[component] // modulus
            np.subtract(ahead[component], quotients * modulus, out=x[component, start:end])
    # In the last step, only the first streams are drawn from.
    last = count - (steps - 1) * used
    for rows, end in ((slice(0, last), steps + 3), (slice(last, used), steps + 2)):
        held = x[:, end - 3 : end, rows][:, ::-1]
        states[rows] = held.transpose(2, 0, 1).reshape(-1, 6)
    drawn = x.view("int64")[0, 3:] - x.view("int64")[1, 3:]
    drawn += (drawn <= 0) * M1
    return drawn.reshape(-1)[:count]


def drawn_numbers(drawn: np.ndarray, dtype: str) -> np.ndarray:
    """Turn the integers of `next_draws` into numbers strictly between 0 and 1.

    The scales are Theano's: the greatest for which no draw is rounded to 1. In float16, whose
    numbers are few, only the last 15 bits of a draw count.
    """
    if dtype == "float16":
        return (((drawn & 0x7FFF) + 1) * float(np.float16(3.0458e-05))).astype(dtype)
    if dtype == "float32":
        return drawn.astype(dtype) * np.float32(4.6566126e-10)
    return drawn * 2.0**-31
