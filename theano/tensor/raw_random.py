"""Samples from a given generator: functions that return its next state and the samples.

The generator is a variable of `random_state_type`, that holds a `numpy.random.RandomState`:
the Mersenne Twister MT19937 of M. Matsumoto and T. Nishimura (ACM Transactions on Modeling and
Computer Simulation 8, 1998, 3-30) with the distributions that NumPy keeps unchanged, so that
samples are those of Theano 1.0. `theano.tensor.shared_randomstreams` keeps the generators itself.
"""

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.graph.basic import Variable
from pytensor.scalar.basic import upcast
from pytensor.tensor import TensorLike
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import all_results
from theano.tensor.numpy_samplers.random_function import (
    RandomFunction,
    RandomStateType,
    random_state_type,
)
from theano.tensor.numpy_samplers.random_samplers import (
    choice_helper,
    multinomial_helper,
    permutation_helper,
    random_integers_helper,
)

__all__ = [
    "RandomFunction",
    "RandomStateType",
    "RandomStreamsBase",
    "binomial",
    "choice",
    "choice_helper",
    "multinomial",
    "multinomial_helper",
    "normal",
    "permutation",
    "permutation_helper",
    "poisson",
    "random_integers",
    "random_integers_helper",
    "random_state_type",
    # programs that import everything from here use it, as Theano's own tests do
    "theano",  # noqa: F822
    "uniform",
]


def __getattr__(name: str) -> Any:
    if name == "theano":
        # which is not imported at the top, since it imports this module
        return sys.modules["theano"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _float_dtype(dtype: str | None, *parameters: TensorVariable) -> str:
    if dtype is None:
        return upcast(config.floatX, *(parameter.dtype for parameter in parameters))
    return config.floatX if dtype == "floatX" else dtype


def _borrowed_length(axis: int, ndim: int, parameters: Sequence[TensorVariable]) -> Any:
    """Return the length that a -1 in the shape stands for: that of the parameters there."""
    lengths = []
    for parameter in parameters:
        own_axis = axis - ndim + parameter.ndim
        if own_axis >= 0:
            one = parameter.type.broadcastable[own_axis]
            lengths.append(1 if one else parameter.shape[own_axis])
    if not lengths:
        raise ValueError(f"-1 in axis {axis} of a size of {ndim} lengths: no parameter has it")
    return next((length for length in lengths if isinstance(length, Variable)), 1)


def _shape_of_lengths(
    lengths: Sequence, parameters: Sequence[TensorVariable]
) -> tuple[TensorVariable, list[bool]]:
    known = []
    for axis, length in enumerate(lengths):
        if not isinstance(length, Variable) and length < 0:
            if length != -1:
                raise ValueError(f"expected a size without negative lengths, got {lengths}")
            length = _borrowed_length(axis, len(lengths), parameters)
        known.append(length)
    if not known:
        return pt.constant(np.zeros(0, dtype="int64")), []
    ones = [not isinstance(length, Variable) and length == 1 for length in known]
    return pt.as_tensor_variable(known, ndim=1), ones


def _infer_ndim_bcast(
    ndim: int | None, shape: Any, *args: TensorVariable
) -> tuple[int, TensorVariable, tuple[bool, ...]]:
    """Find out about the shape of a draw from the arguments that give it.

    Parameters
    ----------
    ndim : int or None
        How many dimensions, if the caller says it.
    shape : sequence of int and scalars, symbolic vector, or None
        A -1 stands for the length that the parameters have there; None for their shape.
    *args : tensors
        The parameters, which broadcast to the shape.

    Returns
    -------
    ndim : int
    shape : int64 vector
    broadcastable : tuple of bool
    """
    if shape is None:
        if not args:
            raise TypeError("expected a size: no parameter gives the shape of the samples")
        ndim = max(parameter.ndim for parameter in args)
        lengths, ones = _shape_of_lengths([-1] * ndim, args)
    elif isinstance(shape, tuple | list):
        if ndim is not None and ndim != len(shape):
            raise ValueError(f"expected a size of {ndim} lengths (ndim), got {shape}")
        ndim = len(shape)
        lengths, ones = _shape_of_lengths(shape, args)
    else:
        lengths = pt.as_tensor_variable(shape)
        if lengths.ndim != 1:
            raise TypeError(f"expected a size that is a vector or a list, got {lengths.type}")
        ndim = _length(lengths) if ndim is None else ndim
        ones = [False] * ndim
    if lengths.dtype not in pt.type.integer_dtypes:
        raise TypeError(f"expected a size of integers, got {lengths.type}")
    if any(parameter.ndim > ndim for parameter in args):
        raise ValueError(f"a parameter has more dimensions than the {ndim} of the size")
    return ndim, lengths.astype("int64"), tuple(ones)


def _length(vector: TensorVariable) -> int:
    try:
        return pt.get_vector_length(vector)
    except ValueError as error:
        raise ValueError(
            "the number of dimensions of a random variable is unknown: expected ndim for a "
            f"symbolic size, got size={vector}"
        ) from error


def _sampling(
    fn: str | Callable, dtype: str, broadcastable: Sequence[bool], ndim_added: int = 0
) -> RandomFunction:
    shape = [1 if one else None for one in broadcastable]
    return RandomFunction(fn, TensorType(dtype, shape=shape), ndim_added=ndim_added)


def uniform(
    random_state: object,
    size: Any = None,
    low: Any = 0.0,
    high: Any = 1.0,
    ndim: int | None = None,
    dtype: str | None = None,
) -> list:
    """Draw numbers from `low`, included, to `high`.

    Parameters
    ----------
    random_state : variable of RandomStateType
        The generator.
    size : sequence of int or scalars, or symbolic vector, optional
        The shape; that of `low` and `high` together if it is not given. A -1 stands for the
        length that they have there.
    low, high : tensors
    ndim : int, optional
        The number of dimensions, for a symbolic `size` of unknown length.
    dtype : str, optional
        ``floatX``, or wider if `low` or `high` is.

    Returns
    -------
    list of two variables
        The generator's next state, and the samples.
    """
    low, high = pt.as_tensor_variable(low), pt.as_tensor_variable(high)
    dtype = _float_dtype(dtype, low, high)
    ndim, size, ones = _infer_ndim_bcast(ndim, size, low, high)
    return all_results(_sampling("uniform", dtype, ones)(random_state, size, low, high))


def normal(
    random_state: object,
    size: Any = None,
    avg: Any = 0.0,
    std: Any = 1.0,
    ndim: int | None = None,
    dtype: str | None = None,
) -> list:
    """Draw from the normal distribution of mean `avg` and standard deviation `std`.

    The other parameters and the result are those of `uniform`.
    """
    avg, std = pt.as_tensor_variable(avg), pt.as_tensor_variable(std)
    dtype = _float_dtype(dtype, avg, std)
    ndim, size, ones = _infer_ndim_bcast(ndim, size, avg, std)
    return all_results(_sampling("normal", dtype, ones)(random_state, size, avg, std))


def binomial(
    random_state: object,
    size: Any = None,
    n: Any = 1,
    p: Any = 0.5,
    ndim: int | None = None,
    dtype: str = "int64",
    prob: Any = None,
) -> list:
    """Draw how many of `n` trials succeed, each with probability `p`.

    `prob` is an older name of `p`. The other parameters and the result are those of `uniform`.
    """
    if prob is not None:
        warnings.warn("binomial: prob is the older name of p", DeprecationWarning, stacklevel=2)
        p = prob
    n, p = pt.as_tensor_variable(n), pt.as_tensor_variable(p)
    ndim, size, _ = _infer_ndim_bcast(ndim, size, n, p)
    return all_results(_sampling("binomial", dtype, [False] * ndim)(random_state, size, n, p))


def random_integers(
    random_state: object,
    size: Any = None,
    low: Any = 0,
    high: Any = 1,
    ndim: int | None = None,
    dtype: str = "int64",
) -> list:
    """Draw integers from `low` to `high`, both included.

    The other parameters and the result are those of `uniform`.
    """
    low, high = pt.as_tensor_variable(low), pt.as_tensor_variable(high)
    ndim, size, ones = _infer_ndim_bcast(ndim, size, low, high)
    return all_results(
        _sampling(random_integers_helper, dtype, ones)(random_state, size, low, high)
    )


def choice(
    random_state: object,
    size: Any = None,
    a: TensorLike = 2,
    replace: Any = True,
    p: Any = None,
    ndim: int | None = None,
    dtype: str = "int64",
) -> list:
    """Draw integers below `a`, or elements of the vector `a`.

    Parameters
    ----------
    size : sequence of int or scalars, or symbolic vector
        The shape, which must be given.
    replace : bool
        Whether one element may be drawn twice.
    p : vector, optional
        The probability of each; all alike if it is not given.

    The other parameters and the result are those of `uniform`.
    """
    a = pt.as_tensor_variable(a)
    replace = pt.as_tensor_variable(np.int8(replace) if isinstance(replace, bool) else replace)
    # As in Theano, 0 stands for no probabilities; the operation takes an empty vector for it.
    alike = p is None or (np.isscalar(p) and not p)
    p = pt.as_tensor_variable(np.zeros(0) if alike else p)
    ndim, size, ones = _infer_ndim_bcast(ndim, size)
    return all_results(_sampling(choice_helper, dtype, ones)(random_state, size, a, replace, p))


def poisson(
    random_state: object,
    size: Any = None,
    lam: Any = 1.0,
    ndim: int | None = None,
    dtype: str = "int64",
) -> list:
    """Draw from the Poisson distribution of mean `lam`.

    `size` must be given. The other parameters and the result are those of `uniform`.
    """
    lam = pt.as_tensor_variable(lam)
    ndim, size, ones = _infer_ndim_bcast(ndim, size)
    return all_results(_sampling("poisson", dtype, ones)(random_state, size, lam))


def permutation(
    random_state: object,
    size: object = None,
    n: TensorLike = 1,
    ndim: int | None = None,
    dtype: str = "int64",
) -> list:
    """Draw permutations of the integers below `n`.

    Returns
    -------
    list of two variables
        The generator's next state, and the samples, of shape ``(*size, n)``.
    """
    ones: tuple[bool, ...] = ()
    if size is None or (isinstance(size, tuple) and not size):
        if ndim not in (None, 1):
            raise TypeError(f"permutation: expected a size for {ndim} dimensions")
        size = ()
    else:
        ndim, size, ones = _infer_ndim_bcast(ndim, size)
    return all_results(
        _sampling(permutation_helper, dtype, [*ones, False], 1)(random_state, size, n)
    )


def multinomial(
    random_state: object,
    size: Any = None,
    n: Any = 1,
    pvals: Any = (0.5, 0.5),
    ndim: int | None = None,
    dtype: str = "int64",
) -> list:
    """Draw how often each of K categories occurs in `n` trials.

    Parameters
    ----------
    size : sequence of int or scalars, or symbolic vector, optional
        The shape of the samples without the last dimension; that of `n` and the rows of `pvals`
        together if it is not given. A -1 stands for the length that they have there.
    n : tensor
        The number of trials of each row.
    pvals : tensor of shape (..., K)
        The probabilities, each row with the sum 1.

    Returns
    -------
    list of two variables
        The generator's next state, and the samples, of shape ``(*size, K)``.
    """
    n, pvals = pt.as_tensor_variable(n), pt.as_tensor_variable(pvals)
    ndim, size, ones = _infer_ndim_bcast(ndim, size, n, pvals[..., 0])
    ones = (*ones, pvals.type.broadcastable[-1])
    return all_results(_sampling(multinomial_helper, dtype, ones, 1)(random_state, size, n, pvals))


class RandomStreamsBase:
    """The distributions of a source of random variables, whose `gen` makes one of a function."""

    def gen(self, op: Callable, *args: object, **kwargs: object) -> TensorVariable:
        """Make a random variable with `op`, which takes a generator first."""
        raise NotImplementedError(f"{type(self).__name__} has no gen")

    def uniform(
        self,
        size: object = None,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
    ) -> TensorVariable:
        """Draw numbers between `low` and `high`: see `raw_random.uniform`."""
        return self.gen(uniform, size, low, high, ndim=ndim, dtype=dtype)

    def normal(
        self,
        size: object = None,
        avg: object = 0.0,
        std: object = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
    ) -> TensorVariable:
        """Draw from the normal distribution: see `raw_random.normal`."""
        return self.gen(normal, size, avg, std, ndim=ndim, dtype=dtype)

    def binomial(
        self,
        size: object = None,
        n: TensorLike = 1,
        p: TensorLike = 0.5,
        ndim: int | None = None,
        dtype: str = "int64",
        prob: object = None,
    ) -> TensorVariable:
        """Draw how many of `n` trials succeed: see `raw_random.binomial`."""
        return self.gen(binomial, size, n, p, ndim=ndim, dtype=dtype, prob=prob)

    def random_integers(
        self,
        size: object = None,
        low: TensorLike = 0,
        high: TensorLike = 1,
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> TensorVariable:
        """Draw integers from `low` to `high`: see `raw_random.random_integers`."""
        return self.gen(random_integers, size, low, high, ndim=ndim, dtype=dtype)

    def choice(
        self,
        size: object = None,
        a: TensorLike = 2,
        replace: object = True,
        p: object = None,
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> TensorVariable:
        """Draw integers below `a`, or elements of the vector `a`: see `raw_random.choice`."""
        return self.gen(choice, size, a, replace, p, ndim=ndim, dtype=dtype)

    def poisson(
        self,
        size: object = None,
        lam: TensorLike = 1.0,
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> TensorVariable:
        """Draw from the Poisson distribution of mean `lam`: see `raw_random.poisson`."""
        return self.gen(poisson, size, lam, ndim=ndim, dtype=dtype)

    def permutation(
        self, size: object = None, n: TensorLike = 1, ndim: int | None = None, dtype: str = "int64"
    ) -> TensorVariable:
        """Draw permutations of the integers below `n`: see `raw_random.permutation`."""
        return self.gen(permutation, size, n, ndim=ndim, dtype=dtype)

    def multinomial(
        self,
        size: object = None,
        n: TensorLike = 1,
        pvals: object = (0.5, 0.5),
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> TensorVariable:
        """Draw how often each category occurs: see `raw_random.multinomial`."""
        return self.gen(multinomial, size, n, pvals, ndim=ndim, dtype=dtype)

    def shuffle_row_elements(self, input: TensorLike) -> TensorVariable:
        """Put the elements of each row of `input` in its own order.

        Returns
        -------
        TensorVariable
            Its attribute ``permutation`` is the random variable of the orders.
        """
        input = pt.as_tensor_variable(input)
        order = self.permutation(input.shape[:-1], n=input.shape[-1], ndim=input.ndim - 1)
        shuffled = pt.permute_row_elements(input, order)
        shuffled.permutation = order
        return shuffled
