"""Random streams: Theano 1.0's draws, their states, and how functions and loops advance them."""

import functools
import pickle

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from theano.sandbox import rng_mrg
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor import raw_random
from theano.tensor.numpy_samplers.random_function import RandomFunction
from theano.tensor.shared_randomstreams import RandomStateSharedVariable, RandomStreams

# Graphs are small and each is run once, so compiling is what takes the time.
compiled = functools.partial(theano.function, mode="FAST_COMPILE")
A = np.random.default_rng(11).normal(size=(3, 4))


def value_of(output):
    """Compute an output that depends on no variable."""
    return compiled([], output)()


STREAMS = {"MRG": MRG_RandomStreams, "MT": RandomStreams}
both_streams = pytest.mark.parametrize("streams", STREAMS.values(), ids=STREAMS)


def test_few_streams_draw_many_numbers():
    """The numbers of three streams used together are those of each stream, interleaved."""
    count = 100
    source = MRG_RandomStreams(42)
    states = source.get_substream_rstates(3, "float64", inc_rstate=False)
    together = value_of(source.uniform((3 * count + 1,), nstreams=3, dtype="float64"))
    for k in range(3):
        alone = MRG_RandomStreams(states[k].tolist())
        drawn = value_of(alone.uniform((count,), nstreams=1, dtype="float64"))
        np.testing.assert_array_equal(together[k::3][:count], drawn)


def test_seeds_below_zero_stand_for_their_residues():
    assert MRG_RandomStreams(-5).rstate.tolist() == [rng_mrg.M1 - 5] * 3 + [rng_mrg.M2 - 5] * 3


def test_numbers_of_streams():
    guessed = [rng_mrg.guess_n_streams(size) for size in ((), (3,), (60,), (10**4, 10**4))]
    assert guessed == [1, 3, 10, 60 * 256]
    with pytest.warns(UserWarning, match="the number of streams cannot be derived"):
        assert rng_mrg.guess_n_streams(T.lvector(), warn=True) == 60 * 256


@both_streams
def test_streams_draw_anew_and_start_again(streams):
    source = streams(seed=5)
    f = compiled([], [source.uniform((3,)), source.normal((2, 2))])
    first, second = f(), f()
    assert (first[0] != second[0]).all() and (first[1] != second[1]).all()
    source.seed()
    again = f()
    source.seed(6)
    other = f()
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert (a != c).all()


def test_streams_can_be_held_still_and_updated_by_hand():
    source = RandomStreams(3)
    draw = source.uniform((2,))
    still = theano.function([], draw, no_default_updates=True)
    np.testing.assert_array_equal(still(), still())
    assert source.updates() == [draw.update] and draw.rng is draw.update[0]
    moving = theano.function([], draw, no_default_updates=True, updates=source.updates())
    assert (moving() != moving()).all()


def test_states_can_be_read_and_written():
    source = RandomStreams(3)
    draw = source.uniform((2,))
    f = compiled([], draw)
    assert isinstance(draw.rng, RandomStateSharedVariable)
    source[draw.rng] = np.random.RandomState(8)
    np.testing.assert_array_equal(f(), np.random.RandomState(8).uniform(size=2))
    assert source[draw.rng].uniform() == np.random.RandomState(8).uniform(size=3)[2]
    first, second = MRG_RandomStreams(1), MRG_RandomStreams(2)
    draws = [compiled([], streams.uniform((5,))) for streams in (first, second)]
    states, _following, size, nstreams = first.updates()[0]
    assert (size, nstreams) == ((5,), None)
    second.updates()[0][0].set_value(states.get_value())
    np.testing.assert_array_equal(draws[0](), draws[1]())


@both_streams
def test_states_advance_in_place_where_a_function_owns_them(streams):
    source = streams(3)
    draw = source.uniform((4,), nstreams=2) if streams is MRG_RandomStreams else source.normal((4,))
    state = source.state_updates[0][0]

    def in_place(f):
        return [
            node.op.inplace for node in f.maker.fgraph.apply_nodes if hasattr(node.op, "inplace")
        ]

    owning = theano.function([], draw)
    assert in_place(owning) == [True]
    value = state.get_value(borrow=True)
    owning()
    assert state.get_value(borrow=True) is value
    assert in_place(theano.function([], draw, no_default_updates=True)) == [False]


def test_a_draw_leaves_a_generator_that_is_an_input_as_it_was():
    generator = raw_random.random_state_type()
    following, draw = raw_random.normal(generator, (3,))
    f = theano.function([generator], [following, draw])
    given = np.random.RandomState(4)
    first, second = f(given), f(given)
    np.testing.assert_array_equal(first[1], second[1])
    assert generator.type.values_eq(given, np.random.RandomState(4))
    assert not generator.type.values_eq(given, first[0])
    assert generator.type.values_eq(first[0], second[0])
    assert first[0].normal() == np.random.RandomState(4).normal(size=4)[3]


def test_generators_as_values():
    value = np.random.RandomState(1)
    held = theano.shared(value)
    assert held.type == raw_random.random_state_type and held.type == raw_random.RandomStateType()
    value.uniform()
    assert held.type.values_eq(held.get_value(), np.random.RandomState(1))
    assert not held.type.values_eq(held.get_value(), value)
    cached = np.random.RandomState(1)
    cached.normal()
    consumed = np.random.RandomState(1)
    consumed.normal(size=2)
    assert not held.type.values_eq(cached, consumed)
    with pytest.raises(TypeError, match="expected a numpy.random.RandomState"):
        held.set_value(np.random.default_rng(1))


N = 4000


@both_streams
def test_distributions(streams):
    source = streams(seed=9)
    p = np.array([[0.1, 0.2, 0.7]] * N, dtype="float32")
    draws = {
        "uniform": source.uniform((N,), low=-1, high=3),
        "normal": source.normal((N,), avg=2.0, std=3.0),
        "trial": source.binomial((N,), p=0.3, dtype="float32"),
        "outcomes": source.multinomial(pvals=p),
    }
    drawn = dict(zip(draws, compiled([], list(draws.values()))(), strict=True))
    assert drawn["uniform"].min() >= -1 and drawn["uniform"].max() < 3
    expected = {
        "uniform": (1, 4 / 12**0.5),
        "normal": (2, 3),
        "trial": (0.3, 0.21**0.5),
    }
    for name, (mean, deviation) in expected.items():
        found = drawn[name].mean(), drawn[name].std()
        assert found == pytest.approx((mean, deviation), abs=0.2), name
    assert drawn["trial"].dtype == "float32"
    assert drawn["outcomes"].shape == (N, 3) and (drawn["outcomes"].sum(1) == 1).all()
    np.testing.assert_allclose(drawn["outcomes"].mean(0), p[0], atol=0.04)


@both_streams
def test_sizes_may_be_symbolic(streams):
    x, size = T.fmatrix("x"), T.lvector("size")
    source = streams(2)
    mask = source.binomial(x.shape, p=0.5, dtype=x.dtype)
    plain = source.uniform(size, ndim=2)
    mixed = source.normal((x.shape[0], 1), avg=2.0)
    assert mixed.broadcastable == (False, True)
    a, b, c = compiled([x, size], [mask, plain, mixed])(A.astype("float32"), [2, 5])
    assert a.shape == A.shape and a.dtype == "float32"
    assert b.shape == (2, 5) and c.shape == (3, 1)


def test_sizes_from_parameters():
    low, high = T.dvector("low"), T.dcol("high")
    draw = RandomStreams(2).uniform(low=low, high=high)
    f = compiled([low, high], draw)
    drawn = f([0.0, 10.0], [[20.0], [30.0], [40.0]])
    assert drawn.shape == (3, 2) and (drawn[:, 1] >= 10).all()
    borrowed = RandomStreams(2).normal((5, -1), avg=low, std=0.0)
    np.testing.assert_array_equal(compiled([low], borrowed)([1.0, 2.0]), [[1.0, 2.0]] * 5)
    with pytest.raises(ValueError):
        compiled([low, high], RandomStreams(2).uniform((3, 2), low, high))([0.0] * 3, [[1.0]])


@both_streams
def test_shapes_are_known_without_drawing(streams):
    n = T.lscalar("n")
    f = theano.function([n], streams(2).uniform((n, 3)).shape, no_default_updates=True)
    drawing = (rng_mrg.mrg_uniform, RandomFunction)
    assert not any(isinstance(node.op, drawing) for node in f.maker.fgraph.apply_nodes)
    np.testing.assert_array_equal(f(4), [4, 3])


def test_streams_refuse_bad_sizes():
    source = RandomStreams(2)
    with pytest.raises(ValueError, match="expected ndim for a symbolic size"):
        source.uniform(T.lvector())
    with pytest.raises(ValueError, match="without negative lengths"):
        source.uniform((2, -2))
    with pytest.raises(ValueError, match="no parameter has it"):
        source.uniform((2, -1))
    with pytest.raises(ValueError, match="of 1 lengths"):
        source.uniform((2, 2), ndim=1)
    with pytest.raises(TypeError, match="expected a size"):
        source.poisson()
    parallel = MRG_RandomStreams(2)
    for draw in (parallel.uniform, parallel.normal, parallel.truncated_normal, parallel.binomial):
        with pytest.raises(ValueError, match="above 0"):
            draw((3, 0))
    with pytest.raises(TypeError, match="a tuple or a symbolic vector"):
        parallel.uniform(3)
    with pytest.raises(ValueError, match="at most"):
        value_of(parallel.uniform((2**16, 2**15), nstreams=1))
    with pytest.raises(NotImplementedError, match="n=1"):
        parallel.binomial((3,), n=2)


def test_permutations_and_shuffles():
    shuffled = RandomStreams(4).shuffle_row_elements(T.constant(A))
    rows, orders = compiled([], [shuffled, shuffled.permutation])()
    generator = np.random.RandomState(int(np.random.RandomState(4).randint(2**30)))
    expected = A.copy()
    for row in expected:
        generator.shuffle(row)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(rows, np.take_along_axis(A, orders, axis=1))


def test_choice_without_replacement():
    p = np.array([[0.0, 0.5, 0.3, 0.2]] * 500)
    drawn = value_of(MRG_RandomStreams(8).choice(2, replace=False, p=p))
    assert drawn.shape == (500, 2) and (drawn[:, 0] != drawn[:, 1]).all()
    assert (drawn != 0).all()
    assert np.bincount(drawn[:, 0])[1] / 500 == pytest.approx(0.5, abs=0.1)
    with pytest.raises(ValueError, match="cannot sample 5 of 4"):
        value_of(MRG_RandomStreams(8).choice(5, replace=False, p=p))
    with pytest.raises(NotImplementedError, match="replace=False"):
        MRG_RandomStreams(8).choice(2, p=p)


def test_truncated_normal_stays_within_two_deviations():
    drawn = value_of(MRG_RandomStreams(8).normal((N,), avg=1.0, std=2.0, truncate=True))
    assert abs(drawn - 1).max() <= 4
    assert drawn.std() == pytest.approx(2 * 0.8796, abs=0.1)
    assert value_of(MRG_RandomStreams(8).truncated_normal((N,), std=2.0)).std() == pytest.approx(
        2.0, abs=0.1
    )


def test_streams_refuse_bad_seeds():
    for seed in (0, [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]):
        with pytest.raises(ValueError, match="not 0"):
            MRG_RandomStreams(seed)
    with pytest.raises(ValueError, match="below"):
        MRG_RandomStreams(2**31 - 21069)
    with pytest.raises(TypeError, match="1 integer or 6"):
        MRG_RandomStreams([1, 2])


def test_streams_take_operations_of_the_user():
    sums = RandomFunction(lambda state, n, size: state.uniform(size=(n, *size)).sum(0), T.dvector)
    draw = RandomStreams(4).gen(sums, (3,), 5)
    generator = np.random.RandomState(int(np.random.RandomState(4).randint(2**30)))
    np.testing.assert_array_equal(value_of(draw), generator.uniform(size=(5, 3)).sum(0))
    wrong = RandomFunction("uniform", T.dvector, ndim_added=1)
    with pytest.raises(ValueError, match="expected a sample of 1 dimensions"):
        value_of(RandomStreams(4).gen(wrong, (), 0.0, np.ones((2, 2))))


def test_functions_that_draw_can_be_pickled():
    generator = raw_random.random_state_type()
    draws = [
        raw_random.binomial(generator, (3,))[1],
        raw_random.random_integers(generator, (3,))[1],
    ]
    f = compiled([generator], draws)
    loaded = pickle.loads(pickle.dumps(f))
    for a, b in zip(f(np.random.RandomState(1)), loaded(np.random.RandomState(1)), strict=True):
        np.testing.assert_array_equal(a, b)


@both_streams
def test_gradients_of_parameters_are_refused(streams):
    parameter = T.dscalar("parameter")
    source = streams(3)
    for draw in (
        source.uniform((2,), low=parameter, high=2.0),
        source.normal((2,), avg=parameter),
        source.normal((2,), std=parameter),
    ):
        with pytest.raises(theano.gradient.NullTypeGradError):
            theano.grad(draw.sum(), parameter)


def test_a_step_that_captures_a_draw_has_its_other_gradients():
    """Of PyTensor's generators, which hold no array: of what is drawn there is no gradient."""
    mean, scale = T.dscalars("mean", "scale")
    generator = pytensor.shared(np.random.default_rng(3))
    drawn = pt.random.normal(mean, rng=generator)
    rows, _ = theano.scan(
        lambda row: scale * row + drawn, outputs_info=[T.constant(1.0, dtype="float64")], n_steps=2
    )
    with pytest.raises(theano.gradient.NullTypeGradError):
        theano.grad(rows[-1], mean)
    # scale**2 + scale * drawn + drawn
    last, slope = theano.function([mean, scale], [rows[-1], theano.grad(rows[-1], scale)])(0.5, 2)
    np.testing.assert_allclose(slope, 4 + (last - 4) / 3)


@both_streams
def test_streams_draw_in_loops_what_calls_draw(streams):
    one_by_one = compiled([], streams(7).normal((4,), dtype="float64"))
    source = streams(7)
    traced, updates = theano.scan(lambda: source.normal((4,), dtype="float64"), n_steps=6)
    assert source.state_updates[0][0] in updates
    f = theano.function([], traced, updates=updates)
    for _ in range(2):
        np.testing.assert_allclose(f(), [one_by_one() for _ in range(6)], rtol=1e-12)


@both_streams
def test_gradients_of_loops_see_the_draws_of_the_forward_loop(streams):
    one_by_one = compiled([], streams(7).uniform((4,), dtype="float64"))
    source = streams(7)
    w = theano.shared(0.5)

    def step(x):
        return T.tanh(x + source.uniform((4,), dtype="float64") * w)

    traced, updates = theano.scan(step, outputs_info=T.zeros(4, dtype="float64"), n_steps=5)
    f = theano.function([], [traced[-1].sum(), theano.grad(traced[-1].sum(), w)], updates=updates)
    for _ in range(2):
        x, slope = np.zeros(4), np.zeros(4)
        for _ in range(5):
            noise = one_by_one()
            x = np.tanh(x + noise * 0.5)
            slope = (1 - x**2) * (slope + noise)
        np.testing.assert_allclose(f(), [x.sum(), slope.sum()])


def test_older_names():
    with pytest.warns(UserWarning, match="deprecated"):
        drawn = value_of(MRG_RandomStreams(1).multinomial_wo_replacement(pvals=[[0.0, 1.0]]))
    assert drawn.tolist() == [[1]]
    with pytest.warns(DeprecationWarning, match="older name"):
        assert value_of(RandomStreams(1).binomial((2,), prob=1.0)).tolist() == [1, 1]
    assert value_of(MRG_RandomStreams(1, use_cuda=False).uniform((2,), target="cpu")).shape == (2,)
