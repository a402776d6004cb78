"""Threads that use the same shared variables: no crash, no half update, no lost update, no hang."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile.calls import locks
from theano.compile.calls.locks import Claim, give_back, take
from theano.gof import Apply, Op

MODES = {"FAST_RUN": "FAST_RUN", "FAST_COMPILE": "FAST_COMPILE", "C": theano.Mode("pytensor_cvm")}
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
SECONDS = 60


class Call(Op):
    """Calls a Python function with what it is given, and passes that on."""

    __props__ = ("function",)

    def __init__(self, function):
        self.function = function

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, storage):
        self.function(inputs[0])
        storage[0][0] = inputs[0].copy()


def together(*functions):
    """Run functions, each in its own thread, and raise what they raise."""
    errors = []

    def run(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[f], daemon=True) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive(), "threads wait for one another"
    if errors:
        raise errors[0]


def until(event, function):
    def run():
        while not event.is_set():
            function()

    return run


def times(count, function, *arguments, then=None):
    def run():
        try:
            for _ in range(count):
                function(*arguments)
        finally:
            if then is not None:
                then.set()

    return run


@every_mode
def test_value_that_another_thread_sets_while_a_function_reads_it(mode):
    w, done = theano.shared(np.ones(200_000)), threading.Event()
    f = theano.function([], [w.sum(), (w * 2).max(), w[::-1].min()], mode=mode)
    sizes = iter(range(10**9))

    def change():
        k = next(sizes) % 7 + 1
        w.set_value(np.full(30_000 * k, float(k)), borrow=True)

    def read():
        total, largest, least = f()
        assert largest == 2 * least
        assert total == (200_000 if least == 1 and total == 200_000 else 30_000 * least * least)

    together(until(done, change), times(300, read, then=done))


def test_array_that_native_code_reads_is_held_until_it_has_read_it():
    w, done = theano.shared(np.ones(300_000)), threading.Event()
    f = theano.function([], [w.max(), w.min(), (w * 2).max(), w[::-1].min()])
    values = iter(range(10**9))

    def read():
        largest, least, twice, again = f()
        assert largest == least == twice / 2 == again

    def change():
        # what get_value and set_value guard is gone around
        w.container.storage[0] = np.full(300_000, float(next(values) % 1000))

    together(until(done, change), times(300, read, then=done))


@every_mode
def test_two_variables_that_are_updated_together_are_seen_together(mode):
    a, b = (theano.shared(np.zeros(50_000)) for _ in range(2))
    i = T.lvector("i")
    everywhere = np.arange(50_000)
    done = threading.Event()
    step = theano.function([i], updates=[(a, T.inc_subtensor(a[i], 1.0)), (b, b + 1)], mode=mode)
    f = theano.function([], [a.min(), a.max(), b.min(), b.max()], mode=mode)

    def read():
        assert len(set(map(float, f()))) == 1
        for variable in (a, b):
            value = variable.get_value()
            assert value.min() == value.max()

    together(times(200, step, everywhere, then=done), until(done, read), until(done, read))
    assert a.get_value().min() == b.get_value().max() == 200


@every_mode
@pytest.mark.parametrize("part", [lambda t, i: t[i], lambda t, i: t[5:], lambda t, i: t])
def test_no_update_is_lost(mode, part):
    table, i = theano.shared(np.zeros(100_000)), T.lvector("i")
    rows = np.arange(5, 100_000)
    new = T.inc_subtensor(part(table, i), 1.0) if part(table, i) is not table else table + 1
    first, second = (
        theano.function(
            [i], updates=[(table, new * 1.0 if k else new)], mode=mode, on_unused_input="ignore"
        )
        for k in range(2)
    )
    together(*(times(50, f, rows) for f in (first, first, second, second)))
    assert (table.get_value()[5:] == 200).all()


@every_mode
def test_operation_of_a_function_may_call_it_again_and_set_its_variables(mode):
    w, x = theano.shared(np.zeros(3)), T.dscalar("x")

    def again(value):
        if value > 0:
            f(value - 1)
        w.set_value(w.get_value() + 1)
        f[w] = f[w] + 1

    f = theano.function([x], Call(again)(x) + w.sum() * 0, mode=mode)
    together(lambda: f(3.0))
    assert (w.get_value() == 8).all()


@every_mode
def test_call_within_a_call_does_not_touch_the_values_of_the_outer_one(mode):
    x, y = T.dvectors("xy")
    seen = []

    def again(value):
        if len(value) > 1:
            seen.append(f(value[1:], value[1:]))

    passed = Call(again)(x * 2)
    f = theano.function([x, y], [passed + y, (x * y).sum()], mode=mode)
    outer = f([1.0, 2, 3], [4.0, 5, 6])
    np.testing.assert_array_equal(outer[0], [6, 9, 12])
    assert outer[1] == 32
    # innermost first: 12 is 3 doubled twice
    assert [list(found[0]) for found in seen] == [[36], [12, 18]]
    assert [found[1] for found in seen] == [144, 52]


@every_mode
def test_call_within_a_call_goes_on_from_states_and_leaves_arguments(mode):
    count = T.dscalar("count")
    x, step = T.dscalar("x"), T.dscalar("step")

    def again(value):
        if value > 0:
            inner.append(f(value - 1))

    inner = []
    f = theano.function(
        [
            theano.In(x),
            theano.In(step, value=1.0),
            theano.In(count, value=10.0, update=count + step),
        ],
        [Call(again)(x), step * 1],
        mode=mode,
    )
    assert f(1.0, 5.0)[1] == 5
    assert [found[1] for found in inner] == [1]
    assert f[count] in (15, 16)


def test_a_handler_may_call_a_function_wherever_it_comes():
    x = T.dscalar("x")
    f = theano.function([x], 2 * x)
    found = []

    def trace(frame, event, argument):
        # stands for a signal between any two lines of the module, where the mutex is held, too
        if frame.f_code.co_filename != locks.__file__ or not found:
            return trace if frame.f_code.co_filename == locks.__file__ else None
        sys.settrace(None)
        try:
            found.append(f(3.0) == 6)
        finally:
            sys.settrace(trace)
        return trace

    def calls():
        found.append(True)
        sys.settrace(trace)
        try:
            assert f(1.0) == 2
        finally:
            sys.settrace(None)

    together(calls)
    assert len(found) > 10 and all(found)
    assert f(1.0) == 2


def test_functions_that_read_go_side_by_side():
    w, x = theano.shared(np.ones(3)), T.dscalar("x")
    both = threading.Barrier(2)
    first, second = (
        theano.function([x], Call(lambda _: both.wait(SECONDS))(x) + w.sum() + k) for k in range(2)
    )
    together(lambda: first(1.0), lambda: second(1.0))


def test_who_writes_is_not_kept_waiting_by_those_who_read():
    w, x, done = theano.shared(np.ones(3)), T.dscalar("x"), threading.Event()
    readers = [
        theano.function([x], Call(lambda _: time.sleep(0.002))(x) + w.sum() + k) for k in range(4)
    ]

    def write():
        try:
            for _ in range(20):
                w.set_value(np.ones(3))
        finally:
            done.set()

    together(write, *(until(done, lambda f=f: f(1.0)) for f in readers))


def test_two_threads_that_would_wait_for_one_another_get_an_error():
    a, b, x = theano.shared(1.0, name="a"), theano.shared(2.0, name="b"), T.dscalar("x")
    both = threading.Barrier(2)

    def sets(other):
        def run(_):
            both.wait(SECONDS)
            other.set_value(5.0)

        return run

    f = theano.function([x], Call(sets(b))(x), updates=[(a, a + 1)])
    g = theano.function([x], Call(sets(a))(x), updates=[(b, b + 1)])
    with pytest.raises(RuntimeError, match="wait for shared variables that the other one uses"):
        together(lambda: f(1.0), lambda: g(1.0))
    # one of the two came to its end, and both go on afterwards
    assert sorted([a.get_value(), b.get_value()]) in ([2, 5], [3, 5])
    both.reset()
    together(lambda: f.vm and a.set_value(0.0), lambda: b.set_value(0.0))


def test_turn_that_is_interrupted_is_given_back():
    w, x = theano.shared(np.ones(3)), T.dscalar("x")
    f = theano.function([x], x + w.sum())
    claim, began, done = (
        Claim(frozenset(), frozenset((id(w.container.storage),))),
        *(threading.Event() for _ in range(2)),
    )

    def hold():
        turn = [claim]
        take(turn)
        began.set()
        done.wait(SECONDS)
        give_back(turn)

    # what is interrupted is the wait, not a compilation
    f(1.0)
    thread = threading.Thread(target=hold)
    thread.start()
    began.wait(SECONDS)
    # who starts the tests in the background may have it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        f(1.0)
    timer.join()
    done.set()
    thread.join()
    together(lambda: f(1.0), lambda: w.set_value(np.zeros(3)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_child_that_is_forked_while_another_thread_runs_a_function():
    w, x = theano.shared(np.ones(3)), T.dscalar("x")
    began, done = threading.Event(), threading.Event()

    def wait(_):
        began.set()
        done.wait(SECONDS)

    f = theano.function([x], Call(wait)(x), updates=[(w, w + 1)])
    thread = threading.Thread(target=f, args=[1.0])
    thread.start()
    began.wait(SECONDS)
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        done.set()
        f(1.0)
        w.set_value(w.get_value() + 1)
        os._exit(0 if (w.get_value() == 3).all() else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done.set()
    thread.join()
    assert status == 0 and (w.get_value() == 2).all()


def test_what_nobody_holds_any_more_has_ended():
    """Ctrl-C came before the first statement of giving it back."""
    w, x = theano.shared(np.ones(3)), T.dscalar("x")
    f = theano.function([x], x + w.sum(), updates=[(w, w + 1)])
    f(1.0)
    turn = [f._claim]
    take(turn)
    del turn
    assert f(1.0) == 7 and not f._twins
    turn = [f._claim]
    take(turn)
    del turn
    together(lambda: f(1.0), lambda: w.get_value())
    assert not f._twins and not locks._locks.held
