"""Samples that NumPy's `RandomState` has no one method for, in Theano 1.0's order.

Each function takes the generator first and the shape last, as `RandomFunction` calls them.
"""

import numpy as np

__all__ = ["choice_helper", "multinomial_helper", "permutation_helper", "random_integers_helper"]

# How much less than 1 probabilities are made to sum to, where rounding may exceed it.
_MARGIN = 5e-5


def random_integers_helper(
    random_state: np.random.RandomState, low: np.ndarray, high: np.ndarray, size: tuple | None
) -> np.ndarray:
    """Draw integers from `low` to `high`, both included, of the shapes' broadcast or `size`."""
    for name, bound in (("low", low), ("high", high)):
        if size is not None and bound.ndim > len(size):
            raise ValueError(f"random_integers: {name} has more dimensions than size {size}")
    return np.asarray(random_state.randint(low, high + 1, size))


def choice_helper(
    random_state: np.random.RandomState,
    a: np.ndarray,
    replace: np.ndarray,
    p: np.ndarray,
    size: tuple | None,
) -> np.ndarray:
    """Draw elements of the vector `a` or integers below it; an empty `p` makes all alike."""
    if a.ndim > 1:
        raise ValueError(f"choice: expected a of at most 1 dimension, got {a.ndim}")
    if p.ndim != 1:
        raise ValueError(f"choice: expected p of 1 dimension, got {p.ndim}")
    choices = a if a.ndim else int(a)
    return np.asarray(random_state.choice(choices, size, bool(replace), p if p.size else None))


def permutation_helper(
    random_state: np.random.RandomState, n: np.ndarray, shape: tuple | None
) -> np.ndarray:
    """Draw permutations of the integers below `n`: one, or one for each element of `shape`."""
    if n.ndim:
        raise ValueError(f"permutation: expected n of 0 dimensions, got {n.ndim}")
    shape, count = shape or (), int(n)
    sampled = np.empty((*shape, count), dtype="int64")
    for place in np.ndindex(*shape):
        sampled[place] = random_state.permutation(count)
    return sampled


def multinomial_helper(
    random_state: np.random.RandomState, n: np.ndarray, pvals: np.ndarray, size: tuple | None
) -> np.ndarray:
    """Draw how often each category occurs in `n` trials, for each row of `pvals`.

    `n` and the rows broadcast against each other, and to `size` if it is given.
    """
    rows = pvals.shape[:-1]
    for name, shape in (("n", n.shape), ("the rows of pvals", rows)):
        if size is not None and len(shape) > len(size):
            raise ValueError(f"multinomial: {name} have more dimensions than size {size}")
    size = np.broadcast_shapes(n.shape, rows) if size is None else size
    trials = np.broadcast_to(n, size)
    probabilities = np.broadcast_to(pvals, (*size, pvals.shape[-1]))
    if pvals.size and pvals.min() < 0:
        raise ValueError(f"multinomial: expected no negative probabilities, got {pvals.min()}")
    sampled = np.empty(probabilities.shape, dtype="int64")
    for place in np.ndindex(*size):
        row = _below_one(probabilities[place])
        sampled[place] = random_state.multinomial(trials[place], row.astype("float64"))
    return sampled


def _below_one(row: np.ndarray) -> np.ndarray:
    """Scale probabilities whose sum NumPy might take to exceed 1, as Theano scales them."""
    total = row.sum()
    if 1.0 < total < 1.0 + 1e-5 or row[-1] < _MARGIN:
        row = row * (1.0 - _MARGIN)
        total = row.sum()
    if total > 1.0:
        raise ValueError(f"multinomial: expected probabilities that sum to 1, got {total}")
    return row
