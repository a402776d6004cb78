"""Calls of small programs that are prepared: they are as the first ones, and the machine makes none."""

from __future__ import annotations

import pickle
import signal
import threading

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T

pytest.importorskip("jax")


def prepared(function, *arguments, calls=5):
    """Return the function after calls of which the last ones are prepared."""
    for _ in range(calls):
        function(*arguments)
    for _ in range(50):
        # a busy machine may have made the first calls slow
        if function._prepared is None:
            function(*arguments)
    assert function._prepared is not None
    return function


def listed(results):
    return results if isinstance(results, list) else [results]


def compiled(*arguments, **settings):
    return theano.function(*arguments, mode="XLA", **settings)


@pytest.fixture
def machine_calls(monkeypatch):
    """The machines that were called."""
    from theano.link.xla.machine import Machine

    calls, call = [], Machine.__call__
    monkeypatch.setattr(Machine, "__call__", lambda self: (calls.append(self), call(self))[1])
    return calls


def a_number(x):
    return (x * x).sum()


def a_loop(x):
    return theano.scan(lambda x, s: T.tanh(x + s), x, T.zeros(()))[0][-1]


def an_element(x):
    """An index that is checked by the program."""
    return x[T.cast(x[0], "int64")]


def two(x):
    return [x + 1, x.sum()]


def with_shared(x):
    return x * theano.shared(np.arange(3.0))


@pytest.mark.parametrize("program", [a_number, a_loop, an_element, two, with_shared])
def test_the_machine_makes_no_call_of_a_small_program(program, machine_calls):
    x = T.dvector("x")
    f = prepared(compiled([x], program(x)), np.ones(3))
    expected = theano.function([x], program(x), mode="FAST_COMPILE")
    machine_calls.clear()
    for k in range(4):
        given = np.arange(3.0) * k / 6
        for one, other in zip(listed(f(given)), listed(expected(given)), strict=True):
            np.testing.assert_allclose(one, other)
    assert machine_calls == []


def test_shapes_that_were_seen_are_prepared(machine_calls):
    x = T.dmatrix("x")
    f = compiled([x], x.sum(0))
    shapes = [(2, 3), (3, 2), (1, 3)]
    for _ in range(5):
        for shape in shapes:
            f(np.ones(shape))
    machine_calls.clear()
    for rows, columns in 2 * shapes:
        np.testing.assert_array_equal(f(np.ones((rows, columns))), np.full(columns, rows))
    assert machine_calls == []


def test_static_values_decide_which_program_is_called(machine_calls):
    n, x = T.lscalar("n"), T.dvector("x")
    powers, _ = theano.scan(
        lambda h, x: h * x, outputs_info=T.ones_like(x), non_sequences=x, n_steps=n
    )
    f = compiled([x, n], powers[-1])
    for _ in range(5):
        for steps in (1, 4, np.array(2)):
            np.testing.assert_allclose(f(np.full(3, 2.0), steps), 2.0**steps)
    machine_calls.clear()
    for steps in (4, 1, 1, 2):
        np.testing.assert_allclose(f(np.full(3, 2.0), steps), 2.0**steps)
    assert machine_calls == []


def of_scalars():
    x, y, k = T.dscalar("x"), T.fscalar("y"), T.lscalar("k")
    return prepared(compiled([x, y, k], [x * y + k, k * 2]), 0.5, 0.25, 3)


def test_arrays_and_numbers_are_arguments(machine_calls):
    f = of_scalars()
    machine_calls.clear()
    for given in (
        (1.5, 0.5, 3),
        (np.float64(1.5), 0.5, 3),
        (np.array(1.5), np.array(0.5, "float32"), np.array(3)),
    ):
        first, second = f(*given)
        assert (first, second) == (3.75, 6)
        assert first.dtype == np.float64 and second.dtype == np.int64 and first.shape == ()
    assert f(1, 2, 3)[0] == 5
    assert machine_calls == []
    assert f(True, np.float32(2), np.int8(3))[0] == 5


@pytest.mark.parametrize(
    "given",
    [
        (0.5, 0.25, 2.5),
        (0.5, 0.25, 2**63),
        (0.5, 2**24 + 1, 1),
        (0.5, 1e-50, 1),
        (0.5, 1e300, 1),
        (1j, 0.25, 1),
        (np.zeros(1), 0.25, 1),
        (np.zeros((), "complex128"), 0.25, 1),
        (None, 0.25, 1),
        (0.5, 0.25),
        (0.5, 0.25, 1, 1),
        (T.dscalar(), 0.25, 1),
    ],
    ids=lambda given: repr(given)[:20],
)
def test_errors_are_those_of_the_first_call(given):
    x, y, k = T.dscalar("x"), T.fscalar("y"), T.lscalar("k")
    with pytest.raises(Exception) as first:
        compiled([x, y, k], [x * y + k, k * 2])(*given)
    with pytest.raises(type(first.value)) as later:
        of_scalars()(*given)
    assert str(later.value).splitlines()[0] == str(first.value).splitlines()[0]


def test_arrays_of_other_layouts_and_types():
    x = T.dmatrix("x")
    f = prepared(compiled([x], [T.exp(x), x.sum(0)]), np.ones((2, 3)))
    values = np.random.default_rng(1).normal(size=(6, 8))
    for given in (
        values[:2, :3],
        values[:3, :2].T,
        values[::3, ::-3],
        values[:2, :3].astype(">f8"),
        values[:2, :3].astype("float32"),
        values[:0],
        values[:2, :3].copy(),
    ):
        for _ in range(4):
            power, total = f(given)
            np.testing.assert_allclose(power, np.exp(given), rtol=1e-6)
            np.testing.assert_allclose(total, given.sum(0), rtol=1e-6, atol=1e-12)
    memory = np.zeros(8 * 6 + 1, np.uint8)[1:].view(np.float64).reshape(2, 3)
    with pytest.raises(TypeError, match="aligned"):
        f(memory)
    with pytest.raises(TypeError, match="dimensions"):
        f(np.ones(3))


def test_static_lengths_and_unused_inputs_are_checked():
    x, y = pt.tensor("x", dtype="float64", shape=(None, 3)), T.dvector("y")
    f = compiled([x, y], x * 2, on_unused_input="ignore")
    f = prepared(f, np.ones((2, 3)), np.ones(2))
    with pytest.raises(TypeError):
        f(np.ones((2, 4)), np.ones(2))
    with pytest.raises(TypeError):
        f(np.ones((2, 3)), np.ones((2, 2)))
    np.testing.assert_array_equal(f(np.full((2, 3), 4.0), np.ones(5)), np.full((2, 3), 8.0))


def test_results_are_the_callers_own():
    x = T.dvector("x")
    f = prepared(compiled([x], [x * 2, x, x * 2]), np.ones(3))
    given = np.ones(3)
    kept = []
    for k in range(6):
        given[:] = k
        kept.append(f(given))
        kept[-1][2][:] = -1
    for k, (twice, same, _) in enumerate(kept):
        np.testing.assert_array_equal(twice, np.full(3, 2.0 * k))
        np.testing.assert_array_equal(same, np.full(3, k))
        assert twice.flags.owndata and twice.flags.writeable


def test_default_values_keys_names_copies_and_pickles():
    x, y = T.dscalar("x"), T.dscalar("y")
    f = compiled([x, theano.In(y, value=2.0)], x * y)
    for _ in range(5):
        assert [f(4.0), f(4.0, 5.0), f(4.0), f(4.0, y=6.0), f(x=1.0)] == [8, 20, 8, 24, 2]
    f = prepared(compiled([x, y], {"b": x * y, "a": x + 1}), 3.0, 1.0)
    assert f(4.0, 2.0) == {"a": 5, "b": 8}
    assert f(4.0, 2.0, output_subset=["a"]) == {"a": 5}
    f = prepared(compiled([x, y], x - y), 3.0, 1.0)
    assert f(y=1.0, x=5.0) == 4
    assert f.copy()(5.0, 2.0) == [3]
    assert pickle.loads(pickle.dumps(f))(5.0, 2.0) == 3


def test_shared_variables_are_read_anew():
    x, state = T.dvector("x"), theano.shared(np.ones(3), "state")
    f = prepared(compiled([x], x * state), np.ones(3))
    update = compiled([], [], updates=[(state, state + 1)])
    by_host = theano.function([], [], updates=[(state, state + 1)], mode="NATIVE")
    for _ in range(4):
        state.set_value(np.arange(3.0))
        np.testing.assert_array_equal(f(np.ones(3)), [0, 1, 2])
        update()
        np.testing.assert_array_equal(f(np.ones(3)), [1, 2, 3])
        by_host()
        np.testing.assert_array_equal(f(np.ones(3)), [2, 3, 4])
        state.set_value(np.arange(4.0))
        np.testing.assert_array_equal(f(np.ones(4)), [0, 1, 2, 3])
        with pytest.raises(ValueError):
            f(np.ones(3))


def test_updates_and_what_fails(machine_calls):
    x, i, w = T.dvector("x"), T.lscalar("i"), theano.shared(np.zeros(3), "w")
    total = theano.shared(np.zeros(()), "total")
    f = compiled([x, i], w.sum(), updates=[(w, w + x[i]), (total, total + x.sum())])
    f = prepared(f, np.ones(3), 1)
    machine_calls.clear()
    assert f(np.ones(3), 0) == 15 and machine_calls == []
    for k in range(3):
        with pytest.raises(IndexError, match="out of bounds"):
            f(np.ones(3), 3)
        assert f(np.ones(3), 2) == 18 + 3 * k
    np.testing.assert_array_equal(w.get_value(), np.full(3, 9.0))
    assert total.get_value() == 27


def test_large_arguments_are_not_prepared():
    x = T.dvector("x")
    f = compiled([x], x.sum())
    for _ in range(6):
        assert f(np.ones(100_000)) == 100_000
    assert f._prepared is None


def test_threads_call_one_function():
    x, state = T.dvector("x"), theano.shared(np.ones(50))
    f = prepared(compiled([x], T.exp(x * 2) - 1), np.ones(50))
    g = prepared(compiled([x], T.exp(x * 2) - state), np.ones(50))
    wrong = []

    def run(number):
        given = np.full(50, number / 10)
        expected = np.exp(given * 2) - 1
        for _ in range(300):
            for function in (f, g):
                if not np.allclose(function(given), expected, rtol=1e-12):
                    wrong.append(number)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_update_one_variable():
    x, w = T.dvector("x"), theano.shared(np.zeros(3))
    i = T.lscalar("i")
    # what is checked overwrites nothing
    program = {"outputs": x.sum(), "updates": [(w, w + x[i])]}
    functions = [prepared(compiled([x, i], **program), np.zeros(3), 0) for _ in "ab"]

    def run(k):
        for _ in range(200):
            functions[k % 2](np.ones(3), 1)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(w.get_value(), np.full(3, 800.0))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_a_handler_that_calls_the_function_or_raises_leaves_it_right():
    x, w = T.dvector("x"), theano.shared(np.zeros(3))
    f = prepared(compiled([x], x * 2), np.zeros(3))
    g = compiled([x], w.sum(), updates=[(w, w + x)])
    for _ in range(5):
        g(np.zeros(3))
    calls = []

    def handle(*_):
        calls.append((f(np.full(3, 7.0)) == 14).all())
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handle)
    try:
        for k in range(200):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + k % 3))
                for n in range(100):
                    assert (f(np.full(3, float(n))) == 2 * n).all()
                    g(np.ones(3))
            except KeyboardInterrupt:
                pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls and all(calls)
    first, *others = w.get_value()
    assert first > 0 and others == [first, first]
