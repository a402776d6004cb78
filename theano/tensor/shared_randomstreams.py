"""Random variables whose generators are shared variables that each call advances."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.compile.sharedvalue import shared
from pytensor.configdefaults import config as _pytensor_config
from pytensor.graph.basic import Variable
from pytensor.scalar.basic import upcast
from pytensor.tensor.random import basic as distributions
from pytensor.tensor.random.variable import (
    RandomGeneratorSharedVariable as RandomStateSharedVariable,
)
from pytensor.tensor.variable import TensorVariable

__all__ = ["RandomStateSharedVariable", "RandomStreams"]


def _lengths(size: Any, ndim: int | None) -> list | None:
    """Turn Theano's `size` into a list with one length for each dimension, or None."""
    if size is None:
        return None
    if isinstance(size, Variable) and size.ndim == 1:
        known = size.type.shape[0] if ndim is None else ndim
        if known is None:
            raise ValueError(
                "the number of dimensions of a random variable is unknown: expected ndim for a "
                f"symbolic size, got size={size}"
            )
        return [size[axis] for axis in range(known)]
    lengths = list(size) if isinstance(size, Sequence | np.ndarray) else [size]
    if any(isinstance(length, int | np.integer) and length < 0 for length in lengths):
        raise ValueError(f"expected a size without negative lengths, got {size}")
    if ndim is not None and ndim != len(lengths):
        raise ValueError(f"expected a size of {ndim} lengths (ndim), got {size}")
    return lengths


def _float_parameters(dtype: str | None, *parameters: Any) -> tuple[str, list[TensorVariable]]:
    tensors = [pt.as_tensor_variable(parameter) for parameter in parameters]
    if dtype is None:
        dtype = upcast(_pytensor_config.floatX, *(tensor.dtype for tensor in tensors))
    elif dtype == "floatX":
        dtype = _pytensor_config.floatX
    return str(np.dtype(dtype)), [tensor.astype(dtype) for tensor in tensors]


class RandomStreams:
    """A source of random variables, each with its own generator.

    Each random variable draws from a generator in a shared variable. A function that uses
    the random variable advances the generator, unless it is compiled with
    ``no_default_updates``. The draws come from NumPy's generators, so they differ from
    those that Theano 1.0 gave for a seed.

    Parameters
    ----------
    seed : int or sequence of int, optional
        What the draws follow from. Without it, they differ from run to run.

    Examples
    --------
    >>> import theano
    >>> from theano.tensor.shared_randomstreams import RandomStreams
    >>> f = theano.function([], RandomStreams(seed=1).uniform((2,)))
    >>> bool((f() != f()).all())
    True
    """

    def __init__(self, seed: Any = None):
        self.default_instance_seed = seed
        self.state_updates: list[tuple[Variable, Variable]] = []
        self._seeds = np.random.SeedSequence(seed)

    def updates(self) -> list[tuple[Variable, Variable]]:
        """Return each generator with its next state, as `theano.function` takes updates."""
        return list(self.state_updates)

    def seed(self, seed: Any = None) -> None:
        """Start all the generators again, from `seed` or from the first seed."""
        self._seeds = np.random.SeedSequence(self.default_instance_seed if seed is None else seed)
        for generator, _ in self.state_updates:
            generator.set_value(self._next_generator(), borrow=True)

    def _next_generator(self) -> np.random.Generator:
        return np.random.default_rng(self._seeds.spawn(1)[0])

    def _draw(self, distribution: Callable, *parameters: Any, **options: Any) -> TensorVariable:
        generator = shared(self._next_generator(), borrow=True)
        following, drawn = distribution(*parameters, **options, rng=generator, return_next_rng=True)
        with warnings.catch_warnings():
            # PyTensor discourages default updates, which are what these streams are about.
            warnings.simplefilter("ignore", DeprecationWarning)
            generator.default_update = following
        generator.tag.is_rng = True
        self.state_updates.append((generator, following))
        drawn.rng = generator
        drawn.update = (generator, following)
        return drawn

    def uniform(
        self,
        size: Any = None,
        low: Any = 0.0,
        high: Any = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
    ) -> TensorVariable:
        """Draw numbers between `low` and `high`.

        Parameters
        ----------
        size : sequence of int or scalars, or symbolic vector, optional
            The shape; that of `low` and `high` together if it is not given.
        low, high : tensors
        ndim : int, optional
            The number of dimensions, for a symbolic `size` of unknown length.
        dtype : str, optional
            ``floatX``, or wider if `low` or `high` is.

        Returns
        -------
        TensorVariable
        """
        dtype, (low, high) = _float_parameters(dtype, low, high)
        return self._draw(distributions.uniform, low, high, size=_lengths(size, ndim), dtype=dtype)

    def normal(
        self,
        size: Any = None,
        avg: Any = 0.0,
        std: Any = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
    ) -> TensorVariable:
        """Draw from the normal distribution of mean `avg` and standard deviation `std`.

        The other parameters are those of `uniform`.
        """
        dtype, (avg, std) = _float_parameters(dtype, avg, std)
        return self._draw(distributions.normal, avg, std, size=_lengths(size, ndim), dtype=dtype)

    def binomial(
        self,
        size: Any = None,
        n: Any = 1,
        p: Any = 0.5,
        ndim: int | None = None,
        dtype: str = "int64",
        prob: Any = None,
    ) -> TensorVariable:
        """Draw how many of `n` trials succeed, each with probability `p`.

        `prob` is an older name of `p`. The other parameters are those of `uniform`.
        """
        p = pt.as_tensor_variable(p if prob is None else prob)
        if isinstance(n, int) and n == 1:
            # One trial is one comparison, which is much cheaper than NumPy's binomial.
            if size is None:
                size, ndim = p.shape, p.ndim
            return (self.uniform(size, ndim=ndim) < p).astype(dtype)
        drawn = self._draw(distributions.binomial, n, p, size=_lengths(size, ndim))
        return drawn.astype(dtype)

    def random_integers(
        self,
        size: Any = None,
        low: Any = 0,
        high: Any = 1,
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> TensorVariable:
        """Draw integers from `low` to `high`, both included."""
        high = pt.as_tensor_variable(high) + 1
        drawn = self._draw(distributions.integers, low, high, size=_lengths(size, ndim))
        return drawn.astype(dtype)

    def poisson(
        self, size: Any = None, lam: Any = 1.0, ndim: int | None = None, dtype: str = "int64"
    ) -> TensorVariable:
        """Draw from the Poisson distribution of mean `lam`."""
        return self._draw(distributions.poisson, lam, size=_lengths(size, ndim)).astype(dtype)

    def choice(
        self,
        size: Any = None,
        a: Any = 2,
        replace: bool = True,
        p: Any = None,
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> TensorVariable:
        """Draw integers below `a`, or elements of the vector `a`.

        Parameters
        ----------
        replace : bool
            Whether one element may be drawn twice.
        p : vector, optional
            The probability of each; all alike if it is not given.
        """
        drawn = self._draw(distributions.choice, a, size=_lengths(size, ndim), replace=replace, p=p)
        return drawn.astype(dtype)

    def permutation(
        self, size: Any = None, n: Any = 1, ndim: int | None = None, dtype: str = "int64"
    ) -> TensorVariable:
        """Draw permutations of the integers below `n`.

        Returns
        -------
        tensor of shape (*size, n)
        """
        lengths = _lengths(size, ndim) or []
        # Random keys put in order are a random permutation, for any number of rows at once.
        return pt.argsort(self.uniform([*lengths, n], dtype="float64"), axis=-1).astype(dtype)

    def multinomial(
        self,
        size: Any = None,
        n: Any = 1,
        pvals: Any = (0.5, 0.5),
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> TensorVariable:
        """Draw how often each of K outcomes occurs in `n` trials.

        Parameters
        ----------
        pvals : tensor of shape (..., K)
            The probabilities; they are scaled to a sum of 1.

        Returns
        -------
        tensor of shape (*size, K), or the shape of `pvals`
        """
        # NumPy refuses a sum that exceeds 1 by a rounding error of float32.
        pvals = pt.as_tensor_variable(pvals).astype("float64")
        pvals = pvals / pvals.sum(axis=-1, keepdims=True)
        drawn = self._draw(distributions.multinomial, n, pvals, size=_lengths(size, ndim))
        return drawn.astype(dtype)

    def shuffle_row_elements(self, input: Any) -> TensorVariable:
        """Put the elements of each row of `input` in an order of its own."""
        input = pt.as_tensor_variable(input)
        rows = [input.shape[axis] for axis in range(input.ndim - 1)]
        order = self.permutation(rows, n=input.shape[-1])
        return pt.take_along_axis(input, order, axis=-1)
