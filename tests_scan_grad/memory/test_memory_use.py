"""``scan_report(...).memory``: what a call takes at given sizes, for whom, and until when."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.memory.measured import growth
from tests_scan_grad.memory.nets import BATCH, NETS, WIDTH, training
from theano.scan_module import scan_report

pytestmark = pytest.mark.skipif(
    theano.config.mode not in ("Mode", "FAST_RUN") or not theano.config.cxx, reason="native engine"
)
ROW = BATCH * WIDTH * 4


@pytest.mark.parametrize("name", NETS)
def test_prediction_is_what_is_measured(name):
    found = growth(name, 2000, all_steps=name == "gru")
    assert found["measured"] == pytest.approx(found["predicted"], rel=0.05)


def test_what_loops_keep_for_whom_and_until_when():
    train, _ = training("lstm")
    memory = scan_report(train, shapes=[(500, BATCH, WIDTH)]).memory
    kept = memory.of_loop("net")
    states = [piece for piece in kept if piece.role == "state"]
    saved = [piece for piece in kept if piece.role == "saved or returned"]
    assert [piece.bytes for piece in states] == [501 * ROW] * 2
    assert sum(piece.bytes for piece in saved) == 4 * 500 * ROW
    for piece in (*states, *saved):
        assert "loop grad_of_net" in piece.readers
        assert "loop grad_of_net" in " ".join(memory.moments[: piece.last + 1])
    results = [piece for piece in memory.pieces if piece.role == "result"]
    assert sum(piece.bytes for piece in results) == memory.results
    assert memory.peak == memory.work + memory.results


def test_what_a_block_of_steps_makes_anew_is_needed_by_parts_of_it():
    train, _ = training("lstm")
    memory = scan_report(train, shapes=[(500, BATCH, WIDTH)]).memory
    blocks = [k for k, moment in enumerate(memory.moments) if "steps at a time" in moment]
    product, loop = blocks[:2]
    assert "loop net (" in memory.moments[loop]
    made = [p for p in memory.pieces if p.first == product and p.role == "value"]
    assert made and all(piece.last == loop for piece in made)
    # the loop's packed operands stay for the next block
    work = [p for p in memory.pieces if p.loop == "grad_of_net" and p.role == "work memory"]
    assert all(memory.moments[p.last + 1 :] == memory.moments[blocks[-1] + 1 :] for p in work)


def test_memory_over_time_is_highest_at_the_peak():
    train, _ = training("tanh")
    memory = scan_report(train, shapes={"x": (800, BATCH, WIDTH)}).memory
    live = [memory.live(moment) for moment in range(len(memory.moments))]
    # each slot begins at a cache line
    assert memory.peak == pytest.approx(max(live), rel=0.01)
    assert "loop net" in str(memory) and "over time:" in str(memory)
    assert "memory of a call" in scan_report(train, shapes=[(800, BATCH, WIDTH)])._repr_html_()


def test_work_memory_of_a_call_is_predicted_to_the_byte():
    train, _ = training("gru", profile=True)
    memory = scan_report(train, shapes=[(300, BATCH, WIDTH)]).memory
    train(np.zeros((300, BATCH, WIDTH), "float32"))
    results, work = train.vm.units[0].run.native.bytes_kept()
    # the engine aligns what NumPy gives
    assert (results, work - 64) == (memory.results, memory.work)


def test_a_number_stands_for_itself_among_shapes():
    x, n = T.dmatrix("x"), T.iscalar("n")
    sums, _ = theano.scan(lambda row, s: row + s, x, T.zeros(x.shape[1]), n_steps=n)
    f = theano.function([x, n], sums)
    assert scan_report(f, shapes=[(100, 1000), 20]).memory.results == 20 * 1000 * 8
    assert scan_report(f, shapes={"x": (100, 1000), "n": 30}).memory.results == 30 * 1000 * 8
    with pytest.raises(TypeError, match="not both"):
        scan_report(f, [np.zeros((2, 2)), 1], shapes=[(2, 2), 1])


def test_what_python_computes_between_native_parts_is_counted():
    x = T.dmatrix("x")
    in_python = theano.compile.ops.as_op(
        [T.dmatrix], [T.dmatrix], infer_shape=lambda node, shapes: shapes
    )(lambda a: a + 1)
    f = theano.function([x], (in_python(x * 2) ** 2).sum(axis=0))
    memory = scan_report(f, shapes=[(300, 400)]).memory
    # what is passed to Python, and what it returns; then the result
    assert memory.results == 2 * 300 * 400 * 8 + 400 * 8


def test_memory_that_values_decide_is_unknown():
    x = T.dvector("x")
    f = theano.function([x], (x[x > 0] * 2).sum())
    assert scan_report(f, shapes=[(10,)]).memory is None
    assert scan_report(f).memory is None


def test_other_engines_do_not_tell():
    x = T.dvector("x")
    f = theano.function([x], x.sum(), mode=theano.Mode(linker="py"))
    assert scan_report(f, shapes=[(10,)]).memory is None


def test_a_run_of_rows_is_reshaped_where_it_lies():
    x, w, n = T.dtensor3("x"), T.dmatrix("w"), T.lscalar("n")
    f = theano.function([x, w, n], x[n:].reshape((-1, x.shape[2])).dot(w).sum())
    random = np.random.default_rng(0)
    values = [random.standard_normal((50, 40, 30)), random.standard_normal((30, 2)), 7]
    assert f(*values) == pytest.approx((values[0][7:].reshape(-1, 30) @ values[1]).sum())
    # the product alone, not its operand
    assert scan_report(f, values).memory.peak <= 43 * 40 * 2 * 8 + 1000
