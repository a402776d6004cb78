"""``scan_report``: what it says of the loops of compiled functions."""

import doctest
import importlib
import pickle
from types import SimpleNamespace

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.link.vm import VMLinker

import theano
import theano.tensor as T
from theano.link import cuda, native
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.scan_module import scan_report, until
from theano.scan_module.report.scan_report import LoopReport, SavedValue, ScanReport
from theano.scan_module.report.step_products import StepProduct

# The Python linker: what is reported does not depend on it, and nothing is compiled to C.
MODE = theano.Mode(VMLinker(use_cloop=False, c_thunks=False), "fast_run")


def gated_rnn(name="gated", scan=theano.scan, mode=MODE, **options):
    """The arguments of a gated recurrent network, and its states."""
    x, ri, zi = T.tensor3("x"), T.tensor3("ri"), T.tensor3("zi")
    h0, U, V, W = (T.matrix(name) for name in ("h0", "U", "V", "W"))

    def step(x, ri, zi, h, U, V, W):
        r = T.nnet.sigmoid(ri + h.dot(U))
        z = T.nnet.sigmoid(zi + h.dot(V))
        n = T.tanh(x + (r * h).dot(W))
        return z * n + (1 - z) * h

    states, _ = scan(
        step,
        sequences=[x, ri, zi],
        outputs_info=[h0],
        non_sequences=[U, V, W],
        name=name,
        mode=mode,
        **options,
    )
    return [x, ri, zi, h0, U, V, W], states


def numbers(steps=5, batch=2, width=3):
    rows = (steps, batch, width)
    shapes = [rows, rows, rows, (batch, width), *[(width, width)] * 3]
    return [np.full(shape, 0.1) for shape in shapes]


@pytest.fixture(scope="module")
def gradient():
    arguments, states = gated_rnn()
    return theano.function(
        arguments, theano.grad((states**2).sum(), arguments), mode=MODE, name="gradient"
    )


@pytest.fixture(scope="module")
def gradient_report(gradient):
    return scan_report(gradient)


def test_gated_rnn_products(gradient_report):
    assert isinstance(gradient_report, ScanReport)
    forward, backward = gradient_report.loops
    assert (forward.name, backward.name) == ("gated", "grad_of_gated")
    assert (forward.products_before, forward.products_after) == (3, 2)
    assert (backward.products_before, backward.products_after) == (6, 2)
    assert gradient_report.products_outside == 3
    assert gradient_report.recorded


def test_gated_rnn_saved_values(gradient_report):
    forward, backward = gradient_report.loops
    assert forward.policy == "auto"
    assert len(forward.saved) == 3
    expressions = {value.expression for value in forward.saved}
    assert "sigmoid(ri[t] + state(h0)[t-1].dot(U))" in expressions
    assert "sigmoid(zi[t] + state(h0)[t-1].dot(V))" in expressions
    assert any(e.startswith("tanh(x[t] + ") and e.endswith(".dot(W))") for e in expressions)
    assert all(value.type == f"{theano.config.floatX} matrix" for value in forward.saved)
    assert backward.saved == () and backward.policy is None


def test_gated_rnn_decisions(gradient_report):
    forward, backward = gradient_report.loops
    assert [d.subject for d in forward.merged] == ["state(h0)[t-1].dot(U), state(h0)[t-1].dot(V)"]
    assert len(backward.pushed_out) == 3
    assert len(backward.merged) == 1
    assert forward.refused == backward.refused == ()
    [product] = [p for p in forward.products_left if p.expression == "state(h0)[t-1].dot([U V])"]
    assert product.states == ("state(h0)[t-1]",) and product.after == ()


def test_gated_rnn_bytes_from_arguments(gradient):
    forward, backward = scan_report(gradient, numbers(batch=2, width=3)).loops
    item = np.dtype(theano.config.floatX).itemsize
    row, matrix = 2 * 3 * item, 3 * 3 * item
    # the state and three saved values
    assert (forward.bytes_before, forward.bytes_after) == (4 * row, 4 * row)
    assert [value.bytes for value in forward.saved] == [row] * 3
    # before: a cotangent and the traces of x, ri, zi and of W's product; three accumulators
    assert backward.bytes_before == 4 * row + 3 * matrix
    assert isinstance(backward.bytes_after, int)
    assert backward.bytes_after <= backward.bytes_before - 3 * matrix + row


def test_bytes_without_arguments_are_expressions(gradient_report):
    forward, _ = gradient_report.loops
    assert "h0.shape[0]*h0.shape[1]" in forward.bytes_after
    assert not any("…" in str(loop.bytes_after) for loop in gradient_report.loops)


def test_arguments_by_name_give_the_same_numbers(gradient):
    names = [spec.name for spec in gradient.maker.inputs]
    by_name = dict(zip(names, numbers(), strict=True))
    assert scan_report(gradient, by_name) == scan_report(gradient, numbers())


def test_static_shapes_give_numbers():
    h0 = pt.tensor("h0", shape=(4, 3), dtype="float32")
    states, _ = theano.scan(lambda h: T.tanh(h), outputs_info=h0, n_steps=5, mode=MODE)
    [loop] = scan_report(theano.function([h0], states, mode=MODE)).loops
    assert loop.bytes_before == loop.bytes_after == 4 * 3 * 4


def test_arguments_are_neither_changed_nor_used_in_a_call():
    calls = theano.shared(0)
    h0 = T.vector("h0")
    states, _ = theano.scan(lambda h: 2 * h, outputs_info=h0, n_steps=3, mode=MODE)
    f = theano.function([h0], states, updates=[(calls, calls + 1)], mode=MODE)
    given = np.ones(7)
    [loop] = scan_report(f, [given]).loops
    assert loop.bytes_after == 7 * h0.type.dtype.startswith("float") * np.dtype(h0.dtype).itemsize
    assert calls.get_value() == 0
    assert (given == 1).all()


def test_text_of_the_gated_rnn(gradient_report):
    text = str(gradient_report)
    for essential in (
        "function gradient: 2 loops; products outside the loops: 3",
        "loop gated",
        "products per step: 3 -> 2",
        "loop grad_of_gated",
        "products per step: 6 -> 2",
        "scan.save=auto",
        "sigmoid(ri[t] + state(h0)[t-1].dot(U))",
        "state(h0)[t-1].dot(U), state(h0)[t-1].dot(V): one product",
        "computed once outside the loop",
    ):
        assert essential in text


def test_policy_is_that_of_the_gradient_not_of_the_compilation():
    with theano.config.change_flags(**{"scan__save": "all"}):
        arguments, states = gated_rnn()
        gradient = theano.grad(states.sum(), arguments[4])
    [forward, _] = scan_report(theano.function(arguments, gradient, mode=MODE)).loops
    assert forward.policy == "all"


def test_merging_excluded_leaves_the_products():
    arguments, states = gated_rnn()
    f = theano.function(arguments, states, mode=MODE.excluding("MergeDots"))
    [loop] = scan_report(f).loops
    assert (loop.products_before, loop.products_after) == (3, 3)
    assert loop.merged == ()


def test_projection_stays_in_a_loop_that_may_stop_early():
    x, w = T.tensor3("x"), T.matrix("w")

    def step(x, h, w):
        h = T.tanh(x.dot(w) + h)
        return h, until(h.sum() > 10)

    states, _ = theano.scan(
        step, x, outputs_info=T.zeros((2, 3)), non_sequences=w, name="stops", mode=MODE
    )
    report = scan_report(theano.function([x, w], states, mode=MODE))
    [loop] = report.loops
    assert (loop.products_before, loop.products_after) == (1, 1)
    assert [(d.subject, d.detail) for d in loop.refused] == [
        ("product x[t].dot(w)", "the loop may stop early")
    ]
    [product] = loop.products_left
    assert (product.expression, product.states, product.after) == ("x[t].dot(w)", (), ())
    assert "product x[t].dot(w): the loop may stop early" in str(report)


def test_projection_leaves_a_loop():
    x, w = T.tensor3("x"), T.matrix("w")
    states, _ = theano.scan(
        lambda x, h, w: T.tanh(x.dot(w) + h),
        x,
        outputs_info=T.zeros((2, 3)),
        non_sequences=w,
        mode=MODE,
    )
    report = scan_report(theano.function([x, w], states, mode=MODE))
    [loop] = report.loops
    assert (loop.products_before, loop.products_after, report.products_outside) == (1, 0, 1)
    assert [d.subject for d in loop.hoisted] == ["product x[t].dot(w)"]
    assert "hoisted before the loop" in str(report)


def test_accumulator_that_is_read_step_by_step_stays():
    a, b, w0 = T.tensor3("a"), T.tensor3("b"), T.matrix("w0")
    sums, _ = theano.scan(
        lambda a, b, w: w + a.dot(b), [a, b], outputs_info=w0, name="sums", mode=MODE
    )
    f = theano.function([a, b, w0], sums, mode=MODE.excluding("HoistFromSequences"))
    [loop] = scan_report(f).loops
    assert (loop.products_before, loop.products_after) == (1, 1)
    [refusal] = loop.refused
    assert refusal.subject == "sum over the steps of a[t].dot(b[t])"
    assert refusal.detail == "not only its last value is read"
    assert loop.pushed_out == ()


def test_sum_of_draws_is_described():
    # the parts of the generator's output are slices by products of lengths, such as prod([4])
    stream = MRG_RandomStreams(1)
    walk, updates = theano.scan(
        lambda position: position + stream.normal((4,)),
        outputs_info=T.zeros(4),
        n_steps=3,
        mode=MODE,
    )
    with theano.config.change_flags(on_opt_error="raise"):
        f = theano.function([], walk[-1], updates=updates, mode=MODE)
    [loop] = scan_report(f).loops
    [decision] = [d for d in loop.decisions if d.rewrite == "PushOutDotAccumulate"]
    assert decision.subject.startswith("sum over the steps of ")


def test_loop_that_vanished():
    a, b, w0 = T.tensor3("a"), T.tensor3("b"), T.matrix("w0")
    sums, _ = theano.scan(
        lambda a, b, w: w + a.dot(b), [a, b], outputs_info=w0, name="sums", mode=MODE
    )
    report = scan_report(theano.function([a, b, w0], sums[-1], mode=MODE))
    [loop] = report.loops
    assert loop.vanished
    assert (loop.products_before, loop.products_after, report.products_outside) == (1, None, 1)
    assert loop.bytes_after is None
    assert [d.subject for d in loop.pushed_out] == ["sum over the steps of a[t].dot(b[t])"]
    assert "no loop left" in str(report)


def test_loops_of_one_name_are_told_apart():
    x, w, u = T.tensor3("x"), T.matrix("w"), T.matrix("u")

    def stay(x, h, w):
        return T.tanh(x + h.dot(w))

    def go(x, total, w):
        return total + x.dot(w)

    zeros = T.zeros((2, 3))
    stays, _ = theano.scan(stay, x, zeros, w, mode=MODE)
    goes, _ = theano.scan(go, stays, zeros, u, mode=MODE)
    report = scan_report(theano.function([x, w, u], [stays, goes[-1]], mode=MODE))
    first, second = report.loops
    assert first.name == second.name
    assert not first.vanished and first.pushed_out == ()
    assert [product.expression for product in first.products_left] == ["state(0)[t-1].dot(w)"]
    assert second.vanished and len(second.pushed_out) == 1


def test_loops_that_became_one():
    x, h0, w, u = T.tensor3("x"), T.matrix("h0"), T.matrix("w"), T.matrix("u")

    def add(x, h, w):
        return T.tanh(x + h.dot(w))

    def subtract(x, h, w):
        return T.tanh(x - h.dot(w))

    one, _ = theano.scan(add, x, h0, w, name="one", mode=MODE)
    two, _ = theano.scan(subtract, x, h0, u, name="two", mode=MODE)
    report = scan_report(theano.function([x, h0, w, u], [one, two], mode=MODE))
    [loop] = report.loops
    assert set(loop.sources) == {"one", "two"}
    assert (loop.products_before, loop.products_after) == (2, 2)
    assert "made from the loops" in str(report)


def test_nested_loops_are_loops_of_their_own():
    x, w, u = T.matrix("x"), T.matrix("w"), T.matrix("u")

    def outer_step(x, h, w, u):
        inner, _ = theano.scan(
            lambda g, w: T.tanh(g.dot(w)),
            outputs_info=h.dot(u) + x,
            non_sequences=w,
            n_steps=2,
            name="inner",
            mode=MODE,
        )
        return inner[-1]

    states, _ = theano.scan(
        outer_step, x, T.zeros((4,)), non_sequences=[w, u], name="outer", mode=MODE
    )
    f = theano.function([x, w, u], states, mode=MODE)
    values = [np.zeros((3, 4)), np.zeros((4, 4)), np.zeros((4, 4))]
    outer, inner = scan_report(f, values).loops
    assert (outer.name, outer.path) == ("outer", ())
    assert (inner.name, inner.path) == ("inner", ("outer",))
    assert (outer.products_before, outer.products_after) == (1, 1)
    assert (inner.products_before, inner.products_after) == (1, 1)
    assert inner.bytes_before == inner.bytes_after == 4 * np.dtype(x.dtype).itemsize
    assert "loop inner, in a step of outer" in str(scan_report(f))


def test_fast_compile_changes_nothing_but_saves():
    arguments, states = gated_rnn(mode=theano.compile.mode.get_mode("FAST_COMPILE"))
    f = theano.function(arguments, theano.grad(states.sum(), arguments), mode="FAST_COMPILE")
    report = scan_report(f, numbers())
    forward, backward = report.loops
    assert report.recorded
    assert (forward.products_before, forward.products_after) == (3, 3)
    assert (backward.products_before, backward.products_after) == (6, 6)
    assert len(forward.saved) == 3
    assert forward.bytes_before == forward.bytes_after
    assert report.products_outside == 0


def test_function_without_loops():
    a, b = T.matrices("a", "b")
    report = scan_report(theano.function([a, b], a.dot(b), mode=MODE, name="plain"))
    assert report.loops == ()
    assert report.products_outside == 1
    assert str(report) == "function plain: no loops; products: 1"


def test_function_that_pytensor_compiled():
    def scan(*args, **kwargs):
        return pytensor.scan(*args, **kwargs, return_updates=False), {}

    mode = pytensor.compile.mode.Mode(VMLinker(use_cloop=False, c_thunks=False), "fast_run")
    arguments, states = gated_rnn(scan=scan, mode=mode)
    report = scan_report(pytensor.function(arguments, states, mode=mode))
    [loop] = report.loops
    assert not report.recorded
    assert loop.products_before is None and loop.bytes_before is None
    assert loop.products_after == 3
    assert "Nothing was recorded" in str(report)


def test_pickled_function_keeps_its_report(gradient, gradient_report):
    report = scan_report(pickle.loads(pickle.dumps(gradient)))
    assert str(report) == str(gradient_report)


def test_copied_function_is_counted(gradient):
    report = scan_report(gradient.copy(name="gradient"))
    assert not report.recorded
    assert [loop.products_after for loop in report.loops] == [2, 2]


@pytest.mark.parametrize("wrong", [None, 3, T.matrix("m"), len])
@pytest.mark.parametrize(
    "inspect",
    [scan_report, native.report, native.source, native.profile, native.c_function, cuda.report],
)
def test_what_is_not_a_function_is_refused(inspect, wrong):
    with pytest.raises(TypeError, match="expected a compiled function, as theano.function"):
        inspect(wrong)


def test_what_holds_a_function_is_refused_with_the_name_of_it(gradient):
    with pytest.raises(TypeError, match="; its attribute `function` is one$"):
        native.report(SimpleNamespace(function=gradient))


@pytest.mark.parametrize("arguments", [[], numbers()[:6], [*numbers(), 1.0], {"x": 1, "y": 2}])
def test_wrong_arguments_are_refused(gradient, arguments):
    with pytest.raises(TypeError, match="takes the arguments"):
        scan_report(gradient, arguments)


@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS")
def test_example():
    tested = doctest.testmod(importlib.import_module("theano.scan_module.report.scan_report"))
    assert tested.failed == 0 and tested.attempted > 0


def test_every_field_is_documented():
    for described in (ScanReport, LoopReport, StepProduct, SavedValue):
        for field in described.__dataclass_fields__:
            assert field in described.__doc__


def convolutional_loop():
    video, U = T.tensor5("video"), T.tensor4("U")

    def step(x, h, U):
        gates = T.nnet.conv2d(h, U, border_mode="half") + x
        return T.nnet.sigmoid(gates[:, 2:4]) * T.tanh(gates[:, :2])

    h, _ = theano.scan(step, video, T.zeros_like(video[0, :, :2]), U, name="images")
    return theano.function([video, U], theano.grad(T.sqr(h[-1]).sum(), U))


def test_correlations_are_counted_as_products():
    forward, backward = scan_report(convolutional_loop()).loops
    assert (forward.products_before, forward.products_after) == (1, 1)
    assert (backward.products_before, backward.products_after) == (2, 1)
    (left,) = forward.products_left
    assert left.expression.startswith("corrMM(state(") and left.states
    assert left.line.startswith(__file__)


def test_sizes_of_images_are_of_the_arguments():
    f = convolutional_loop()
    report = scan_report(f)
    sizes = [size for loop in report.loops for size in (loop.bytes_before, loop.bytes_after)]
    sizes += [saved.bytes for loop in report.loops for saved in loop.saved]
    texts = [str(size) for size in sizes]
    assert all("video.shape[1]" in text for text in texts)
    assert not [t for t in texts if any(part in t for part in ("?", "…", "switch", "shape("))]
    values = np.ones((3, 2, 4, 6, 5)), np.ones((4, 2, 3, 3))
    numbers = scan_report(f, values).loops[0].saved[0]
    assert numbers.bytes == 2 * 2 * 6 * 5 * 8
