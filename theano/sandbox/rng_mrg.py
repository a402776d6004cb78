"""The streams that most programs draw from, under the name of Theano's MRG31k3p generator."""

import math
from typing import Any

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from theano.tensor.shared_randomstreams import RandomStreams

__all__ = ["MRG_RandomStreams"]


class MRG_RandomStreams(RandomStreams):
    """`RandomStreams` with the arguments that Theano's MRG31k3p streams took.

    The draws come from NumPy's generators, not from MRG31k3p: their distributions are the
    same, and a seed gives the same draws each time, but other ones than Theano 1.0 gave.

    Parameters
    ----------
    seed : int or sequence of 6 int
        What the draws follow from.

    Raises
    ------
    ValueError
        The seed is 0, which Theano's generator cannot start from.
    TypeError
        The seed is neither an integer nor 6 of them.

    Examples
    --------
    >>> import theano
    >>> from theano.sandbox.rng_mrg import MRG_RandomStreams
    >>> mask = MRG_RandomStreams(seed=42).binomial((3,), p=0.5, dtype="float32")
    >>> mask.dtype, theano.function([], mask)().shape
    ('float32', (3,))
    """

    def __init__(self, seed: Any = 12345):
        super().__init__(_checked_seed(seed))

    def seed(self, seed: Any = None) -> None:
        """Start all the generators again, from `seed` or from the first seed."""
        super().seed(None if seed is None else _checked_seed(seed))

    def uniform(  # type: ignore[override]
        self,
        size: Any = None,
        low: Any = 0.0,
        high: Any = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
        nstreams: int | None = None,
    ) -> TensorVariable:
        """Draw numbers between `low` and `high`: see `RandomStreams.uniform`.

        `nstreams` is Theano's number of parallel streams, of which NumPy needs one.
        """
        return super().uniform(size, low, high, ndim, dtype)

    def normal(  # type: ignore[override]
        self,
        size: Any = None,
        avg: Any = 0.0,
        std: Any = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
        nstreams: int | None = None,
        truncate: bool = False,
    ) -> TensorVariable:
        """Draw from a normal distribution, cut at 2 standard deviations with `truncate`."""
        if truncate:
            return self.truncated_normal(size, avg, std, ndim, dtype)
        return super().normal(size, avg, std, ndim, dtype)

    def truncated_normal(
        self,
        size: Any = None,
        avg: Any = 0.0,
        std: Any = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
        nstreams: int | None = None,
    ) -> TensorVariable:
        """Draw from a normal distribution, keeping within 2 standard deviations of `avg`.

        `std` is the standard deviation before the distribution is cut.
        """
        inside = math.erf(2 / math.sqrt(2))
        unit = math.sqrt(2) * pt.erfinv(self.uniform(size, -inside, inside, ndim, dtype))
        return (unit * std + avg).astype(unit.dtype)

    def binomial(  # type: ignore[override]
        self,
        size: Any = None,
        n: Any = 1,
        p: Any = 0.5,
        ndim: int | None = None,
        dtype: str = "int64",
        nstreams: int | None = None,
    ) -> TensorVariable:
        """Draw how many of `n` trials succeed: see `RandomStreams.binomial`."""
        return super().binomial(size, n, p, ndim, dtype)

    def multinomial(  # type: ignore[override]
        self,
        size: Any = None,
        n: Any = 1,
        pvals: Any = None,
        ndim: int | None = None,
        dtype: str = "int64",
        nstreams: int | None = None,
    ) -> TensorVariable:
        """Draw how often each outcome occurs, for each row of the matrix `pvals`.

        Raises
        ------
        TypeError
            `pvals` is not given.
        ValueError
            `size` or `ndim` is given: the shape is that of `pvals`.
        """
        if pvals is None:
            raise TypeError("multinomial: expected pvals")
        if size is not None or ndim is not None:
            raise ValueError("multinomial: the shape is that of pvals; expected no size, no ndim")
        return super().multinomial(None, n, pvals, None, dtype)

    def choice(  # type: ignore[override]
        self,
        size: Any = 1,
        a: None = None,
        replace: bool = True,
        p: Any = None,
        ndim: None = None,
        dtype: str = "int64",
        nstreams: int | None = None,
    ) -> TensorVariable:
        """Draw `size` different columns for each row of the matrix of probabilities `p`.

        Parameters
        ----------
        size : int
            How many columns, at most as many as have a probability above 0.
        replace : bool
            Must be False, as in Theano.
        p : matrix of shape (N, K)

        Returns
        -------
        integer matrix of shape (N, size)

        Raises
        ------
        NotImplementedError
            `replace` is true, or `p` is not a matrix.
        TypeError
            `p` is not given, or `a` or `ndim` is.
        """
        if replace:
            raise NotImplementedError("choice: expected replace=False, as in Theano")
        if p is None or a is not None or ndim is not None:
            raise TypeError("choice: expected p, and neither a nor ndim")
        p = pt.as_tensor_variable(p)
        if p.ndim != 2:
            raise NotImplementedError(f"choice: expected a matrix of probabilities, got {p.type}")
        # Adding Gumbel noise to log p and taking the greatest draws without replacement.
        noise = -pt.log(-pt.log(self.uniform(p.shape, dtype="float64")))
        return pt.argsort(-(pt.log(p) + noise), axis=-1)[:, :size].astype(dtype)

    def multinomial_wo_replacement(
        self,
        size: None = None,
        n: Any = 1,
        pvals: Any = None,
        ndim: None = None,
        dtype: str = "int64",
        nstreams: int | None = None,
    ) -> TensorVariable:
        """Draw `n` different columns for each row of `pvals`: the older name of `choice`."""
        if size is not None:
            raise TypeError("multinomial_wo_replacement: expected no size")
        return self.choice(n, None, False, pvals, ndim, dtype)


def _checked_seed(seed: Any) -> Any:
    parts = [seed] if isinstance(seed, int) or not hasattr(seed, "__len__") else list(seed)
    if len(parts) not in (1, 6):
        raise TypeError(f"expected a seed of 1 integer or 6, got {seed!r}")
    if not any(parts[:3]) or not any(parts[3:] or [1]):
        raise ValueError(f"expected a seed that is not 0, got {seed!r}")
    return seed
