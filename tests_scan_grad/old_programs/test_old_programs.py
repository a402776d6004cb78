"""Programs in the manner of 2012 to 2018, with the idioms of their time; numbers are Theano 1.0.5's."""

import json
from types import ModuleType

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from theano.gof import graph as walks
from theano.tensor.shared_randomstreams import RandomStreams

# What Theano 1.0.5 computed on Python 3.8: the cost and the sum of the gradient's magnitudes.
ATTENDED_MASKED = (0.24969467246180746, 0.05442757978339984)
ATTENDED = (0.10358707217773304, 0.07020278393099195)
RBM_COSTS = {
    "input": 0.148546403019449,
    "nothing": 0.148546403019449,
    "persistent": 0.19926008194465528,
}
# It read the file that this package had written.
LOADED_BY_THEANO = -9.558912044396926


def values_of(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-0.5, 0.5, shape)


class Attention:
    """Weights over the steps of a sequence; a mask, if one is given, keeps padding out."""

    def __init__(self, size, mask=None):
        self.W = theano.shared(values_of(size, size), "W")
        self.v = theano.shared(values_of(size, seed=1), "v")
        self.mask = mask

    def __call__(self, x):
        scores = T.dot(T.tanh(T.dot(x, self.W)), self.v)
        weights = T.exp(scores - scores.max(axis=1, keepdims=True))
        if self.mask:
            weights = weights * self.mask
        weights = weights / weights.sum(axis=1, keepdims=True)
        return (x * weights.dimshuffle(0, 1, "x")).sum(axis=1), weights


@pytest.mark.parametrize(("masked", "total"), [(True, ATTENDED_MASKED), (False, ATTENDED)])
def test_attention_with_a_mask(masked, total):
    x = T.tensor3("x")
    mask = T.matrix("mask") if masked else None
    attention = Attention(4, mask)
    context, weights = attention(x)
    cost = T.sqr(context).sum()
    inputs = [x, mask] if masked else [x]
    f = theano.function(inputs, [cost, weights, theano.grad(cost, attention.W)])
    given = [values_of(2, 5, 4, seed=2), np.tril(np.ones((5, 5)))[[1, 3]]][: len(inputs)]
    value, found, gradient = f(*given)
    np.testing.assert_allclose([value, np.abs(gradient).sum()], total, rtol=1e-10)
    if masked:
        assert (found[given[1] == 0] == 0).all()


class RBM:
    """As the tutorial's: what is not given is made."""

    def __init__(self, input=None, n_visible=6, n_hidden=3, W=None):
        if not W:
            W = theano.shared(values_of(n_visible, n_hidden), "W")
        if not input:
            input = T.matrix("input")
        self.W, self.input = W, input
        self.hbias = theano.shared(np.zeros(n_hidden), "hbias")
        self.vbias = theano.shared(np.zeros(n_visible), "vbias")
        self.params = [self.W, self.hbias, self.vbias]
        self.draws = RandomStreams(123)

    def up(self, v):
        mean = T.nnet.sigmoid(T.dot(v, self.W) + self.hbias)
        return self.draws.binomial(size=mean.shape, n=1, p=mean, dtype="float64")

    def gibbs(self, h):
        mean = T.nnet.sigmoid(T.dot(h, self.W.T) + self.vbias)
        v = self.draws.binomial(size=mean.shape, n=1, p=mean, dtype="float64")
        return v, self.up(v)

    def free_energy(self, v):
        return -T.dot(v, self.vbias) - T.sum(
            T.log(1 + T.exp(T.dot(v, self.W) + self.hbias)), axis=1
        )

    def updates(self, lr, persistent=None, k=3):
        start = persistent if persistent else self.up(self.input)
        [vs, _], updates = theano.scan(self.gibbs, outputs_info=[None, start], n_steps=k)
        end = vs[-1]
        cost = T.mean(self.free_energy(self.input)) - T.mean(self.free_energy(end))
        for param, grad in zip(
            self.params, T.grad(cost, self.params, consider_constant=[end]), strict=True
        ):
            updates[param] = param - grad * lr
        return cost, updates


@pytest.mark.parametrize("given", ["input", "nothing", "persistent"])
def test_rbm_makes_what_is_not_given(given):
    x = T.matrix("x")
    rbm = RBM(input=x if given == "input" else None)
    assert (rbm.input is x) == (given == "input")
    chain = theano.shared(np.zeros((4, 3)), "chain") if given == "persistent" else None
    cost, updates = rbm.updates(0.1, chain)
    train = theano.function([rbm.input], cost, updates=updates)
    for _ in range(3):
        value = train((values_of(4, 6, seed=3) > 0).astype("float64"))
    np.testing.assert_allclose(float(value), RBM_COSTS[given], rtol=1e-9)


def batch_normalized():
    """A model; its parameters are what the graph depends on, as libraries collect them."""
    x = T.matrix("x")
    made = x
    for k in range(2):
        made = T.dot(made, theano.shared(values_of(4, 4, seed=k), f"W{k}"))
        four = [
            theano.shared(np.ones(4) + 0.1 * k * n, name + str(k)) for n, name in enumerate(NAMES)
        ]
        made = T.tanh(T.nnet.bn.batch_normalization(made, *four))
    return x, made


NAMES = ("gamma", "beta", "mean", "std")

SAVED = """
import json, sys
import numpy as np
import theano
from tests_scan_grad.old_programs.test_old_programs import batch_normalized, shared_of, values_of
x, y = batch_normalized()
with np.load(sys.argv[1] if len(sys.argv) > 1 else {path!r}) as held:
    for number, variable in enumerate(shared_of(y)):
        variable.set_value(held["arr_%d" % number])
print(json.dumps(y.eval({{x: values_of(3, 4, seed=9)}}).tolist()))
"""


def shared_of(variable):
    return [v for v in walks.inputs([variable]) if isinstance(v, theano.compile.SharedVariable)]


def test_weights_saved_by_position_are_loaded_by_another_process(tmp_path):
    x, y = batch_normalized()
    parameters = shared_of(y)
    for number, variable in enumerate(parameters):
        shape = variable.get_value().shape
        variable.set_value(1 + values_of(*shape, seed=20 + number))
    np.savez(tmp_path / "weights.npz", *[variable.get_value() for variable in parameters])
    (printed,) = printed_by(SAVED.format(path=str(tmp_path / "weights.npz")))
    value = y.eval({x: values_of(3, 4, seed=9)})
    np.testing.assert_allclose(json.loads(printed), value, rtol=1e-12)
    # what Theano 1.0.5 computes, which loads the file by the same walk
    np.testing.assert_allclose(value.sum(), LOADED_BY_THEANO, rtol=1e-10)


COLUMN, ROW, VECTOR = T.col("c"), T.row("r"), T.vector("v")
MATRIX, POSITION = T.matrix("m"), T.iscalar("i")
ONES = T.TensorType("float64", (False, True, True))("t")


# The patterns of lengths of 1 that Theano 1.0.5 gives; where it has an error, NumPy's.
@pytest.mark.parametrize(
    ("indexed", "pattern"),
    [
        pytest.param(lambda: COLUMN[:, None], (False, True), id="column"),
        pytest.param(lambda: T.alloc(1.0, POSITION, 1)[:, None], (False, True), id="alloc"),
        pytest.param(lambda: COLUMN[0, None], (True,), id="number"),
        pytest.param(lambda: COLUMN[POSITION, None], (True,), id="variable"),
        pytest.param(lambda: COLUMN[None, :2], (True, False), id="slice"),
        pytest.param(lambda: ONES[:, None], (False, True), id="two dimensions"),
        pytest.param(lambda: ONES[:, None, :], (False, True, True), id="one of two"),
        pytest.param(lambda: COLUMN[:, None, :], (False, True, True), id="all named"),
        pytest.param(lambda: COLUMN[:, :, None], (False, True, True), id="last"),
        pytest.param(lambda: COLUMN[..., None], (False, True, True), id="ellipsis"),
        pytest.param(lambda: VECTOR[:, None], (False, True), id="vector"),
        pytest.param(lambda: ROW[:, None], (True, True, False), id="row"),
        pytest.param(lambda: MATRIX[:, None], (False, True, False), id="matrix"),
        pytest.param(lambda: MATRIX[None], (True, False, False), id="matrix, one axis"),
    ],
)
def test_dimensions_of_length_one_that_an_index_with_new_axes_does_not_name(indexed, pattern):
    assert indexed().type.broadcastable == pattern


def test_a_mask_of_one_column_in_a_step_for_vectors():
    """As the samplers of dl4mt, skip-thoughts and arctic-captions call their steps."""

    def step(mask, x, h):
        return mask[:, None] * T.tanh(x + h) + (1.0 - mask)[:, None] * h

    x, h = T.matrices("x", "h")
    sampled = step(T.alloc(1.0, x.shape[0], 1), x, h)
    assert sampled.ndim == 2
    found = sampled.eval({x: [[1.0, 2.0]], h: [[0.5, 0.5]]})
    np.testing.assert_allclose(found, np.tanh([[1.5, 2.5]]))
    by_pytensor = ModuleType("by_pytensor")
    exec("import pytensor\ndef indexed(x): return x[:, None]", vars(by_pytensor))
    assert by_pytensor.indexed(COLUMN).ndim == 3
