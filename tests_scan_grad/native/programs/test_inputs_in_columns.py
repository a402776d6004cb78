"""Shared data in Fortran's order, as that of a DataFrame: it is read where it lies."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.scan_module import scan_report

COLUMNS = np.asfortranarray(np.random.default_rng(0).normal(size=(7, 3)))


def compiled(inputs, outputs, **settings):
    return theano.function(inputs, outputs, mode="NATIVE", **settings)


def segments(function):
    return [unit.run.native for unit in function.vm.units if hasattr(unit.run, "native")]


def read_in_columns(function):
    """Return the names of what the function expects in Fortran's order."""
    passed = [one for native in segments(function) for one in native.segment.inputs]
    return {one.variable.name for one in passed if one.in_columns}


def count_copies(monkeypatch):
    """Return a list that gets the position of each input that a call copies."""
    copied = []
    for_input = theano.link.native.run.calls.NativeSegment._converted

    def converted(self, arrays, position):
        copied.append(position)
        return for_input(self, arrays, position)

    monkeypatch.setattr(theano.link.native.run.calls.NativeSegment, "_converted", converted)
    return copied


PROGRAMS = {
    "columns": lambda x, v: x[:, 0] * v[0] + x[:, 2],
    "rows": lambda x, v: x[2] + x[-1] * v[:3],
    "element": lambda x, v: x[1, 2] * v,
    "product": lambda x, v: T.dot(x, v[:3]) + x[:, 1],
    "transposed product": lambda x, v: T.dot(x.T, v) + x[0],
    "map": lambda x, v: T.exp(x) * v[:, None],
    "sum of rows": lambda x, v: (x * v[:3]).sum(1),
    "sum of columns": lambda x, v: (x * v[:, None]).sum(0),
    "all of it": lambda x, v: T.join(1, x, v[:, None]),
    "transposed": lambda x, v: x.T * v,
    "under another shape": lambda x, v: x.reshape((3, 7)) * v,
    "flat": lambda x, v: x.flatten()[3:5] + v[0],
    "by index": lambda x, v: x[T.cast(abs(v), "int64") % 7].sum(0),
    "set": lambda x, v: T.set_subtensor(x[1], v[:3]),
    "softmax": lambda x, v: T.nnet.softmax(x) * v[:, None],
    "sorted": lambda x, v: T.sort(x, axis=0) + v[0],
    "lengths": lambda x, v: x.shape[0] * v + x.shape[1],
    "loop over rows": lambda x, v: theano.scan(
        lambda row, h: T.tanh(row + h), sequences=[x], outputs_info=[v[:3]]
    )[0],
    "loop that reads it": lambda x, v: theano.scan(
        lambda one, h, x: h * one + x[:, 0] + T.dot(x, x[0]),
        sequences=[v],
        outputs_info=[v],
        non_sequences=[x],
    )[0],
    "gradient of a loop": lambda x, v: T.grad(
        theano.scan(lambda row, h: T.tanh(row * h), sequences=[x], outputs_info=[v[:3]])[0].sum(),
        v,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_rows(name):
    x, v = theano.shared(COLUMNS, "x"), T.dvector("v")
    in_rows = theano.shared(np.ascontiguousarray(COLUMNS), "x")
    given = np.random.default_rng(1).normal(size=7)
    f = compiled([v], PROGRAMS[name](x, v))
    g = compiled([v], PROGRAMS[name](in_rows, v))
    assert not read_in_columns(g)
    for _ in range(5):
        np.testing.assert_allclose(f(given), g(given), rtol=1e-14)
    for value in (2 * COLUMNS, np.ascontiguousarray(COLUMNS) + 1):
        x.set_value(value)
        in_rows.set_value(np.ascontiguousarray(value))
        np.testing.assert_allclose(f(given), g(given), rtol=1e-14)


def test_data_is_not_copied(monkeypatch):
    copied = count_copies(monkeypatch)
    x, v = theano.shared(COLUMNS, "x"), T.dvector("v")
    f = compiled([v], (x[:, 0] * v[0] + x[:, 1] * v[1]).sum())
    assert read_in_columns(f) == {"x"}
    for _ in range(3):
        f(np.ones(7))
    assert f._prepared is not None and not copied
    x.set_value(np.ascontiguousarray(COLUMNS))
    np.testing.assert_allclose(f(np.ones(7)), COLUMNS[:, :2].sum(), rtol=1e-14)
    assert copied


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 3), (3, 1), (2, 3, 4), (2, 1, 4)])
def test_few_elements_and_more_dimensions(shape):
    value = np.asfortranarray(np.random.default_rng(2).normal(size=shape))
    x = theano.shared(value, "x")
    f = compiled([], [T.exp(x), x.sum(0), x[..., -1:] * 2])
    expected = np.exp(value), value.sum(0), 2 * value[..., -1:]
    for found, wanted in zip(f(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_variables_with_updates_lie_in_rows():
    x = theano.shared(COLUMNS, "x")
    f = compiled([], x[:, 0], updates=[(x, x * 2)])
    assert not read_in_columns(f)
    np.testing.assert_array_equal(f(), COLUMNS[:, 0])
    np.testing.assert_array_equal(f(), 2 * COLUMNS[:, 0])
    np.testing.assert_array_equal(x.get_value(), 4 * COLUMNS)


def test_each_order_has_its_program():
    # the second program is not that of the first, which the disk holds
    for _ in range(2):
        for value in (COLUMNS, np.ascontiguousarray(COLUMNS)):
            x, v = theano.shared(value, "x"), T.dvector("v")
            f = compiled([v], x[:, 1] * v * 1.25)
            assert bool(read_in_columns(f)) == (value is COLUMNS)
            np.testing.assert_array_equal(f(np.ones(7)), COLUMNS[:, 1] * 1.25)


def test_a_wrong_length_is_said_by_the_users_dimension():
    x, v = theano.shared(COLUMNS, "x"), T.dvector("v")
    f = compiled([v], x[:, 0] + v)
    with pytest.raises(ValueError, match="7"):
        f(np.ones(6))


def test_memory_is_that_of_the_call():
    x, v = theano.shared(np.asfortranarray(np.ones((300, 200))), "x"), T.dvector("v")
    f = compiled([v], (T.exp(x) * v[:, None]).sum(0))
    f(np.ones(300))
    memory = scan_report(f, arguments=[np.ones(300)]).memory
    assert memory.results == 200 * 8
