"""Streams of random numbers from the generator MRG31k3p, with Theano 1.0's samples.

The generator and its sources are described in `theano.sandbox.mrg31k3p`.
"""

import math
import warnings
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.compile.sharedvalue import SharedVariable, shared
from theano.pytensor_internals.graphs.annotations import known_tensor, known_tensors
from theano.sandbox.mrg31k3p import M1, M2
from theano.sandbox.mrg_streams import A1p72, A1p134, A2p72, A2p134, jumped, substreams
from theano.sandbox.mrg_truncated import mrg_truncated
from theano.sandbox.mrg_uniform import DotModulo, matVecModM, mrg_uniform, mrg_uniform_base
from theano.sandbox.multinomial import ChoiceFromUniform, MultinomialFromUniform
from theano.sandbox.sample_arguments import (
    as_matrix,
    as_size,
    check_lengths,
    check_rank,
    float_dtype,
    is_integer,
    without_gradient,
)

__all__ = [
    "DotModulo",
    "MRG_RandomStreams",
    "ff_2p72",
    "ff_2p134",
    "guess_n_streams",
    "matVecModM",
    "mrg_uniform",
    "mrg_uniform_base",
    "multMatVect",
]

_MOST_STREAMS = 60 * 256

# The standard deviation of a standard normal distribution that is cut at -2 and 2.
_TRUNCATED_DEVIATION = 0.87962566103423978


def multMatVect(v: np.ndarray, A: np.ndarray, m1: int, B: np.ndarray, m2: int) -> np.ndarray:
    """Multiply the first half of `v` by `A` modulo `m1` and the second by `B` modulo `m2`."""
    return np.concatenate([matVecModM(A, v[:3], m1), matVecModM(B, v[3:], m2)])


def ff_2p134(rstate: np.ndarray) -> np.ndarray:
    """Move a state 2**134 steps forward: to the start of the next stream."""
    return jumped(rstate, A1p134, A2p134)


def ff_2p72(rstate: np.ndarray) -> np.ndarray:
    """Move a state 2**72 steps forward: to the start of the next substream."""
    return jumped(rstate, A1p72, A2p72)


def guess_n_streams(size: object, warn: bool = False) -> int:
    """Choose how many substreams draw a sample of shape `size`, as Theano 1.0 did.

    Parameters
    ----------
    size : tuple of int, or symbolic
    warn : bool
        Whether to warn where a symbolic size leaves no choice but the greatest number.
    """
    if isinstance(size, tuple | list) and all(isinstance(length, int) for length in size):
        count = math.prod(size)
        return min(count // 6 if count > 6 else count, _MOST_STREAMS)
    if warn:
        warnings.warn(
            f"MRG_RandomStreams: the number of streams cannot be derived from size {size}; "
            f"taking {_MOST_STREAMS}",
            stacklevel=3,
        )
    return _MOST_STREAMS


class MRG_RandomStreams:
    """A source of random variables, each with its own states of MRG31k3p.

    A seed gives the samples that Theano 1.0 gave for it. Each random variable draws from
    parallel substreams whose states are in a shared variable. A function that uses the random
    variable advances them, unless it is compiled with ``no_default_updates``.

    Parameters
    ----------
    seed : int or sequence of 6 int
        One integer stands for six times itself. The first three must be below 2**31 - 1, the
        last three below 2**31 - 21069, and neither three may be all 0.
    use_cuda : bool, optional
        An argument of old versions: samples are made on the processor whatever it is.

    Raises
    ------
    ValueError
        The seed is out of range.
    TypeError
        The seed is neither an integer nor 6 of them.

    Examples
    --------
    >>> import theano
    >>> from theano.sandbox.rng_mrg import MRG_RandomStreams
    >>> draw = MRG_RandomStreams(seed=42).uniform((2,), dtype="float64")
    >>> theano.function([], draw)().round(6).tolist()
    [0.080752, 0.926764]
    """

    rstate: np.ndarray

    def __init__(self, seed: object = 12345, use_cuda: bool | None = None):
        self.state_updates: list[tuple] = []
        self.default_instance_seed = seed
        self.set_rstate(seed)

    def updates(self) -> list[tuple]:
        """Return, of each random variable, states, next states, size and number of streams."""
        return list(self.state_updates)

    def set_rstate(self, seed: Any) -> None:
        """Start the next random variable's streams from `seed`."""
        parts = [seed] * 6 if is_integer(seed) else list(seed)
        if len(parts) != 6:
            raise TypeError(f"expected a seed of 1 integer or 6, got {seed!r}")
        for three, modulus in ((parts[:3], M1), (parts[3:], M2)):
            if not any(three):
                raise ValueError(f"expected a seed that is not 0, got {seed!r}")
            if any(part >= modulus for part in three):
                raise ValueError(f"expected a seed below {modulus}, got {seed!r}")
        # Below 0, which Theano did not refuse, a seed stands for its residue.
        self.rstate = (np.array(parts, dtype="int64") % ([M1] * 3 + [M2] * 3)).astype("int32")

    def seed(self, seed: object = None) -> None:
        """Start all the streams again, from `seed` or from the first seed."""
        self.set_rstate(self.default_instance_seed if seed is None else seed)
        for states, following, size, nstreams in self.state_updates:
            count = self.n_streams(size) if nstreams is None else nstreams
            dtype = following.owner.outputs[1].dtype
            states.set_value(self.get_substream_rstates(count, dtype), borrow=True)

    def inc_rstate(self) -> None:
        """Move `rstate` to the start of the next stream, 2**134 steps forward."""
        self.rstate = ff_2p134(self.rstate)

    def get_substream_rstates(
        self, n_streams: int, dtype: str, inc_rstate: bool = True
    ) -> np.ndarray:
        """Give the states of `n_streams` substreams, 2**72 steps apart, as rows.

        Parameters
        ----------
        n_streams : int
        dtype : str
            Dtype of the samples, of which the states are independent.
        inc_rstate : bool
            Whether `rstate` then moves to the next stream.
        """
        if not 0 < n_streams < 2**72:
            raise ValueError(f"expected a number of streams above 0, got {n_streams}")
        states = substreams(self.rstate, n_streams)
        if inc_rstate:
            self.inc_rstate()
        return states

    def n_streams(self, size: object) -> int:
        """Choose how many substreams draw a sample of shape `size`."""
        return guess_n_streams(size)

    def pretty_return(
        self,
        node_rstate: SharedVariable,
        new_rstate: Variable,
        sample: TensorVariable,
        size: object,
        nstreams: int | None,
    ) -> TensorVariable:
        """Record that `new_rstate` follows `node_rstate` in each function that draws."""
        vars(sample).update(rstate=node_rstate, update=(node_rstate, new_rstate))
        self.state_updates.append((node_rstate, new_rstate, size, nstreams))
        with warnings.catch_warnings():
            # PyTensor discourages default updates, which are what these streams are about.
            warnings.simplefilter("ignore", DeprecationWarning)
            node_rstate.default_update = new_rstate
        return sample

    def uniform(
        self,
        size: object,
        low: object = 0.0,
        high: object = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
        nstreams: int | None = None,
        target: str | None = None,
    ) -> TensorVariable:
        """Draw numbers between `low` and `high`, both excluded.

        Parameters
        ----------
        size : tuple of int or scalars, or symbolic vector
        low, high : tensors
        ndim : int, optional
            The number of dimensions, for a symbolic `size` of unknown length.
        dtype : str, optional
            ``floatX``, or wider if `low` or `high` is.
        nstreams : int, optional
            How many substreams to draw from; see `guess_n_streams`.
        target : str, optional
            Where the states live: 'cpu'.

        Returns
        -------
        TensorVariable
            Gradients with respect to `low` and `high` are undefined, as in Theano.

        Raises
        ------
        ValueError
            A length of `size` is 0 or negative, or `size` is a vector of any length, without `ndim`.
        TypeError
            `size` is no tuple of lengths and no symbolic vector.
        NotImplementedError
            `low` or `high` has more dimensions or elements than `size` gives.
        """
        dtype = float_dtype(dtype, low, high)
        low, high = without_gradient(low, dtype), without_gradient(high, dtype)
        if isinstance(size, tuple):
            if not all(is_integer(length) or isinstance(length, Variable) for length in size):
                raise TypeError(f"expected a size of ints and scalar variables, got {size}")
            check_lengths(size)
        elif not (isinstance(size, Variable) and size.type.ndim == 1):
            raise TypeError(f"expected a tuple or a symbolic vector as size, got {size!r}")
        check_rank(size, ndim)
        count = self.n_streams(size) if nstreams is None else nstreams
        states = self._new_states(count, dtype, target)
        following, sampled = mrg_uniform.new(states, ndim, dtype, size)
        sampled = self.pretty_return(states, following, sampled, size=size, nstreams=nstreams)
        scaled = sampled * (high - low) + low
        if scaled.type.broadcastable != sampled.type.broadcastable:
            raise NotImplementedError(
                f"uniform: expected low and high to fit size {size}, got {low.type}, {high.type}"
            )
        return scaled

    def binomial(
        self,
        size: object = None,
        n: int = 1,
        p: object = 0.5,
        ndim: int | None = None,
        dtype: str = "int64",
        nstreams: int | None = None,
        target: str | None = None,
    ) -> TensorVariable:
        """Draw 1 with probability `p` and 0 otherwise.

        `n` must be 1, as in Theano. The other parameters are those of `uniform`.
        """
        if n != 1:
            raise NotImplementedError(f"MRG_RandomStreams.binomial: expected n=1, got {n}")
        p = without_gradient(p)
        uniform = self.uniform(size, ndim=ndim, nstreams=nstreams, target=target)
        return (uniform < p).astype(dtype)

    def multinomial(
        self,
        size: object = None,
        n: Any = 1,
        pvals: object = None,
        ndim: int | None = None,
        dtype: str = "int64",
        nstreams: int | None = None,
        target: str | None = None,
    ) -> TensorVariable:
        """Draw how often each category occurs in `n` trials, for each row of the matrix `pvals`.

        Raises
        ------
        TypeError
            `pvals` is not given.
        ValueError
            `size` or `ndim` is given: the shape is that of `pvals`.
        NotImplementedError
            `pvals` is not a matrix.
        """
        if pvals is None:
            raise TypeError("multinomial: expected pvals")
        if size is not None or ndim is not None:
            raise ValueError("multinomial: the shape is that of pvals; expected no size, no ndim")
        pvals = as_matrix("multinomial", "pvals", pvals)
        uniforms = self._uniforms_of_rows(pvals, n, nstreams, target)
        return known_tensor(
            MultinomialFromUniform(dtype)(pvals, uniforms, pt.as_tensor_variable(n))
        )

    def choice(
        self,
        size: Any = 1,
        a: None = None,
        replace: bool = True,
        p: object = None,
        ndim: None = None,
        dtype: str = "int64",
        nstreams: int | None = None,
        target: str | None = None,
    ) -> TensorVariable:
        """Draw `size` different columns for each row of the matrix of probabilities `p`.

        Parameters
        ----------
        size : int or integer scalar
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
            `p` is not given, or `a` is.
        ValueError
            `ndim` is given.
        """
        if replace:
            raise NotImplementedError("choice: expected replace=False, as in Theano")
        if p is None or a is not None:
            raise TypeError("choice: expected p, and no a")
        if ndim is not None:
            raise ValueError("choice: the result is a matrix; expected no ndim")
        p = as_matrix("choice", "p", p)
        uniforms = self._uniforms_of_rows(p, size, nstreams, target)
        return known_tensor(ChoiceFromUniform(dtype)(p, uniforms, pt.as_tensor_variable(size)))

    def _uniforms_of_rows(
        self, pvals: TensorVariable, n: object, nstreams: int | None, target: str | None
    ) -> TensorVariable:
        size = (pvals.shape[0] * n,)
        return self.uniform(size=size, ndim=1, nstreams=nstreams, target=target)

    def multinomial_wo_replacement(
        self,
        size: None = None,
        n: object = 1,
        pvals: object = None,
        ndim: None = None,
        dtype: str = "int64",
        nstreams: int | None = None,
        target: str | None = None,
    ) -> TensorVariable:
        """Draw `n` different columns for each row of `pvals`: the older name of `choice`."""
        warnings.warn(
            "MRG_RandomStreams.multinomial_wo_replacement is deprecated; use choice instead",
            stacklevel=2,
        )
        if size is not None:
            raise TypeError("multinomial_wo_replacement: expected no size")
        return self.choice(n, None, False, pvals, ndim, dtype, nstreams, target)

    def normal(
        self,
        size: object,
        avg: object = 0.0,
        std: object = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
        nstreams: int | None = None,
        truncate: bool = False,
        target: str | None = None,
    ) -> TensorVariable:
        """Draw from the normal distribution of mean `avg` and standard deviation `std`.

        The samples are made by the method of Box and Muller. With `truncate`, those further than
        2 standard deviations from the mean are drawn again, nearer to it. The other
        parameters are those of `uniform`; `size` may also be an int or a list.
        """
        size = as_size(size)
        check_rank(size, ndim)
        dtype = float_dtype(dtype, avg, std)
        avg, std = without_gradient(avg, dtype), without_gradient(std, dtype)
        count = pt.prod(size, dtype="int64")
        even = count + count % 2
        uniform = self.uniform((even,), ndim=1, dtype=dtype, nstreams=nstreams, target=target)
        radius = pt.sqrt(-2.0 * pt.log(uniform[: even // 2]))
        angle = np.array(2.0 * np.pi, dtype=dtype) * uniform[even // 2 :]
        parts = [radius * pt.cos(angle), radius * pt.sin(angle)]
        samples = pt.join(0, *parts)
        if truncate:
            directions = pt.join(0, pt.cos(angle), pt.sin(angle))
            samples = self._resampled(samples, directions, dtype, nstreams, target)
        samples = samples[:count].reshape(size, ndim=ndim)
        return samples * std + avg

    def _resampled(
        self,
        samples: TensorVariable,
        directions: TensorVariable,
        dtype: str,
        nstreams: int | None,
        target: str | None,
    ) -> TensorVariable:
        """Put nearer samples, of their own streams, in place of those beyond 2."""
        # how many are drawn is not known before
        size = (samples.shape[0],)
        count = self.n_streams(size) if nstreams is None else nstreams
        states = self._new_states(count, dtype, target)
        truncated = mrg_truncated(TensorType(dtype, shape=(None,)))
        following, sampled = known_tensors(truncated(states, samples, directions))
        return self.pretty_return(states, following, sampled, size=size, nstreams=nstreams)

    def _new_states(self, count: int, dtype: str, target: str | None) -> SharedVariable:
        states = shared(self.get_substream_rstates(count, dtype), target=target)
        # distinguishes it from other shared variables
        states.tag.is_rng = True
        return states

    def truncated_normal(
        self,
        size: object,
        avg: object = 0.0,
        std: object = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
        nstreams: int | None = None,
        target: str | None = None,
    ) -> TensorVariable:
        """Draw from a normal distribution cut so that `std` is its standard deviation.

        It is cut at 2 standard deviations of the distribution that is not cut. The parameters
        are those of `normal`.
        """
        std = std / pt.constant(_TRUNCATED_DEVIATION)
        return self.normal(size, avg, std, ndim, dtype, nstreams, truncate=True, target=target)
