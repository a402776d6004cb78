"""Calls of small functions of several segments that C makes from the third on."""

import sys
import threading

import numpy as np
import pytensor
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.functions.test_prepared_calls import compiled, natives, prepared
from theano.link.native.linker import mode as native_mode

MASK = np.array([True, False, True, True, False, False])


def variables():
    return T.dvector("x"), T.vector("m", dtype="bool"), T.dscalar("unused")


def selected(x, m):
    """Sums and elements by a computed mask, whose number, known later, parts the function."""
    chosen = T.exp(x)[T.and_(m, x > -100)]
    return [(chosen * 2).sum(), T.exp(x), chosen]


def expected(x, m):
    return np.exp(x[m]).sum() * 2, np.exp(x), np.exp(x[m])


def of_a_mask():
    x, m, unused = variables()
    f = compiled([x, m, unused], selected(x, m), on_unused_input="ignore")
    f = prepared(f, np.ones(6), MASK, 0.5)
    assert len(natives(f)) > 1
    return f


def same(found, x, m):
    for one, wanted in zip(found, expected(x, m), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-14)


def test_results_are_those_of_the_first_calls():
    f, rng = of_a_mask(), np.random.default_rng(0)
    for _ in range(50):
        x, m = rng.normal(size=6), rng.permutation(MASK)
        same(f(x, m, 1), x, m)
    # other numbers of elements, layouts and lengths, which Python looks at
    for m in (np.zeros(6, bool), np.ones(6, bool), MASK, MASK[::-1], np.tile(MASK, 3)[::3]):
        x = rng.normal(size=(2, 6))[::-1, ::-1][1]
        same(f(x, m, 2.0), x, m)
    x, m = rng.normal(size=9), rng.normal(size=9) > 0
    for _ in range(10):
        same(f(x, m, 0), x, m)


@pytest.mark.parametrize(
    "given",
    [
        (np.ones(6), MASK[:5], 1.0),
        (np.ones(6), MASK, "a"),
        (np.ones(6), MASK, np.zeros(1)),
        (np.ones((6, 1)), MASK, 1.0),
        (np.ones(6), MASK),
        (np.ones(6), MASK, 1.0, 1.0),
    ],
    ids=("mask", "word", "array", "dimensions", "few", "many"),
)
def test_errors_are_those_of_the_first_call(given):
    x, m, unused = variables()
    with pytest.raises(Exception) as first:
        compiled([x, m, unused], selected(x, m), on_unused_input="ignore")(*given)
    f = of_a_mask()
    with pytest.raises(type(first.value)) as later:
        f(*given)
    assert str(later.value).splitlines()[0] == str(first.value).splitlines()[0]
    same(f(np.ones(6), MASK, 1.0), np.ones(6), MASK)


def test_results_are_the_callers_own():
    f = of_a_mask()
    kept = [f(np.full(6, k / 10), MASK, 0.0) for k in range(20)]
    for k, results in enumerate(kept):
        same(results, np.full(6, k / 10), MASK)


def test_nothing_is_leaked():
    f, x = of_a_mask(), np.arange(6.0)
    held = (x, MASK, None, NotImplemented, np.empty)
    before = [sys.getrefcount(one) for one in held]
    for _ in range(1000):
        f(x, MASK, 1.0)
    after = [sys.getrefcount(one) for one in held]
    assert all(abs(a - b) < 20 for a, b in zip(after, before, strict=True))


def test_shared_variables_are_read_anew():
    x, data = T.dvector("x"), theano.shared(np.arange(6.0), "data")
    mask = theano.shared(MASK, "mask")
    f = prepared(compiled([x], (data * x)[T.and_(mask, data > -100)].sum()), np.ones(6))
    assert f(np.ones(6)) == 5
    mask.set_value(~MASK)
    assert f(np.ones(6)) == 10
    data.set_value(np.ones(7))
    mask.set_value(np.ones(7, bool))
    assert f(np.full(7, 2.0)) == 14


def test_threads_call_one_function():
    f, wrong = of_a_mask(), []

    def run(number):
        x = np.full(6, number / 10)
        wanted = np.exp(number / 10)
        for k in range(300):
            m = np.roll(MASK, k)
            total, power, chosen = f(x, m, 0.0)
            if not (
                np.allclose(total, 6 * wanted) and np.allclose(power, wanted) and len(chosen) == 3
            ):
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_functions_of_pytensor_have_their_machine_prepared():
    x, m, _ = variables()
    f = pytensor.function([x, m], selected(x, m), mode=native_mode)
    for k in range(12):
        same(f(np.full(6, k / 10), MASK), np.full(6, k / 10), MASK)
        for native in natives(f):
            native.optimize()
    assert f.vm._prepared is not None
    same(f(np.arange(6.0), ~MASK), np.arange(6.0), ~MASK)


def test_updates_are_not_prepared():
    x, m, _ = variables()
    total = theano.shared(0.0)
    f = compiled([x, m], x[T.and_(m, x > -100)], updates=[(total, total + x.sum())])
    for _ in range(12):
        np.testing.assert_array_equal(f(np.ones(6), MASK), np.ones(3))
    assert f._prepared is None
    assert len(natives(f)) > 1 and total.get_value() == 72
