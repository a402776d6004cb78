"""Random samples, whose generators have a given state."""

import numpy as np
import pytensor.tensor as pt

import theano
from tests_scan_grad.rewrites.making import Maker, recipe
from theano.tensor import raw_random
from theano.tensor.numpy_samplers.random_function import random_state_type

FAMILY = "random samples"


@recipe(
    FAMILY,
    "random_make_inplace",
    "_sample_in_place",
    "generators_as_words",
    "_advance_in_place",
)
def draws(m: Maker):
    from pytensor.tensor.random.type import random_generator_type

    rng = random_generator_type("rng")
    m.values[rng] = np.random.default_rng(int(m.rng.integers(100)))
    mean = m.array((m.one_of(1, 2),), ("float64", "float32"), special=False)
    n = m.one_of(
        None,
        (3, m.values[mean].shape[0]),
        (m.scalar("int64", among=lambda s: 2), m.values[mean].shape[0]),
    )
    draw = pt.random.normal(mean, 1.0, size=n, rng=rng)
    following = draw.owner.outputs[0]
    second = pt.random.uniform(size=(2,), rng=following)
    return (
        [*m.one_of([draw], [second], [draw, second]), second.owner.outputs[0]]
        if m.chance()
        else [second + pt.random.uniform(size=(2,), rng=following).sum()]
    )


@recipe(FAMILY, "local_subtensor_of_batch_dims")
def parts_of_draws(m: Maker):
    from pytensor.tensor.random.type import random_generator_type

    rng = random_generator_type("rng")
    m.values[rng] = np.random.default_rng(int(m.rng.integers(100)))
    mean = m.array((3,), ("float64",), special=False)
    draw = pt.random.normal(mean, 1.0, rng=rng)
    return [draw[m.one_of(0, slice(1, None))], draw.sum(), draw.dimshuffle("x", 0)]


@recipe(FAMILY, "generators_as_words", "_sample_in_place")
def loops_that_draw_from_random_states(m: Maker):
    state = random_state_type("state")
    m.values[state] = np.random.RandomState(int(m.rng.integers(100)))
    mean = m.array((3,), ("float64", "float32"), special=False)

    def step(before, state, mean):
        following, first = raw_random.normal(state, (3,), mean, 1.0)
        last, second = raw_random.uniform(following, (3,))
        if m.chance():
            return before + first.astype("float64") * second, last
        inner, inner_states = theano.scan(
            lambda value, state: raw_random.binomial(
                state, (3,), 3, pt.sigmoid(value), dtype="float64"
            )[::-1],
            outputs_info=[second, last],
            n_steps=2,
        )[0]
        return before + inner[-1] + first.astype("float64"), inner_states

    loop, _ = theano.scan(
        step, outputs_info=[pt.zeros(3), state], non_sequences=mean, n_steps=m.one_of(0, 1, 4)
    )
    return loop[0], loop[0][-1:]
