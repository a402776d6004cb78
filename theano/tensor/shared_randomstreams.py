"""Random variables whose generators are shared variables that each call advances."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.tensor.variable import TensorVariable

from theano.compile.sharedvalue import SharedVariable
from theano.tensor.numpy_samplers.random_state import (
    RandomStateSharedVariable,
    randomstate_constructor,
)
from theano.tensor.raw_random import RandomStreamsBase

__all__ = ["RandomStateSharedVariable", "RandomStreams", "randomstate_constructor"]


class RandomStreams(RandomStreamsBase):
    """A source of random variables, each with its own generator.

    Each random variable draws from a `numpy.random.RandomState` in a shared variable. A
    function that uses the random variable advances the generator, unless it is compiled with
    ``no_default_updates``. A seed gives the samples that Theano 1.0 gave for it: the generators
    are themselves seeded by draws of ``RandomState(seed)``.

    Parameters
    ----------
    seed : int, optional
        What the samples follow from. Without it, they differ from run to run.

    Examples
    --------
    >>> import theano
    >>> from theano.tensor.shared_randomstreams import RandomStreams
    >>> draw = RandomStreams(seed=234).uniform((2,))
    >>> theano.function([], draw)().round(4).tolist()
    [0.1267, 0.9709]
    """

    def __init__(self, seed: object = None):
        self.state_updates: list[tuple[SharedVariable, Variable]] = []
        self.default_instance_seed = seed
        self.gen_seedgen = _seeded(seed)

    def updates(self) -> list[tuple[SharedVariable, Variable]]:
        """Return each generator with its next state, as `theano.function` takes updates."""
        return list(self.state_updates)

    def seed(self, seed: object = None) -> None:
        """Start all the generators again, from `seed` or from the first seed."""
        seeds = _seeded(self.default_instance_seed if seed is None else seed)
        for generator, _ in self.state_updates:
            generator.set_value(_next_generator(seeds), borrow=True)

    def __getitem__(self, item: SharedVariable) -> np.random.RandomState:
        """Give the generator in the variable `item`, such as the `rng` of a random variable."""
        return item.get_value(borrow=True)

    def __setitem__(self, item: SharedVariable, val: np.random.RandomState) -> None:
        """Put the generator `val` in the variable `item`."""
        item.set_value(val, borrow=True)

    def gen(self, op: Callable, *args: object, **kwargs: object) -> TensorVariable:
        """Make a random variable with its own generator.

        Parameters
        ----------
        op : callable
            Takes the generator first, and returns its next state and the sample: a function of
            `theano.tensor.raw_random` or a `RandomFunction`.
        *args, **kwargs
            The other arguments of `op`.

        Returns
        -------
        TensorVariable
            The draw. Its attribute ``rng`` is the generator's variable, and ``update`` the pair
            of that and the next state.
        """
        generator = randomstate_constructor(_next_generator(self.gen_seedgen), borrow=True)
        # distinguishes it from other shared variables
        generator.tag.is_rng = True
        following, sampled = op(generator, *args, **kwargs)
        sampled.rng = generator
        sampled.update = (generator, following)
        self.state_updates.append(sampled.update)
        with warnings.catch_warnings():
            # PyTensor discourages default updates, which are what these streams are about.
            warnings.simplefilter("ignore", DeprecationWarning)
            generator.default_update = following
        return sampled


def _seeded(seed: Any) -> np.random.RandomState:
    """Return a generator of a seed that a user gave."""
    try:
        return np.random.RandomState(seed)
    except (TypeError, ValueError) as error:
        expected = "an integer from 0 to 2**32 - 1, or an array of such"
        raise type(error)(f"RandomStreams: expected as a seed {expected}, got {seed!r}") from None


def _next_generator(seeds: np.random.RandomState) -> np.random.RandomState:
    return np.random.RandomState(int(seeds.randint(2**30)))
