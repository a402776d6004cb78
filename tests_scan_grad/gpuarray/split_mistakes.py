"""Mistakes with `data_parallel`, and the messages that they get, checked in a fresh process."""

import warnings

import numpy as np

import theano
import theano.tensor as T
from theano.tensor import slinalg

x, y = T.matrix("x"), T.matrix("y")
W = theano.shared(np.ones((3, 2)), name="W")
number = T.lscalar("number")
ROWS = np.ones((6, 3))


def message_of(call, kind=ValueError):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("no error")


def refused(entries, kind=ValueError, inputs=(x, y), outputs=None, **options):
    """Return the message of the error that compiling the function raises."""
    outputs = x.dot(W) - y if outputs is None else outputs
    return message_of(
        lambda: theano.function(list(inputs), outputs, data_parallel=entries, **options), kind
    )


def check_what_is_no_list_of_inputs():
    assert "got 'x', of type str" in refused(["x", "y"], TypeError)
    assert "got the variable x" in refused(x, TypeError)
    assert "got a mapping" in refused({x: 1}, TypeError)
    assert "got True" in refused(True, TypeError)
    for devices in (2, "xla:cpu0"):
        assert f"got {devices!r}" in refused([x], TypeError, devices=devices)
    assert "xla:cpu (the CPU" in refused([x], devices=["cpu0", "cpu1"])


def check_what_is_no_input_says_why():
    data = theano.shared(ROWS, name="data")
    options = {"givens": {x: data[number : number + 6]}}
    assert "givens replaces it" in refused([x], inputs=[number, y], **options)
    assert "number is one number" in refused([number], inputs=[number, y], **options)
    assert "W is a shared variable" in refused([W])
    assert "y is not an input of the function" in refused([y], inputs=[x], outputs=x)
    assert "x has no dimension 2; it has 2" in refused([(x, 2)])
    assert "must be an int, and 1.0 is of type float" in refused([(x, 1.0)], TypeError)


def check_dimensions_count_from_the_end_too():
    f = theano.function([x], x.sum(1), data_parallel=[[x, -2]])
    np.testing.assert_array_equal(f(ROWS), ROWS.sum(1))


def check_nothing_to_split():
    f = theano.function([x], x.sum(), data_parallel=[])
    assert f(ROWS) == ROWS.sum() and not isinstance(f.maker.linker, theano.link.xla.XLALinker)


def check_rows_that_differ_are_named():
    f = theano.function([x, y], x.sum() + y.sum(), data_parallel=[x, y])
    message = message_of(lambda: f(ROWS, ROWS[:4]))
    assert "x has 6 in dimension 0, y has 4 in dimension 0" in message


def check_a_forgotten_input_is_named():
    u, v = T.tensor3("u"), T.tensor3("v")
    loop, _ = theano.scan(lambda a, b, h: h + a * b, [u, v], T.zeros((u.shape[1], 3)))
    videos = [np.ones((5, 6, 3))] * 2
    for inputs, entries, outputs, values in (
        ([x, y], [x], x - y, [ROWS, ROWS]),
        ([x, y], [x], x.T.dot(y), [ROWS, ROWS]),
        ([x, y], [y], x - y, [ROWS[:2], ROWS[:2]]),
        ([u, v], [(u, 1)], loop, videos),
    ):
        f = theano.function(inputs, outputs, data_parallel=entries)
        message = message_of(lambda: f(*values))  # noqa: B023 -- called at once
        split = entries[0][0] if isinstance(entries[0], tuple) else entries[0]
        (forgotten,) = [v for v in inputs if v is not split]
        assert f"each device has all: {forgotten} in dimension" in message, message
        assert f"Created at: {__file__}" in message, message


def check_operations_without_a_rule():
    f = theano.function([x], slinalg.cholesky(x.T.dot(x)), data_parallel=[x])
    message = message_of(lambda: f(ROWS))
    assert "Cholesky" in message and "no rule says how devices share it" in message
    assert "by a function without data_parallel" in message
    assert f"Created at: {__file__}" in message
    on_host = refused([x], inputs=[x], outputs=T.j0(x))
    assert "J0" in on_host and __file__ in on_host and "a separate function" in on_host
    repeated = theano.function([x], T.repeat(x, 2, axis=0), data_parallel=[x])
    assert f"(created at {__file__}" in message_of(lambda: repeated(ROWS))


def check_one_device_alone_is_told():
    import jax

    all_devices = jax.devices
    try:
        jax.devices = lambda *kind: all_devices(*kind)[:1]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f = theano.function([x], x.sum(), data_parallel=[x])
    finally:
        jax.devices = all_devices
    (warning,) = [str(w.message) for w in caught]
    assert "there is one device here" in warning and "XLA_FLAGS=" in warning
    assert f(ROWS) == ROWS.sum()


CHECKS = {name: value for name, value in globals().items() if name.startswith("check_")}
