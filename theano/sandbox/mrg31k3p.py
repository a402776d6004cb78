"""The generator MRG31k3p on arrays of states: its constants and its steps.

MRG31k3p combines two recurrences of order 3 with moduli just below 2**31:

    x1[t] = (2**22 x1[t-2] + (2**7 + 1) x1[t-3])   mod M1 = 2**31 - 1
    x2[t] = (2**15 x2[t-1] + (2**15 + 1) x2[t-3])  mod M2 = 2**31 - 21069
    draw  = (x1[t] - x2[t]) mod M1, in 1 .. M1, divided by 2**31

P. L'Ecuyer and R. Touzin, Fast combined multiple recursive generators with multipliers of the
form a = +/- 2^q +/- 2^r, Proceedings of the 2000 Winter Simulation Conference, 683-689.

Both recurrences are linear, so t steps at once are a product with the t-th power of a matrix.
A state is a row of 6 int32: x1[t], x1[t-1], x1[t-2], x2[t], x2[t-1], x2[t-2].
"""

import functools

import numpy as np

__all__ = [
    "BELOW1",
    "BELOW2",
    "BITS",
    "FACTOR1",
    "FACTOR2",
    "M1",
    "M2",
    "ONE_STEP_1",
    "ONE_STEP_2",
    "SCALE_OF_FLOAT16",
    "SCALE_OF_FLOAT32",
    "SCALE_OF_FLOAT64",
    "SHIFT1",
    "SHIFT2",
    "next_samples",
    "product_modulo",
    "random_numbers",
]

# The moduli are so many below 2**BITS.
BITS = 31
BELOW1, BELOW2 = 1, 21069
M1, M2 = 2**BITS - BELOW1, 2**BITS - BELOW2

# What the older numbers of a recurrence are multiplied with: a power of 2, and a factor.
SHIFT1, FACTOR1 = 22, 2**7 + 1
SHIFT2, FACTOR2 = 15, 2**15 + 1

# What samples are multiplied with: the greatest numbers for which none is rounded to 1.
SCALE_OF_FLOAT32 = 4.6566126e-10
SCALE_OF_FLOAT64 = 2.0**-BITS
SCALE_OF_FLOAT16 = float(np.float16(3.0458e-05))

ONE_STEP_1 = [[0, 2**SHIFT1, FACTOR1], [1, 0, 0], [0, 1, 0]]
ONE_STEP_2 = [[2**SHIFT2, 0, FACTOR2], [1, 0, 0], [0, 1, 0]]


def product_modulo(a: np.ndarray, b: np.ndarray, modulus: int) -> np.ndarray:
    # Each product of two residues fits in 62 bits; their sum would not.
    return ((a[:, :, None] * b[None, :, :]) % modulus).sum(1) % modulus


def _steps_ahead(one_step: list[list[int]], modulus: int, count: int) -> np.ndarray:
    """Row k times (x[t], x[t-1], x[t-2]) is x[t+1+k], modulo `modulus`."""
    matrix = power = np.array(one_step, dtype="int64")
    rows = [power[0]]
    for _ in range(count - 1):
        power = product_modulo(power, matrix, modulus)
        rows.append(power[0])
    return np.array(rows, dtype="uint64")


# So many steps are taken by one product: few calls, and small enough for the cache.
_BLOCK = 32
_MODULI = np.uint64(M1), np.uint64(M2)


@functools.cache
def _block_ahead() -> np.ndarray:
    """For both recurrences, what the steps of a block are made from."""
    return np.stack([_steps_ahead(ONE_STEP_1, M1, _BLOCK), _steps_ahead(ONE_STEP_2, M2, _BLOCK)])


def next_samples(states: np.ndarray, count: int) -> np.ndarray:
    """Draw `count` integers in 1 .. M1, the i-th from row ``i % len(states)`` of `states`.

    Parameters
    ----------
    states : int32 array of shape (streams, 6)
        The states; those that were drawn from are changed in place.
    count : int

    Returns
    -------
    int64 array of `count` samples
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
            "ckj,cjs->cks", _block_ahead()[:, : end - start], x[:, start - 3 : start][:, ::-1]
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
    sampled = x.view("int64")[0, 3:] - x.view("int64")[1, 3:]
    sampled += (sampled <= 0) * M1
    return sampled.reshape(-1)[:count]


def random_numbers(sampled: np.ndarray, dtype: str) -> np.ndarray:
    """Turn the integers of `next_samples` into numbers strictly between 0 and 1.

    The scales are Theano's: the greatest for which no sample is rounded to 1. In float16, whose
    numbers are few, only the last 15 bits of a sample count.
    """
    if dtype == "float16":
        return (((sampled & 0x7FFF) + 1) * SCALE_OF_FLOAT16).astype(dtype)
    if dtype == "float32":
        return sampled.astype(dtype) * np.float32(SCALE_OF_FLOAT32)
    return sampled * SCALE_OF_FLOAT64
