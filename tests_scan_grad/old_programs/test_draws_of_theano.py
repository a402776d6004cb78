"""Draws and states of random streams: those of Theano 1.0.5."""

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.sandbox import rng_mrg
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.shared_randomstreams import RandomStreams

STREAMS = {"MRG": MRG_RandomStreams, "MT": RandomStreams}

# What two calls of each random variable give in Theano 1.0.5.
DRAWS_OF_THEANO = {
    "MRG(42).uniform((4,), dtype='float64')": [
        [0.080752015114, 0.92676400952, 0.859719846398, 0.250744500663],
        [0.080339952372, 0.347342305817, 0.180446562357, 0.441655416973],
    ],
    "MRG(42).uniform((4,), dtype='float32')": [
        [0.080752007663, 0.926763951778, 0.85971981287, 0.250744462013],
        [0.080339945853, 0.347342282534, 0.18044655025, 0.441655397415],
    ],
    "MRG(42).uniform((4,), dtype='float16')": [
        [0.163818359375, 0.4052734375, 0.5986328125, 0.7900390625],
        [0.158813476562, 0.424560546875, 0.74462890625, 0.328857421875],
    ],
    "MRG([1, 2, 3, 4, 5, 6]).uniform((4,), low=-1, high=3, nstreams=3, dtype='float64')": [
        [-0.984984641895, 2.364339048043, 2.8596914839, -0.993054635823],
        [1.592895690352, 2.21125729382, -0.224640192464, 1.88987952657],
    ],
    "MRG(42).normal((3,), avg=2.0, std=3.0, dtype='float64')": [
        [6.28081408087, 1.994526724858, -3.193200682142],
        [4.851348003407, -2.072911742855, 8.103818717437],
    ],
    "MRG(42).truncated_normal((9,), dtype='float64')": [
        [
            0.428472466085,
            -0.599071815091,
            0.50587565751,
            0.61759240382,
            -1.2676767906,
            0.333130983643,
            -0.114039524708,
            0.178349845398,
            -1.822020097472,
        ],
        [
            -1.605396962085,
            1.145086747601,
            0.349618532468,
            -0.724007109667,
            -0.777870601126,
            1.985032116921,
            1.192520302607,
            2.074571583271,
            -1.260243239262,
        ],
    ],
    "MRG(42).binomial((9,), p=0.3)": [[1, 1, 1, 0, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 1, 0, 0, 0]],
    "MRG(42).multinomial(pvals=[[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], n=9)": [
        [1, 0, 8, 6, 0, 3],
        [2, 2, 5, 6, 1, 2],
    ],
    "MRG(42).choice(2, p=[[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], replace=False)": [
        [0, 2, 2, 0],
        [0, 1, 0, 1],
    ],
    "MT(42).uniform((3,), low=-1, high=3, dtype='float64')": [
        [0.50635141629, 2.152738361138, -0.708195635726],
        [-0.952284415447, 2.761634965634, 0.725625059137],
    ],
    "MT(42).normal((3,), avg=1.0, std=2.0, dtype='float64')": [
        [3.512284358533, -0.075860453055, 0.791319108619],
        [2.33984376911, -0.416278519073, 2.992023545722],
    ],
    "MT(42).binomial((9,), p=0.3)": [[0, 1, 0, 0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0, 0, 0, 0]],
    "MT(42).binomial((4,), n=[5, 50, 500, 5000], p=0.3)": [[1, 18, 152, 1561], [2, 13, 141, 1480]],
    "MT(42).random_integers((9,), low=-3, high=9)": [
        [3, 2, 9, 3, 5, 5, 4, 2, -3],
        [2, 8, 3, 7, -3, 7, 6, 7, 5],
    ],
    "MT(42).random_integers(low=[0, 5], high=[[10], [1000]])": [[6, 10, 638, 58], [6, 5, 24, 316]],
    "MT(42).choice((5,), a=7)": [[6, 6, 5, 6, 5], [4, 6, 6, 0, 0]],
    "MT(42).choice((5,), a=7, replace=False)": [[1, 0, 3, 2, 4], [3, 4, 2, 1, 6]],
    "MT(42).poisson((5,), lam=3.5)": [[2, 0, 4, 7, 5], [1, 4, 7, 0, 0]],
    "MT(42).permutation((2,), n=4)": [[0, 1, 3, 2, 0, 3, 1, 2], [1, 3, 2, 0, 2, 1, 3, 0]],
    "MT(42).multinomial(n=[9, 900], pvals=[[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])": [
        [0, 3, 6, 453, 199, 248],
        [2, 1, 6, 436, 227, 237],
    ],
    "MT(42).multinomial(n=9000, pvals=[0.3, 0.7, 0.0])": [[2674, 6326, 0], [2614, 6386, 0]],
}


@pytest.mark.parametrize("expression", DRAWS_OF_THEANO)
def test_draws_are_those_of_theano(expression):
    """The table came from Theano 1.0.5 on Python 3.8 with NumPy 1.19, where

        f = theano.function([], eval(expression))
        print(expression, f().ravel().round(12).tolist(), f().ravel().round(12).tolist())

    was run for each expression, MRG being MRG_RandomStreams and MT RandomStreams.
    """
    f = theano.function([], eval(expression, dict(STREAMS)))
    for expected in DRAWS_OF_THEANO[expression]:
        np.testing.assert_allclose(f().ravel(), expected, rtol=0, atol=2e-12)


def test_states_are_those_of_theano():
    """`get_substream_rstates(3, "float32")` and then `rstate` in Theano 1.0.5, from seed 42."""
    source = MRG_RandomStreams(42)
    assert source.get_substream_rstates(3, "float32").tolist() == [
        [42, 42, 42, 42, 42, 42],
        [567017964, 200952035, 1378892327, 2088072599, 2059876158, 1631359562],
        [1813072468, 420999776, 772711126, 763976719, 1325198097, 1470520772],
    ]
    following = [1880389375, 174769481, 1230626336, 212165870, 1957720154, 961091436]
    assert source.rstate.tolist() == following
    first = np.full(6, 42, dtype="int32")
    assert rng_mrg.ff_2p134(first).tolist() == following
    # many at once, as one after the other
    many = MRG_RandomStreams(42).get_substream_rstates(11, "float32", inc_rstate=False)
    for before, after in itertools.pairwise(many):
        np.testing.assert_array_equal(rng_mrg.ff_2p72(before), after)
        np.testing.assert_array_equal(
            rng_mrg.multMatVect(before, rng_mrg.A1p72, rng_mrg.M1, rng_mrg.A2p72, rng_mrg.M2),
            after,
        )


# made outside of the step, by Theano 1.0.5: streams -> draws of three steps, in two calls
MADE_OUTSIDE = {
    MRG_RandomStreams: [
        [
            [0.03268533945083618, 0.5179775436408818],
            [0.03251855215057731, 0.6167788398452103],
            [0.8172480934299529, 0.13344635581597686],
        ],
        [
            [0.8428608160465956, 0.1276766392402351],
            [0.29722631396725774, 0.32131789438426495],
            [0.8794552944600582, 0.847448356449604],
        ],
    ],
    RandomStreams: [
        [
            [0.5179747992458539, 0.9724188696314539],
            [0.8310919971087968, 0.0006748793022057775],
            [0.49291471886621563, 0.1526385708250203],
        ],
        [
            [0.32403965166258775, 0.059172864846356754],
            [0.28396802253737674, 0.22363783040872254],
            [0.2645868632529911, 0.3889859157217538],
        ],
    ],
}


@pytest.mark.parametrize("streams", MADE_OUTSIDE)
def test_each_step_draws_anew_what_its_function_takes_from_outside(streams):
    drawn = streams(17).uniform((2,), dtype="float64")
    stacked, updates = theano.scan(lambda: drawn * 1.0, n_steps=3)
    f = theano.function([], [stacked, drawn], updates=updates)
    for expected in MADE_OUTSIDE[streams]:
        found, outside = f()
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        np.testing.assert_allclose(outside, expected[0], rtol=1e-9)


@pytest.mark.parametrize("streams", MADE_OUTSIDE)
def test_steps_are_given_one_draw_as_an_argument(streams):
    drawn = streams(17).uniform((2,), dtype="float64")
    stacked, updates = theano.scan(lambda u: u * 1.0, non_sequences=drawn, n_steps=3)
    assert not updates
    expected = [MADE_OUTSIDE[streams][0][0]] * 3
    np.testing.assert_allclose(theano.function([], stacked)(), expected, rtol=1e-9)


def test_a_loop_that_ends_early_draws_anew_what_is_made_outside():
    drawn = MRG_RandomStreams(17).uniform((), dtype="float64")
    counted, updates = theano.scan(
        lambda n: ([n + drawn], theano.scan_module.until(n > 1)),
        outputs_info=T.zeros((), dtype="float64"),
        n_steps=50,
    )
    values = theano.function([], counted, updates=updates)()
    assert len(values) < 50 and len(set(np.round(np.diff(values), 12))) == len(values) - 1


def test_an_update_that_needs_what_the_step_does_not_read_stays_outside():
    mean, x = theano.shared(np.float64(1.0)), T.dvector("x")
    mean.default_update = 0.5 * mean + x.sum()
    stacked, updates = theano.scan(lambda: mean * 1.0, n_steps=3)
    assert not updates
    f = theano.function([x], stacked)
    np.testing.assert_array_equal([f([1.0]), f([1.0])], [[1, 1, 1], [1.5, 1.5, 1.5]])


@pytest.mark.parametrize("passed", [True, False])
@pytest.mark.parametrize("streams", sorted(STREAMS))
def test_the_only_step_of_a_loop_moves_the_generators_that_are_read(streams, passed):
    """Contrastive divergence with one step: an evaluation that reads the first draw alone."""
    drawing, expected = STREAMS[streams](17), STREAMS[streams](17)
    [first, second], updates = theano.scan(
        lambda h: [h + drawing.uniform((2,)), drawing.uniform((3,))],
        outputs_info=[T.zeros((2,)), None],
        n_steps=1,
    )
    assert not updates
    evaluate = theano.function([], first, updates=updates if passed else None)
    draw_second = theano.function([], second, updates=updates if passed else None)
    wanted = [theano.function([], expected.uniform((n,))) for n in (2, 3)]
    for _ in range(2):
        np.testing.assert_array_equal(evaluate()[0], wanted[0]())
    np.testing.assert_array_equal(draw_second()[0], wanted[1]())


def test_a_loop_moves_the_generator_of_the_only_step_of_a_loop_inside():
    inner = MRG_RandomStreams(17)

    def step(h):
        values, updates = theano.scan(lambda: inner.uniform((2,)), n_steps=1)
        return h + values[0], updates

    rows, updates = theano.scan(step, outputs_info=T.zeros((2,)), n_steps=3)
    found = theano.function([], rows, updates=updates)
    draw = theano.function([], MRG_RandomStreams(17).uniform((2,)))
    for _ in range(2):
        expected = np.cumsum([draw() for _ in range(3)], axis=0)
        np.testing.assert_allclose(found(), expected, rtol=1e-12)
