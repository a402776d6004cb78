"""Work next to a loop, done in blocks of its steps: the same values, less memory."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import python_mode
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes import block_steps, rows_of_steps
from theano.link.native.passes.pipeline import watched_passes
from theano.link.native.spec.statements import UnsoundStep
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.reduce import Reduce
from theano.link.native.statements.step_blocks import StepBlocks

BATCH, WIDTH, DEPTH = 3, 4, 5


@pytest.fixture(params=[1, 2, 3, 7, 0], ids="block_of_{}".format)
def block(request):
    """Blocks of so many steps; 0: of as many as the sizes ask for."""
    runtime_calls.set_block_steps(request.param)
    yield request.param
    runtime_calls.set_block_steps(0)


class Network:
    """A loop over ``x.dot(w) + b``, with as many states as its step returns."""

    def __init__(self, step, states=1, gates=1, batch=True, last=False, cost=None, **options):
        self.x = T.tensor3("x") if batch else T.matrix("x")
        self.shared = {
            name: theano.shared(self.numbers(*shape, seed=k) / 2, name)
            for k, (name, shape) in enumerate(
                {
                    "w": (DEPTH, gates * WIDTH),
                    "u": (WIDTH, gates * WIDTH),
                    "b": (gates * WIDTH,),
                }.items()
            )
        }
        w, u, b = self.shared.values()
        shape = (BATCH, WIDTH) if batch else (WIDTH,)
        self.start = theano.shared(self.numbers(2, *shape, seed=9) / 2, "start")
        begin = options.pop("begin", lambda start: start[0])
        found, _ = theano.scan(
            step,
            sequences=[T.dot(self.x, w) + b],
            outputs_info=[begin(self.start)] * states,
            non_sequences=[u],
            **options,
        )
        rows = found[0] if isinstance(found, list) else found
        self.cost = (cost or (lambda rows: (rows**2).sum()))(rows[-1] if last else rows)
        self.wrt = [*self.shared.values(), self.start]

    @staticmethod
    def numbers(*shape, seed):
        return np.random.default_rng(seed).normal(size=shape)

    def outputs(self):
        return [self.cost, *T.grad(self.cost, self.wrt), T.grad(self.cost, self.x)]


def plain(p, h, u):
    return T.tanh(p + T.dot(h, u))


def lstm(p, h, c, u):
    p = p + T.dot(h, u)
    i, f, o, g = (p[..., k * WIDTH : (k + 1) * WIDTH] for k in range(4))
    c = T.nnet.sigmoid(f) * c + T.nnet.sigmoid(i) * T.tanh(g)
    return T.nnet.sigmoid(o) * T.tanh(c), c


def gru(p, h, u):
    q = T.nnet.sigmoid(p[..., : 2 * WIDTH] + T.dot(h, u[:, : 2 * WIDTH]))
    r, z = q[..., :WIDTH], q[..., WIDTH:]
    new = T.tanh(p[..., 2 * WIDTH :] + T.dot(r * h, u[:, 2 * WIDTH :]))
    return z * h + (1 - z) * new


def two_before(p, before, h, u):
    return T.tanh(p + T.dot(h, u) - before / 2)


NETWORKS = {
    "plain": lambda: Network(plain),
    "lstm": lambda: Network(lstm, states=2, gates=4),
    "gru": lambda: Network(gru, gates=3),
    "vectors": lambda: Network(plain, batch=False),
    "lstm of vectors": lambda: Network(lstm, states=2, gates=4, batch=False),
    "last state": lambda: Network(plain, last=True),
    "last state of two": lambda: Network(lstm, states=2, gates=4, last=True),
    "all but the first": lambda: Network(plain, cost=lambda rows: (rows[1:] ** 3).sum()),
    "rows and the last": lambda: Network(
        plain, cost=lambda rows: (rows**2).sum() + (rows[-1] ** 3).sum()
    ),
    "sums of rows": lambda: Network(plain, cost=lambda rows: ((rows**2).sum(axis=-1) ** 2).sum()),
    "backwards": lambda: Network(plain, go_backwards=True),
    "two rows before": lambda: Network(
        two_before, begin=lambda start: {"initial": start, "taps": [-2, -1]}
    ),
    "truncated": lambda: Network(plain, truncate_gradient=2),
}


def blocks_of(function_of):
    """The statements that repeat in the segments of a function that is made meanwhile."""
    found = []

    def watch(lowered, after):
        if isinstance(lowered, Segment) and after == "block_steps":
            found.extend(of_kind(lowered.step.statements, StepBlocks))

    with watched_passes(watch), theano.config.change_flags(cache_optimizations=False):
        function_of()
    return found


@pytest.fixture(scope="module")
def functions():
    """Each network by the engine and by Python, made when it is first asked for."""
    made = {}

    def get(name):
        if name not in made:
            network = NETWORKS[name]()
            outputs = network.outputs()
            made[name] = tuple(
                theano.function([network.x], outputs, mode=mode) for mode in (None, python_mode())
            )
        return made[name]

    return get


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("steps", [1, 2, 6, 7, 15])
@pytest.mark.parametrize("name", NETWORKS)
def test_values_and_gradients(name, steps, threads, block, functions, any_work):
    runtime_calls.set_threads(threads)
    native, reference = functions(name)
    shape = (steps, DEPTH) if "vectors" in name else (steps, BATCH, DEPTH)
    x = Network.numbers(*shape, seed=steps)
    for ours, theirs in zip(native(x), reference(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["plain", "lstm", "gru", "backwards"])
def test_the_same_bits_on_any_number_of_threads(name, block, functions, any_work):
    native, _ = functions(name)
    x = Network.numbers(11, BATCH, DEPTH, seed=1)
    runtime_calls.set_threads(1)
    expected = native(x)
    runtime_calls.set_threads(2)
    for ours, theirs in zip(native(x), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


# how many loops have something done in blocks
BLOCKED = {"plain": 2, "lstm": 2, "gru": 2, "vectors": 2, "backwards": 2, "all but the first": 2}


@pytest.mark.parametrize("name", BLOCKED)
def test_which_loops_have_blocks(name):
    network = NETWORKS[name]()
    outputs = network.outputs()[:-1]
    blocks = blocks_of(lambda: theano.function([network.x], outputs))
    assert len(blocks) == BLOCKED[name]


def test_no_array_of_all_steps_is_left_but_what_is_saved():
    network = NETWORKS["lstm"]()
    found = []

    def watch(lowered, after):
        if isinstance(lowered, Segment) and after == "place_in_memory":
            found.append(lowered)

    with watched_passes(watch), theano.config.change_flags(cache_optimizations=False):
        theano.function([network.x], network.outputs()[:-1])
    (segment,) = found
    blocks = list(of_kind(segment.step.statements, StepBlocks))
    find = segment.step.sizes.find
    all_steps = {find(one.steps) for one in blocks}
    assert len(all_steps) == 1
    whole = [b for b in segment.memory.buffers if b.shape and find(b.shape[0]) in all_steps]
    # four gates; the states have a row more
    assert len(whole) == 4


def test_a_loop_that_ends_by_a_condition_has_none():
    x, w, u = T.matrix("x"), T.matrix("w"), T.matrix("u")
    rows, _ = theano.scan(
        lambda p, h, u: (T.tanh(p + T.dot(h, u)), theano.scan_module.until(p.sum() > 100)),
        [T.dot(x, w)],
        [T.zeros_like(u[0])],
        [u],
    )
    assert not blocks_of(lambda: theano.function([x, w, u], rows))


def test_a_reader_that_is_forgotten_is_found(monkeypatch):
    """The sum over all steps for the bias reads an array that is as large as a block only."""
    monkeypatch.setitem(rows_of_steps._ADDED, Reduce, lambda group, statement: None)
    network = NETWORKS["plain"]()
    with theano.config.change_flags(native__verify=True, cache_optimizations=False):
        with pytest.raises(UnsoundStep, match="after block_steps, .* which nothing has written"):
            theano.function([network.x], network.outputs()[:-1])


def test_an_order_that_reads_the_block_before_is_found(monkeypatch):
    in_order = block_steps._Blocks.replace

    def reversed_parts(blocks):
        in_order(blocks)
        (*_, repeated) = of_kind(blocks.step.statements, StepBlocks)
        repeated.parts.reverse()

    monkeypatch.setattr(block_steps._Blocks, "replace", reversed_parts)
    network = NETWORKS["plain"]()
    with theano.config.change_flags(native__verify=True, cache_optimizations=False):
        with pytest.raises(UnsoundStep, match="after block_steps, .* which nothing has written"):
            theano.function([network.x], network.outputs()[:-1])


def test_rows_that_later_steps_compute_are_not_read_before(block):
    """Two sequences from one pass over their elements; of one a step reads the next row, too."""
    x, w = T.matrix("x"), T.matrix("w")
    p = T.dot(x, w)
    shifted = dict(input=T.tanh(p), taps=[-1, 0, 1])
    rows, _ = theano.scan(
        lambda a, b, c, d, h: T.tanh(a + 2 * c + d) - b * h,
        [T.nnet.sigmoid(p[1:-1]), shifted],
        [T.zeros_like(p[0])],
    )
    outputs = [rows.sum(), *T.grad((rows**2).sum(), [x, w])]
    native, reference = (theano.function([x, w], outputs, mode=m) for m in (None, python_mode()))
    values = Network.numbers(11, DEPTH, seed=1), Network.numbers(DEPTH, WIDTH, seed=2)
    for ours, theirs in zip(native(*values), reference(*values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_a_result_that_others_need_whole_is_not_read_in_blocks(block):
    """The same map makes a sequence, and what a step reads all of."""
    x, w = T.matrix("x"), T.matrix("w")
    p = T.dot(x, w)
    whole = T.tanh(p)
    rows, _ = theano.scan(
        lambda a, h, whole: T.tanh(a + h) + whole.sum(axis=0),
        [T.nnet.sigmoid(p)],
        [T.zeros_like(p[0])],
        [whole],
    )
    outputs = [rows.sum(), *T.grad((rows**2).sum(), [x, w])]
    native, reference = (theano.function([x, w], outputs, mode=m) for m in (None, python_mode()))
    values = Network.numbers(11, DEPTH, seed=1), Network.numbers(DEPTH, WIDTH, seed=2)
    for ours, theirs in zip(native(*values), reference(*values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def stacked(products, ways):
    """Return layers of one gate, whose inputs are made by one product or two, and their gradients."""
    x, *weights = T.tensor3("x"), *(T.matrix(name) for name in "wuv")
    w, u, v = weights
    h = x
    for backwards in ways:
        p = T.dot(h, w) if products == 1 else T.concatenate([T.dot(h, w), T.dot(h, v)], axis=2)
        h, _ = theano.scan(
            lambda p, h, u: T.nnet.sigmoid(p[:, :DEPTH] + T.dot(h, u)) * T.tanh(p[:, DEPTH:] - h),
            p,
            T.zeros((x.shape[1], DEPTH)),
            u,
            go_backwards=backwards,
        )
    used = weights[:products] + weights[1:2] if products == 1 else weights
    cost = (h**3).sum()
    shapes = [(DEPTH, DEPTH * (3 - products)), (DEPTH, DEPTH), (DEPTH, DEPTH)]
    return [x, *used], [cost, *T.grad(cost, [x, *used])], shapes


@pytest.mark.parametrize("ways", [(False, False, False), (False, True, False), (True, True)])
@pytest.mark.parametrize("products", [1, 2])
@pytest.mark.parametrize("steps", [1, 6, 11])
def test_layers_whose_cotangents_lie_where_rows_were_saved(steps, products, ways, block):
    inputs, outputs, shapes = stacked(products, ways)
    native, reference = (theano.function(inputs, outputs, mode=m) for m in (None, python_mode()))
    values = [Network.numbers(steps, BATCH, DEPTH, seed=9)]
    values += [Network.numbers(*shape, seed=k) / 2 for k, shape in enumerate(shapes)]
    values = values[: len(inputs)]
    for ours, theirs in zip(native(*values), reference(*values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_a_part_of_what_stands_around_a_loop_is_done_in_blocks_where_all_of_it_cannot():
    """Layers that share weights: the sum of their gradients stands after all loops."""
    x, *weights = T.tensor3("x"), *(T.matrix(name) for name in "wuv")
    w, u, v = weights
    h = x
    for _ in range(2):
        h, _ = theano.scan(
            lambda p, q, h, u: T.tanh(p + T.dot(h, u)) * T.nnet.sigmoid(q),
            [T.dot(h, w), T.dot(h, v)],
            T.zeros((x.shape[1], DEPTH)),
            u,
        )
    outputs = [(h**3).sum(), *T.grad((h**3).sum(), [*weights, x])]
    blocks = blocks_of(lambda: theano.function([x, *weights], outputs))
    assert len(blocks) == 4


def test_rows_that_a_loop_has_yet_to_read_are_not_written(block):
    """`p` is made before the loop reads `q`, which has as many rows, and is needed afterwards."""
    x = T.tensor3("x")
    w, v = (T.TensorType("float64", shape=(DEPTH, WIDTH))(name) for name in "wv")
    q, z = T.cumsum(T.dot(x, w), axis=0), T.dot(x, v)
    p, s = T.tanh(z), T.nnet.sigmoid(z)
    start = T.zeros_like(p[0])
    h, _ = theano.scan(lambda q, s, h: T.tanh(q * h + s), [q, s], start)
    k, _ = theano.scan(lambda p, h, k: T.tanh(p - k * h), [p[::-1], h], start)
    native, reference = (theano.function([x, w, v], k, mode=m) for m in (None, python_mode()))
    values = [Network.numbers(11, BATCH, DEPTH, seed=9)]
    values += [Network.numbers(DEPTH, WIDTH, seed=seed) for seed in range(2)]
    np.testing.assert_allclose(native(*values), reference(*values), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("lengths", [(7, 7, 7), (7, 9, 8), (9, 8, 7), (1, 1, 2)])
def test_the_shortest_of_several_sequences(lengths, block):
    """As many steps as the shortest has rows; the products after the loop are done in blocks."""
    xs = [T.tensor3(name) for name in "abc"]
    weights = [T.matrix(name) for name in "uvw"]

    def step(a, b, c, h, u, v, w):
        r, z = T.nnet.sigmoid(a + T.dot(h, u)), T.nnet.sigmoid(b + T.dot(h, v))
        return z * h + (1 - z) * T.tanh(c + T.dot(r * h, w))

    h, _ = theano.scan(step, xs, T.zeros((xs[0].shape[1], WIDTH)), weights)
    cost = (h**2).sum(axis=2).mean()
    outputs = [cost, *T.grad(cost, weights)]
    blocks = blocks_of(lambda: theano.function([*xs, *weights], outputs))
    assert len(blocks) == 1
    native, reference = (
        theano.function([*xs, *weights], outputs, mode=m) for m in (None, python_mode())
    )
    values = [Network.numbers(n, BATCH, WIDTH, seed=n + k) for k, n in enumerate(lengths)]
    values += [Network.numbers(WIDTH, WIDTH, seed=k) / 2 for k in range(3)]
    for ours, theirs in zip(native(*values), reference(*values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("steps", [20, 700])
def test_static_sizes(steps):
    x = T.TensorType("float64", shape=(steps, 8, 16))("x")
    w, u = (T.TensorType("float64", shape=(16, 256))(name) for name in "wu")
    h, _ = theano.scan(
        lambda p, h, u: T.tanh(p + T.dot(h, u))[:, :16],
        [T.dot(x, w)],
        [T.zeros((8, 16))],
        [u],
    )
    outputs = [(h**2).sum(), *T.grad((h**2).sum(), [w, u])]
    blocks = blocks_of(lambda: theano.function([x, w, u], outputs))
    assert len(blocks) == (2 if steps > 100 else 0)
    native, reference = (
        theano.function([x, w, u], outputs, mode=mode) for mode in (None, python_mode())
    )
    values = [Network.numbers(*v.type.shape, seed=k) / 8 for k, v in enumerate((x, w, u))]
    for ours, theirs in zip(native(*values), reference(*values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_few_steps_are_one_block():
    native, _ = (theano.function([n.x], n.outputs()) for n in [NETWORKS["plain"]()] * 2)
    x = Network.numbers(4, BATCH, DEPTH, seed=0)
    assert runtime_calls.block_steps(4, BATCH, 8 * BATCH * WIDTH) == 4
    assert runtime_calls.block_steps(100_000, 16, 16 * 4 * 1024) == 64
    # as many blocks as of 64 steps, and the last is not a short one
    assert runtime_calls.block_steps(65, 16, 16 * 4 * 1024) == 33
    assert runtime_calls.block_steps(150, 16, 16 * 4 * 1024) == 50
    native(x)
