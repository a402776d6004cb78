"""Calls of small functions that C makes from the third on: they are as the first ones."""

import pickle
import sys
import threading

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from theano.link.native.linker import mode as native_mode


def prepared(function, *arguments, calls=12):
    """The function, after calls of which the last ones are prepared."""
    for _ in range(calls):
        function(*arguments)
        for native in natives(function):
            native.optimize()
    assert function._prepared is not None
    return function


def natives(function):
    return [unit.run.native for unit in function.vm.units if hasattr(unit.run, "native")]


def compiled(*arguments, **settings):
    return theano.function(*arguments, mode="NATIVE", **settings)


def of_scalars():
    x, y, k = T.dscalar("x"), T.fscalar("y"), T.lscalar("k")
    return prepared(compiled([x, y, k], [x * y + k, k * 2]), 0.5, 0.25, 3)


def test_arrays_and_numbers_are_arguments():
    f = of_scalars()
    for given in (
        (1.5, 0.5, 3),
        (np.float64(1.5), np.float32(0.5), np.int64(3)),
        (np.array(1.5), np.array(0.5, "float32"), np.array(3)),
        (1.5, np.array(0.5, "float32"), 3),
        (np.float32(1.5), 0.5, np.int8(3)),
    ):
        first, second = f(*given)
        assert (first, second) == (3.75, 6)
        assert first.dtype == np.float64 and second.dtype == np.int64 and first.shape == ()
    assert f(1, 2, 3)[0] == 5
    assert f(True, 2, 3)[0] == 5


@pytest.mark.parametrize(
    "given",
    [
        (0.5, 0.25, 2.5),
        (0.5, 0.25, 2**63),
        (0.5, 2**24 + 1, 1),
        (0.5, 1e-50, 1),
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


def test_floats_of_less_precision_follow_the_flag():
    x = T.fscalar("x")
    with theano.config.change_flags(floatX="float32"):
        f = prepared(compiled([x], x * 2), 0.5)
        assert f(0.1) == np.float32(0.1) * 2
    with pytest.raises(TypeError, match="accurately"):
        f(0.1)


def test_integers_that_do_not_fit_are_errors():
    x = T.bscalar("x")
    f = prepared(compiled([x], x + x), 3)
    assert f(-128) == 0
    assert f(60) == 120
    with pytest.raises(TypeError):
        f(128)
    with pytest.raises((TypeError, OverflowError)):
        f(2**70)


def test_numbers_are_refused_where_a_type_is_strict():
    x = T.dscalar("x")
    f = prepared(compiled([theano.In(x, strict=True)], x * 2), np.array(1.0))
    assert f(np.array(2.0)) == 4
    with pytest.raises(TypeError):
        f(2.0)


def test_arrays_of_other_layouts_and_sizes():
    x = T.dmatrix("x")
    f = prepared(compiled([x], [T.exp(x), x.sum(0)]), np.ones((2, 3)))
    values = np.random.default_rng(1).normal(size=(6, 8))
    for given in (
        values[:2, :3],
        values.T,
        values[::2, ::-1],
        values.astype(">f8"),
        values.astype("float32"),
        values[:0],
        np.ones((2, 3)),
        values[:2, :3].copy(),
    ):
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
    f = prepared(compiled([x], x * 2), np.ones(3))
    kept = [f(np.full(3, float(k))) for k in range(20)]
    for k, result in enumerate(kept):
        np.testing.assert_array_equal(result, np.full(3, 2.0 * k))
    a_part = f(np.arange(3.0))[1:]
    f(np.ones(3))
    np.testing.assert_array_equal(a_part, [2, 4])
    # memory that nobody has any more is used again
    assert len({f(np.ones(3)).ctypes.data for _ in range(5)}) == 1


def test_nothing_is_leaked():
    x, state = T.dvector("x"), theano.shared(np.ones(3))
    f = prepared(compiled([x], [x * state, x.sum()]), np.ones(3))
    given, value = np.arange(3.0), state.get_value(borrow=True)
    before = [sys.getrefcount(object) for object in (given, value, None, NotImplemented, np.empty)]
    for _ in range(1000):
        results = f(given)
        f(given[::-1])
    after = [sys.getrefcount(object) for object in (given, value, None, NotImplemented, np.empty)]
    assert all(abs(a - b) < 20 for a, b in zip(after, before, strict=True))
    # the list, the argument of getrefcount, and what is kept for the next call at most
    assert all(sys.getrefcount(results[k]) <= 3 for k in range(2))


def test_shared_variables_are_read_anew():
    x, state = T.dvector("x"), theano.shared(np.ones(3), "state")
    f = prepared(compiled([x], x * state), np.ones(3))
    state.set_value(np.arange(3.0))
    np.testing.assert_array_equal(f(np.ones(3)), [0, 1, 2])
    state.set_value(np.arange(4.0))
    np.testing.assert_array_equal(f(np.ones(4)), [0, 1, 2, 3])
    with pytest.raises(ValueError, match="ape|ength"):
        f(np.ones(3))
    update = compiled([], [], updates=[(state, state + 1)])
    update()
    np.testing.assert_array_equal(f(np.ones(4)), [1, 2, 3, 4])
    np.testing.assert_array_equal(prepared(compiled([], state * 2))(), 2 * state.get_value())


def test_default_values_are_put_back():
    x, y = T.dscalar("x"), T.dscalar("y")
    f = prepared(compiled([x, theano.In(y, value=2.0)], x * y), 3.0)
    assert f(4.0) == 8
    assert f(4.0, 5.0) == 20
    assert f(4.0) == 8
    assert f(4.0, y=6.0) == 24
    f["y"] = 7.0
    assert f(1.0) == 7
    assert f(1.0) == 2


def test_results_with_keys():
    x = T.dscalar("x")
    f = prepared(compiled([x], {"b": x * 2, "a": x + 1}), 3.0)
    assert f(4.0) == {"a": 5, "b": 8}
    assert f(4.0, output_subset=["a"]) == {"a": 5}


def test_names_copies_and_pickles():
    x, y = T.dscalar("x"), T.dscalar("y")
    f = prepared(compiled([x, y], x - y, givens=[]), 3.0, 1.0)
    assert f(y=1.0, x=5.0) == 4
    assert f(5.0, y=2.0) == 3
    assert f.copy()(5.0, 2.0) == [3]
    assert pickle.loads(pickle.dumps(f))(5.0, 2.0) == 3


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


def descent(x, w, total):
    """Updates of which one takes the place of its variable's value, and one has memory of its own."""
    return {
        "outputs": (w * x).sum(),
        "updates": [(w, w - 0.1 * x), (total, T.tanh(total) * x + total)],
    }


def counting(x, w, total):
    """Updates without results."""
    return {"outputs": [], "updates": [(total, total + 1), (w, 2 * w * x)]}


def rows(x, w, total):
    """A row that is written where it lies."""
    return {"outputs": w[1], "updates": [(w, T.set_subtensor(w[1], x[0])), (total, total + x)]}


def swapped(x, w, total):
    """Values that change places, and one that two variables get."""
    return {"outputs": x, "updates": [(w, total), (total, w + 0 * x)]}


@pytest.mark.parametrize("program", [descent, counting, rows, swapped])
def test_updates_are_those_of_python(program):
    x = T.dvector("x")
    states = [[theano.shared(np.arange(1.0, 4), n) for n in ("w", "total")] for _ in range(2)]
    modes = ("NATIVE", "FAST_COMPILE")
    f, g = (
        theano.function([x], mode=mode, **program(x, *of))
        for mode, of in zip(modes, states, strict=True)
    )

    def same(given):
        np.testing.assert_allclose(f(given), g(given), rtol=1e-12)
        for ours, theirs in zip(*states, strict=True):
            np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-12)

    for _ in range(12):
        same(np.ones(3))
        for native in natives(f):
            native.optimize()
    # what are inputs as well is no result of the segment
    assert (f._prepared is None) == (program is swapped)
    rng = np.random.default_rng(3)
    for _ in range(10):
        same(rng.normal(size=3))
    # other sizes, a value that is a view, and one that lies in the argument
    for new in (rng.normal(size=5), rng.normal(size=(3, 2))[:, 0], np.ones(3)[::-1]):
        for pair in states:
            for state in pair:
                state.set_value(new.copy() if new.flags.owndata else new, borrow=True)
        for _ in range(3):
            same(rng.normal(size=len(new)))
    given = [np.ones(3), np.ones(3)]
    for pair, value in zip(states, given, strict=True):
        pair[0].set_value(value, borrow=True)
        pair[1].set_value(value[:], borrow=True)
    results = [function(value) for function, value in zip((f, g), given, strict=True)]
    np.testing.assert_allclose(*results, rtol=1e-12)
    for ours, theirs in zip(*states, strict=True):
        np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-12)


def test_an_error_leaves_what_is_updated():
    i, x, w = T.lvector("i"), T.dvector("x"), theano.shared(np.zeros(4))
    f = compiled([i, x], x.sum(), updates=[(w, T.inc_subtensor(w[i], x))])
    f = prepared(f, np.array([0, 1]), np.ones(2))
    before = w.get_value()
    with pytest.raises(IndexError):
        f(np.array([1, 4]), np.ones(2))
    np.testing.assert_array_equal(w.get_value(), before)
    f(np.array([1, 1]), np.ones(2))
    np.testing.assert_array_equal(w.get_value(), before + [0, 2, 0, 0])


def test_old_values_are_their_holders_own():
    x, w = T.dvector("x"), theano.shared(np.zeros(3))
    f = prepared(compiled([x], (w * x).sum(), updates=[(w, T.tanh(w) * x + x)]), np.ones(3))
    held = [w.get_value(borrow=True)]
    copies = [held[0].copy()]
    for k in range(6):
        f(np.full(3, float(k)))
        held.append(w.get_value(borrow=True))
        copies.append(held[-1].copy())
    np.testing.assert_array_equal(held, copies)
    memory, held = {array.ctypes.data for array in held}, None
    found = set()
    for _ in range(6):
        f(np.ones(3))
        found.add(w.get_value(borrow=True).ctypes.data)
    assert len(memory) == 7 and len(found) == 2


def test_nothing_is_leaked_by_updates():
    x, w = T.dvector("x"), theano.shared(np.zeros(3))
    total = theano.shared(np.zeros(3))
    f = prepared(
        compiled([x], x.sum(), updates=[(w, w + x), (total, T.tanh(total) + w)]), np.ones(3)
    )
    before = [sys.getrefcount(object) for object in (None, NotImplemented, np.empty)]
    for _ in range(1000):
        f(np.ones(3))
    after = [sys.getrefcount(object) for object in (None, NotImplemented, np.empty)]
    assert all(abs(a - b) < 20 for a, b in zip(after, before, strict=True))
    assert all(sys.getrefcount(v.get_value(borrow=True)) <= 3 for v in (w, total))


def test_threads_update_one_variable():
    x, w = T.dvector("x"), theano.shared(np.zeros(3))
    functions = [prepared(compiled([x], x.sum(), updates=[(w, w + x)]), np.zeros(3)) for _ in "ab"]

    def run(k):
        for _ in range(500):
            functions[k % 2](np.ones(3))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(w.get_value(), np.full(3, 2000.0))


def test_functions_that_do_more_are_not_prepared():
    x = T.dvector("x")
    overwriting = compiled([theano.In(x, mutable=True)], x * 2)
    for _ in range(12):
        np.testing.assert_array_equal(overwriting(np.ones(3)), np.full(3, 2.0))
    large = compiled([x], x * 2)
    for _ in range(12):
        large(np.ones(100_000))
    stops, _ = theano.scan(
        lambda a, h: (h + a, theano.scan_module.until(h + a > 3)),
        sequences=[x],
        outputs_info=[T.zeros(())],
    )
    stopping = compiled([x], stops)
    for _ in range(12):
        np.testing.assert_array_equal(stopping(np.ones(9)), [1, 2, 3, 4])
    assert (overwriting._prepared, large._prepared, stopping._prepared) == (None, None, None)


def test_functions_of_pytensor_have_their_machine_prepared():
    x, y = T.dvector("x"), T.dscalar("y")
    f = pytensor.function([x, y], [x * y, x.sum()], mode=native_mode)
    for k in range(12):
        product, total = f(np.full(3, float(k)), 2.0)
        for native in natives(f):
            native.optimize()
        np.testing.assert_array_equal(product, np.full(3, 2.0 * k))
        assert total == 3 * k
    assert f.vm._prepared is not None
    np.testing.assert_array_equal(f(np.ones(4), 2.0)[0], np.full(4, 2.0))


def test_updates_of_functions_of_pytensor():
    x, w = T.dvector("x"), pytensor.shared(np.zeros(3))
    f = pytensor.function([x], x.sum(), updates=[(w, w + x)], mode=native_mode)
    for k in range(12):
        assert f(np.full(3, float(k))) == 3 * k
        for native in natives(f):
            native.optimize()
    assert f.vm._prepared is not None
    np.testing.assert_array_equal(w.get_value(), np.full(3, 66.0))
    f(np.ones(3))
    np.testing.assert_array_equal(w.get_value(), np.full(3, 67.0))
