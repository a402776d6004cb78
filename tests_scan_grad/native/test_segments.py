"""Whole functions by the native engine: what becomes one segment, what Python runs, and memory."""

from __future__ import annotations

import threading

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from pytensor.graph.traversal import ancestors
from pytensor.ifelse import ifelse
from pytensor.scalar.loop import ScalarLoop
from pytensor.scan.op import Scan
from pytensor.scan.utils import until
from pytensor.tensor.elemwise import Elemwise

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.native.loops import compiled, numbers, python_mode, same, scan
from theano.link.native import linker, report, source


def agree(inputs, outputs, *calls):
    """The engine's function, after comparing it with PyTensor's Python linker."""
    native = compiled(inputs, outputs)
    own = pytensor.function(inputs, outputs, mode=python_mode())
    for values in calls:
        same(native(*values), own(*values))
    return native


def test_a_training_step_is_one_segment():
    x, y = T.dmatrices("x", "y")
    w = theano.shared(numbers(5, 3), "w")
    cost = ((T.tanh(x.dot(w)) - y) ** 2).mean()
    step = theano.function([x, y], cost, updates=[(w, w - 0.1 * T.grad(cost, w))], mode="NATIVE")
    told = report(step)
    assert len(told.segments) == 1 and told.calls == () and "w" in source(step)
    before = w.get_value()
    first = step(numbers(4, 5), numbers(4, 3))
    assert step(numbers(4, 5), numbers(4, 3)) < first
    assert not np.array_equal(before, w.get_value())


def test_forward_and_backward_loops_and_what_lies_between_are_one_segment():
    x, w = pt.dtensor3("x"), pt.dmatrix("w")
    (h,) = scan(
        lambda x, h, w: pt.tanh(x + h @ w),
        sequences=[x],
        outputs_info=[pt.zeros((3, 4))],
        non_sequences=[w],
    )
    outputs = [h[-1], pytensor.grad((h**2).sum(), w)]
    native = agree([x, w], outputs, [numbers(5, 3, 4), numbers(4, 4)])
    assert len(report(native).segments) == 1
    assert [loop.reason for loop in report(native).loops] == [None, None]


def test_a_decoder_that_attends_and_its_gradient_are_one_segment():
    """The step reshapes to lengths of the loop's inputs, which are available before the loop."""

    def loop(step, **arguments):
        states, _ = theano.scan(step, **arguments)
        return states

    built = networks.attention(loop)
    outputs = [built.cost, *T.grad(built.cost, built.weights)]
    native = theano.function(built.inputs, outputs, mode="NATIVE")
    assert len(report(native).segments) == 1
    reference = theano.function(built.inputs, outputs, mode="FAST_COMPILE")
    same(native(*built.values), reference(*built.values))


@pytest.mark.parametrize(
    "shape, ndim",
    [
        (lambda n, m: T.stack([n, m + 1]), 2),
        (lambda n, m: (n * (m + 1)).dimshuffle("x"), 1),
    ],
)
def test_lists_of_numbers_that_a_loop_is_given_are_there_before_it(shape, ndim):
    x, n, m = T.dmatrix("x"), T.lscalar("n"), T.lscalar("m")
    rows, _ = theano.scan(
        lambda row, shape: row.reshape(shape, ndim=ndim) * 2,
        sequences=[x],
        non_sequences=[shape(n, m)],
    )
    function = theano.function([x, n, m], rows, mode="NATIVE")
    assert len(report(function).segments) == 1
    given = numbers(5, 6)
    expected = 2 * given.reshape((5, *[(2, 3), (6,)][ndim == 1]))
    same(function(given, 2, 2), expected)
    if ndim == 2:
        # a vector stays as it is, as in Theano
        with pytest.raises(ValueError, match="reshape"):
            function(given, 2, 3)


@pytest.mark.short_segments
@pytest.mark.parametrize(
    "rows, columns, call",
    # large results lie in the memory of the products
    [(2, 3, "statement0(runtime"), (None, None, "statement0, operands)")],
    ids=["of-one-thread", "that-threads-share"],
)
def test_statements_that_repeat_are_one_function(rows, columns, call):
    x, h = (pt.tensor(name, dtype="float64", shape=(rows, columns)) for name in "xh")
    w = [pt.tensor(f"w{k}", dtype="float64", shape=(columns, columns)) for k in range(3)]
    y = h
    for matrix in w:
        y = pt.tanh(y @ matrix + x)
    native = agree([x, h, *w], [y], [numbers(2, 3, seed=k) for k in range(2)] + [numbers(3, 3)] * 3)
    assert source(native).count("tn_tanh_f64v(") <= 1 + _calls_in_prelude("tn_tanh_f64v(")
    assert source(native).count(call) == 3


def _calls_in_prelude(text):
    x = pt.dvector("x")
    return source(compiled([x], pt.exp(x))).count(text)


def test_sizes_that_are_computed_begin_another_segment():
    x = pt.dvector("x")
    count = pt.gt(x, 0).sum()
    native = agree([x], [pt.arange(count) * x.sum(), pt.zeros((count, 2))], [numbers(9)])
    assert len(report(native).segments) >= 2
    first, *others = report(native).reasons
    assert not first and all(others)


def test_a_report_names_an_operation_without_the_graph_inside():
    a, x = pytensor.scalar.float64("a"), pt.dvector("x")
    again = ScalarLoop(init=[a], update=[pytensor.scalar.math.hyp2f1(a, a, a, a)])
    text = str(report(theano.function([x], Elemwise(again)(3, x))))
    assert "Scalarloop{...}: by PyTensor" in text and "fgraph" not in text.lower()


def test_a_report_says_why_a_segment_is_separate():
    x, a = T.dmatrix("x"), T.dscalar("a")
    w = theano.shared(np.ones((2, 2)))
    inverse = T.nlinalg.pinv(T.exp(x))
    f = theano.function([x], T.tanh(inverse), updates=[(w, w * 2)], mode="NATIVE")
    (of_f,) = {*report(f).reasons} - {""}
    assert of_f == "MatrixPinv{hermitian=False}, which it needs, runs by PyTensor"
    g = theano.function([a, x], ifelse(a > 0, T.tanh(x), T.exp(x).T), mode="NATIVE")
    assert "because only a branch of an ifelse needs it" in str(report(g))


def test_a_report_counts_lines_that_are_the_same():
    matrices = T.matrices("abc")
    inverses = [T.nlinalg.pinv(matrix) for matrix in matrices]
    f = theano.function(matrices, inverses, mode="NATIVE")
    assert len(report(f).calls) == 3
    (line,) = [line for line in str(report(f)).splitlines() if "MatrixPinv" in line]
    assert line.startswith("3 times MatrixPinv")


def test_a_node_in_the_middle_that_python_runs():
    x = pt.dmatrix("x")
    native = agree([x], [pt.linalg.pinv(pt.exp(x) + 1) * 2], [numbers(3, 3)])
    (call,) = report(native).calls
    assert "MatrixPinv" in str(call) and len(report(native).segments) == 2


def test_a_number_as_a_vector_with_a_constant_vector():
    s = pt.dscalar("s")
    agree([s], [pt.constant(np.array([-1.5])) / (s * 2).dimshuffle("x")], [3.0])


def test_a_refused_call_takes_fused_operations_apart():
    x, y = pt.dvectors("x", "y")
    fused = pt.tanh(x * 2 + y) * pt.switch(pt.gt(x, 0), x, 1 - y)
    function = compiled([x, y], [fused, fused.sum()])
    with pytest.raises(ValueError):
        function(numbers(3), numbers(4))
    same(function(numbers(3), numbers(3))[1:], [function(numbers(3), numbers(3))[0].sum()])


def test_a_constant_keeps_the_signs_of_its_zeros():
    x = pt.dvector("x")
    chosen = pt.switch(pt.gt(x, 0), pt.constant(np.array([0.0, -0.0])), x)
    # PyTensor's own rewrites take the two zeros for one number
    function = pytensor.function([x], chosen, mode=Mode(linker.NativeLinker(), None))
    assert np.signbit(function(np.ones(2))).tolist() == [False, True]


def test_a_python_that_keeps_arrays_in_another_way_runs_the_nodes(monkeypatch):
    monkeypatch.setattr(linker, "layout_is_known", lambda: False)
    x = pt.dvector("x")
    function = compiled([x], pt.exp(x) + 1)
    assert "another layout" in str(report(function)) and not report(function).segments
    same([function(np.zeros(2))], [np.full(2, 2.0)])


def test_the_branch_that_is_not_taken_is_not_computed():
    x, flag = pt.dvector("x"), pt.bscalar("flag")
    seen = []

    @pytensor.compile.as_op(itypes=[pt.dvector], otypes=[pt.dvector])
    def noticed(value):
        seen.append(1)
        return value + 1

    y = pt.exp(x)
    chosen = ifelse(flag, noticed(y * 2) * 3, pt.log(y) + y)
    function = compiled([x, flag], [chosen, y])
    value = numbers(4)
    same(function(value, 0), [value + np.exp(value), np.exp(value)])
    assert not seen
    same(function(value, 1), [(np.exp(value) * 2 + 1) * 3, np.exp(value)])
    assert seen == [1]


def test_a_branch_of_a_branch():
    x, a, b = pt.dscalar("x"), pt.bscalar("a"), pt.bscalar("b")
    inner = ifelse(b, x * 2, x * 3)
    function = compiled([x, a, b], ifelse(a, inner + 1, x - 1))
    assert [function(5.0, i, j) for i, j in [(1, 1), (1, 0), (0, 1)]] == [11, 16, 4]


def test_an_error_names_the_operation_and_the_line_and_the_function_goes_on():
    x, y = T.dmatrices("x", "y")
    product = T.exp(x).dot(y)  # the line
    function = theano.function([x, y], product.sum(), mode="NATIVE")
    with pytest.raises(ValueError) as failure:
        function(numbers(2, 5), numbers(3, 2))
    assert "test_segments.py" in str(failure.value) and "ot" in str(failure.value)
    assert function(np.zeros((2, 3)), np.ones((3, 2))) == 12
    with pytest.raises(TypeError):
        function(numbers(2), numbers(3, 2))


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_out_of_range(index):
    x, i = pt.dvector("x"), pt.lscalar("i")
    function = compiled([x, i], x[i] * 2)
    with pytest.raises(IndexError):
        function(numbers(3), index)
    assert function(np.arange(3.0), -1) == 4


def test_an_empty_maximum():
    x = pt.dvector("x")
    function = compiled([x], x.max())
    with pytest.raises(ValueError):
        function(numbers(0))
    assert function(np.arange(3.0)) == 2


def test_a_loop_that_stops_early_ends_its_segment():
    limit = pt.dscalar("limit")
    (powers,) = scan(
        lambda x, limit: (x * 2, until(x * 2 > limit)),
        outputs_info=[pt.constant(np.float64(1))],
        non_sequences=[limit],
        n_steps=100,
    )
    native = agree([limit], [powers, powers[-1], powers.sum()], [10.0], [1000.0], [1e60])
    assert report(native).loops[0].reason is None
    assert "the lengths of what scan_fn returns are known only" in report(native).reasons[1]


def test_loops_inside_loops_and_their_gradient():
    x, w = pt.dmatrix("x"), pt.dvector("w")

    def outer(row, h, w):
        (inner,) = scan(
            lambda a, s, w: pt.tanh(s * w + a), sequences=[row], outputs_info=[h], non_sequences=[w]
        )
        return inner[-1]

    (h,) = scan(outer, sequences=[x], outputs_info=[pt.zeros(3)], non_sequences=[w])
    outputs = [h[-1], *pytensor.grad(h.sum(), [x, w])]
    native = agree([x, w], outputs, [numbers(4, 5), numbers(3)], [numbers(1, 1), numbers(3)])
    assert {loop.reason for loop in report(native).loops} == {None}


def test_a_step_that_is_watched_runs_by_pytensor():
    seen = []
    watching = theano.compile.MonitorMode(post_func=lambda i, node, fn: seen.append(node))
    x = pt.dvector("x")
    (y,) = scan(lambda a, s: s * 0.5 + a, sequences=[x], outputs_info=[zero()], mode=watching)
    function = compiled([x], y)
    assert "watches" in report(function).loops[0].reason
    function(numbers(3))
    assert len(seen) >= 3


def zero():
    return pt.constant(np.float64(0))


def test_the_gradient_of_no_steps_has_the_shape_of_its_sequence():
    x, w = pt.dtensor3("x"), pt.dmatrix("w")
    (h,) = scan(
        lambda a, s, w: pt.tanh(a + s @ w),
        sequences=[x],
        outputs_info=[pt.ones((2, 3))],
        non_sequences=[w],
    )
    function = compiled([x, w], [h, *pytensor.grad(h.sum(), [x, w])])
    shapes = [np.shape(result) for result in function(numbers(0, 2, 3), numbers(3, 3))]
    assert shapes == [(0, 2, 3), (0, 2, 3), (3, 3)]
    assert report(function).loops[0].reason is None
    assert not function(numbers(0, 2, 3), numbers(3, 3))[2].any()


def test_no_steps():
    x = pt.dvector("x")
    (h,) = scan(lambda x, h: x + h, sequences=[x], outputs_info=[pt.constant(np.float64(1))])
    (y,) = scan(lambda x: x * 2, sequences=[x], outputs_info=[None])
    agree([x], [h, y], [numbers(3)], [numbers(0)])


def test_one_function_called_by_several_threads():
    x = T.dvector("x")
    y, _ = theano.scan(
        lambda a, s: s * 0.5 + a, sequences=[x], outputs_info=[T.constant(np.float64(0))]
    )
    function = theano.function([x], [y[-1], T.exp(x).sum()], mode="NATIVE")
    values = [numbers(2000, seed=k) for k in range(4)]
    expected = [function(value) for value in values]
    wrong = []

    def work(k):
        for _ in range(50):
            answer = function(values[k])
            if any(not np.array_equal(a, b) for a, b in zip(answer, expected[k], strict=True)):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_step_that_does_not_read_an_input_compiles_by_itself():
    rows = T.dmatrix("rows")
    states, _ = theano.scan(lambda row, before: row, rows, T.zeros(2), mode="FAST_RUN")
    [op] = {v.owner.op for v in ancestors([states]) if v.owner and isinstance(v.owner.op, Scan)}
    np.testing.assert_array_equal(op.fn(np.ones(2), np.zeros(2))[0], np.ones(2))


def test_shared_variables_take_views_of_one_another_without_copies():
    a, b, c = (theano.shared(np.arange(4.0).reshape(2, 2) + k, str(k)) for k in range(3))
    held = [v.get_value(borrow=True, return_internal_type=True) for v in (a, b)]
    flip = theano.function([], updates=[(a, b[:, ::-1]), (b, a.T)])
    flip()
    np.testing.assert_array_equal(a.get_value(), [[2, 1], [4, 3]])
    np.testing.assert_array_equal(b.get_value(), [[0, 2], [1, 3]])
    now = [v.get_value(borrow=True, return_internal_type=True) for v in (b, a)]
    assert all(map(np.may_share_memory, held, now))
    flip()
    np.testing.assert_array_equal(a.get_value(), [[2, 0], [3, 1]])
    np.testing.assert_array_equal(b.get_value(), [[2, 4], [1, 3]])
    # what is computed from a state does not take memory that another one looks at
    step = theano.function([], a.sum(), updates=[(a, b.T), (b, b + c), (c, 2 * c)])
    assert step() == 6
    np.testing.assert_array_equal(a.get_value(), [[2, 1], [4, 3]])
    np.testing.assert_array_equal(b.get_value(), [[4, 7], [5, 8]])
    for _ in range(2):
        before = b.get_value().copy()
        step()
        np.testing.assert_array_equal(a.get_value(), before.T)


def test_what_python_runs_first_splits_no_segment():
    # what needs none of it runs with what does, after it
    x, y = T.dvectors("x", "y")
    by_python = theano.compile.ops.as_op([T.dvector], [T.dvector])(lambda value: value + 1)
    function = theano.function([x, y], T.exp(y).sum() * by_python(x), mode="NATIVE")
    assert len(report(function).segments) == 1
    np.testing.assert_allclose(function([1.0, 2.0], [0.0, 0.0]), [4.0, 6.0])
