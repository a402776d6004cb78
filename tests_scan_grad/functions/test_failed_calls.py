"""A call that fails leaves every shared variable as it was, whatever failed and whenever."""

import signal
import threading

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gof import Apply, Op
from theano.link.native import report
from theano.tensor.shared_randomstreams import RandomStreams

MODES = {
    "FAST_RUN": "FAST_RUN",
    "FAST_COMPILE": "FAST_COMPILE",
    "Python": theano.Mode("py", "fast_run"),
    "C": theano.Mode("pytensor_cvm", "fast_run"),
}
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


class PassOn(Op):
    """An operation that returns its input and refuses negative numbers; only Python runs it."""

    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, storage):
        if np.any(inputs[0] < 0):
            raise ValueError("negative")
        storage[0][0] = inputs[0].copy()


pass_on = PassOn()


def shared(shape, name):
    return theano.shared(np.arange(float(np.prod(shape))).reshape(shape), name=name)


def assert_whole(f, kind, failing, working, variables):
    """Calls of f that fail change nothing; those that do not change every variable."""
    for variable in variables:
        change(variable)
    for _ in range(2):
        before = [variable.get_value() for variable in variables]
        memory = [variable.get_value(borrow=True) for variable in variables]
        with pytest.raises(kind):
            f(*failing)
        for variable, value, array in zip(variables, before, memory, strict=True):
            assert equal(variable.get_value(), value), variable
            assert equal(array, value), variable
        f(*working)
        for variable, value in zip(variables, before, strict=True):
            assert not equal(variable.get_value(), value), variable
            change(variable)


def change(variable):
    """Let a variable hold what no update gives it."""
    value = variable.get_value()
    if isinstance(value, np.ndarray):
        variable.set_value(value + np.pi)


def equal(one, other):
    if isinstance(one, np.random.RandomState):
        return str(one.get_state()) == str(other.get_state())
    if isinstance(one, np.random.Generator):
        return str(one.bit_generator.state) == str(other.bit_generator.state)
    return np.array_equal(one, other)


@every_mode
@pytest.mark.parametrize("update", [T.inc_subtensor, T.set_subtensor])
def test_all_indices_are_checked_before_the_first_row_is_written(mode, update):
    table, i = shared((5, 2), "table"), T.lvector("i")
    f = theano.function([i], updates=[(table, update(table[i], -1.0))], mode=mode)
    assert_whole(f, IndexError, [[3, 2, 9]], [[3, 1]], [table])


@every_mode
def test_pairs_of_indices_too(mode):
    table, i, j = shared((5, 4), "table"), T.lvector("i"), T.lvector("j")
    new = T.inc_subtensor(table[i, j], 1.0)
    f = theano.function([i, j], updates=[(table, new)], mode=mode)
    assert_whole(f, IndexError, [[3, 2], [1, 7]], [[3, 1], [0, 0]], [table])


@every_mode
def test_several_tables_are_updated_together(mode):
    tables = [shared((5, 2), f"table{k}") for k in range(3)]
    indices = [T.lvector() for _ in tables]
    updates = [(t, T.inc_subtensor(t[i], 1.0)) for t, i in zip(tables, indices, strict=True)]
    f = theano.function(indices, updates=updates, mode=mode)
    for k in range(3):
        failing = [[1, 2] if other != k else [1, 6] for other in range(3)]
        assert_whole(f, IndexError, failing, [[1], [2], [3]], tables)


@every_mode
def test_row_and_part_and_whole_with_an_index_that_fails(mode):
    table, part, whole = shared((5, 2), "table"), shared((6,), "part"), shared((3,), "whole")
    i, x = T.lvector("i"), T.dvector("x")
    taken = x[i].sum()
    updates = [
        (table, T.inc_subtensor(table[i], 1.0)),
        (part, T.inc_subtensor(part[1:4], taken)),
        (whole, whole * 0.5 + taken),
    ]
    f = theano.function([i, x], taken, updates=updates, mode=mode)
    assert_whole(f, IndexError, [[1, 4], [1, 2, 3.0]], [[1, 2], [1, 2, 3.0]], [table, part, whole])


@every_mode
def test_operation_of_python_that_fails_last(mode):
    table, part, whole = shared((5, 2), "table"), shared((6,), "part"), shared((3,), "whole")
    i, x = T.lvector("i"), T.dscalar("x")
    updates = [
        (table, T.inc_subtensor(table[i], 1.0)),
        (part, T.set_subtensor(part[1:4], x)),
        (whole, T.dot(whole, np.ones((3, 3))) + 1),
    ]
    f = theano.function([i, x], pass_on(x * i.sum()), updates=updates, mode=mode)
    assert_whole(f, ValueError, [[1, 4], -1.0], [[1, 2], 2.0], [table, part, whole])


@every_mode
def test_operation_of_python_between_two_updates(mode):
    first, second = shared((5, 2), "first"), shared((5, 2), "second")
    i, x = T.lvector("i"), T.dvector("x")
    updates = [
        (first, T.inc_subtensor(first[i], 1.0)),
        (second, T.inc_subtensor(second[i], pass_on(x))),
    ]
    f = theano.function([i, x], updates=updates, mode=mode)
    assert_whole(f, ValueError, [[1, 4], [-1.0, 2.0]], [[1, 2], [1.0, 2.0]], [first, second])


@every_mode
def test_update_that_reads_what_was_updated(mode):
    table, other, i, k = shared((5, 2), "table"), shared((2,), "other"), T.lvector(), T.lscalar()
    new = T.inc_subtensor(table[i], 1.0)
    updates = [(table, new), (other, other + new[k])]
    f = theano.function([i, k], new[k].sum(), updates=updates, mode=mode)
    assert_whole(f, IndexError, [[1, 4], 5], [[1, 2], 2], [table, other])


@every_mode
def test_loop_that_fails_after_an_update(mode):
    table, state = shared((5, 2), "table"), shared((2,), "state")
    i, rows = T.lvector("i"), T.lvector("rows")
    states, _ = theano.scan(
        lambda row, s, x: s * 0.5 + x[row], rows, state, non_sequences=T.zeros((3, 2))
    )
    updates = [(table, T.inc_subtensor(table[i], 1.0)), (state, states[-1])]
    f = theano.function([i, rows], updates=updates, mode=mode)
    assert_whole(f, IndexError, [[1, 4], [0, 1, 3]], [[1, 2], [0, 1]], [table, state])


@every_mode
def test_table_that_a_loop_updates(mode):
    table, rows = shared((5, 2), "table"), T.lvector("rows")
    tables, _ = theano.scan(lambda row, t: T.inc_subtensor(t[row], 1.0), rows, table)
    f = theano.function([rows], updates=[(table, tables[-1])], mode=mode)
    assert_whole(f, IndexError, [[0, 1, 5]], [[0, 1]], [table])


@every_mode
def test_sizes_that_do_not_fit_after_an_update(mode):
    table, whole = shared((5, 2), "table"), shared((3,), "whole")
    i, x, y = T.lvector("i"), T.dvector("x"), T.dvector("y")
    updates = [(table, T.inc_subtensor(table[i], 1.0)), (whole, whole + 1)]
    f = theano.function([i, x, y], (x + y).sum(), updates=updates, mode=mode)
    assert_whole(f, ValueError, [[1], [1.0, 2], [1.0, 2, 3]], [[1], [1.0], [2.0]], [table, whole])


@every_mode
def test_memory_that_is_not_there_after_an_update(mode):
    table, n = shared((5, 2), "table"), T.lscalar("n")
    new = T.inc_subtensor(table[n % 5 : n % 5 + 1], 1.0)
    f = theano.function([n], T.exp(T.arange(n) * 2.0), updates=[(table, new)], mode=mode)
    assert_whole(f, MemoryError, [2**44], [3], [table])


@every_mode
def test_draws_are_taken_back(mode):
    streams, x = RandomStreams(5), T.dvector("x")
    draws = streams.normal(size=(3,))
    f = theano.function([x], pass_on(draws * 0 + x), mode=mode)
    generators = [generator for generator, _ in streams.state_updates]
    assert_whole(f, ValueError, [[-1.0, 1, 1]], [[1.0, 1, 1]], generators)


@every_mode
def test_assertion_after_an_update(mode):
    table, x = shared((5, 2), "table"), T.dscalar("x")
    updates = [(table, T.inc_subtensor(table[1:3], 1.0))]
    checked = T.opt.assert_op(x, T.gt(x, 0))
    f = theano.function([x], checked * 2, updates=updates, mode=mode)
    assert_whole(f, AssertionError, [-1.0], [1.0], [table])


def test_rows_are_still_written_in_place():
    tables = [shared((50, 2), f"table{k}") for k in range(2)]
    i, x, y = T.lvector("i"), T.dvector("x"), T.dscalar("y")
    updates = [(t, T.inc_subtensor(t[i], x[i].sum())) for t in tables]
    for outputs in ([], [x[i] * 2], [pass_on(y)]):
        f = theano.function([i, x, y], outputs, updates=updates, on_unused_input="ignore")
        assert report(f).segments
        memory = [t.get_value(borrow=True) for t in tables]
        f([1, 2], [1.0, 2, 3], 2.0)
        for t, array in zip(tables, memory, strict=True):
            assert t.get_value(borrow=True) is array


def test_interrupted_loop_changes_nothing():
    table, state, i = shared((5, 2), "table"), theano.shared(1.0, name="state"), T.lvector("i")
    steps = T.lscalar("steps")
    states, _ = theano.scan(lambda s: s * 0.5 + 1, outputs_info=state, n_steps=steps)
    updates = [(table, T.inc_subtensor(table[i], 1.0)), (state, states[-1])]
    f = theano.function([i, steps], updates=updates)
    # what is interrupted is the loop, not its compilation
    f([1, 2], 1)
    state.set_value(1.0)
    before = table.get_value()
    # who starts the tests in the background may have it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        f([1, 2], 10**10)
    timer.join()
    np.testing.assert_array_equal(table.get_value(), before)
    assert state.get_value() == 1


def test_what_is_read_of_tables_before_and_after_their_updates_is_the_same_in_every_mode():
    for seed in range(15):
        results = []
        for mode in ("FAST_RUN", "FAST_COMPILE"):
            choose = np.random.default_rng(seed)
            f, tables = updates_by_chance(choose, mode)
            calls = [choose.integers(-6, 6, size=4) for _ in range(4)]
            results.append([[*f(i), *(t.get_value() for t in tables)] for i in calls])
            before = [t.get_value() for t in tables]
            for k in range(4):
                with pytest.raises(IndexError):
                    f(np.where(np.arange(4) == k, 6, calls[0]))
                assert all(equal(t.get_value(), b) for t, b in zip(tables, before, strict=True))
        for native, python in zip(*results, strict=True):
            for one, other in zip(native, python, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=f"seed {seed}")


def updates_by_chance(choose, mode):
    """A function that updates tables in several ways, of what was in them and what is new there."""
    tables = [shared((6, 3), f"table{k}") for k in range(3)]
    i = T.lvector("i")
    known, outputs, updates = [t * 1.0 for t in tables], [], []

    def some():
        one = known[choose.integers(len(known))]
        return [one[i], one[1:5], one[i[::-1]] * 0.5, T.ones((4, 3)) * one[i[0], 1]][
            choose.integers(4)
        ]

    for table in tables:
        new = table
        for _ in range(choose.integers(1, 3)):
            part = [new[i], new[1:5], new[i, :], new[::-1][i]][choose.integers(4)]
            change = [T.inc_subtensor, T.set_subtensor][choose.integers(2)]
            if change is T.set_subtensor and part.owner.inputs[-1] is i:
                part = new[:4]
            new = change(part, 0.1 * some())
        updates.append((table, new))
        known.append(new)
        outputs.append([new.sum(), some(), table[i].sum(axis=0)][choose.integers(3)])
    return theano.function([i], outputs, updates=updates, mode=mode), tables


def test_inputs_that_share_memory_are_not_overwritten_before_they_are_read():
    memory = np.arange(4.0)
    forward = theano.shared(memory, borrow=True)
    backward = theano.shared(memory[::-1], borrow=True)
    again = theano.shared(memory, borrow=True)
    f = theano.function([], [], updates=[(forward, 2 * forward + backward + again)])
    f()
    np.testing.assert_array_equal(forward.get_value(), [3.0, 5.0, 7.0, 9.0])
    np.testing.assert_array_equal(backward.get_value(), [3.0, 2.0, 1.0, 0.0])
    np.testing.assert_array_equal(again.get_value(), [0.0, 1.0, 2.0, 3.0])


def test_parts_of_a_table_are_not_overwritten_while_its_own_memory_is_an_argument():
    table, x = theano.shared(np.arange(6.0).reshape(3, 2)), T.matrix("x")
    part = np.array([2, 0, 2])
    f = theano.function([x], [], updates=[(table, T.inc_subtensor(table[part], x))])
    expected = table.get_value()
    np.add.at(expected, part, table.get_value())
    f(table.get_value(borrow=True))
    np.testing.assert_array_equal(table.get_value(), expected)
