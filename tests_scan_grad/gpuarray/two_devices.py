"""Checks on two devices, run in a fresh process, as JAX counts its devices only once."""

import numpy as np

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray import get_context

X = np.arange(6.0).reshape(3, 2)


def device_of(name):
    return {get_context(name).device}


def stages(f):
    """The device and the operators of each part of a function."""
    return [
        (str(stage.device), [type(node.op).__name__ for node in stage.nodes])
        for stage in f.vm.plan.stages
    ]


def check_flag_maps_contexts():
    assert list(gpuarray.list_contexts()) == ["dev0", "dev1"]
    assert [get_context(name).dev for name in ("dev0", "dev1")] == ["xla:cpu0", "xla:cpu1"]
    assert device_of("dev0") != device_of("dev1")
    assert gpuarray.pygpu_activated
    assert get_context("dev0").kind == b"cpu"


def check_outputs_are_where_they_say():
    x = T.matrix("x")
    f = theano.function([x], [x.transfer("dev0"), x.transfer("dev1"), x.transfer("dev1") * 2])
    on0, on1, on_host = f(X)
    assert (on0.devices(), on1.devices()) == (device_of("dev0"), device_of("dev1"))
    assert isinstance(on_host, np.ndarray)
    for value, expected in ((on0, X), (on1, X), (on_host, 2 * X)):
        np.testing.assert_array_equal(value, expected)


def check_transfers_cut_the_graph():
    x = T.matrix("x")
    a, b = x.transfer("dev0"), x.transfer("dev1")
    left, right = T.tanh(a.dot(a.T)), T.exp(b.dot(b.T))
    f = theano.function([x], (left.transfer("dev1") + right).transfer("dev1"))
    result = f(X)
    np.testing.assert_allclose(result, np.tanh(X @ X.T) + np.exp(X @ X.T), rtol=1e-12)
    assert result.devices() == device_of("dev1")
    parts = stages(f)
    assert sorted((device, ops.count("Dot")) for device, ops in parts) == [
        ("cpu:0", 1),
        ("cpu:1", 0),
        ("cpu:1", 1),
    ]


def check_what_a_transfer_reads_runs_there():
    x = T.matrix("x")
    f = theano.function([x], T.exp(x).transfer("dev1"))
    assert f(X).devices() == device_of("dev1")
    assert [device for device, _ in stages(f)] == ["cpu:1"]


def check_shared_variable_stays_on_its_device():
    w = theano.shared(X, target="dev1", name="w")
    assert w.type.context_name == "dev1"
    cost = (w**2).sum()
    f = theano.function([], cost, updates=[(w, w - 0.5 * T.grad(cost, w))])
    np.testing.assert_allclose(f(), (X**2).sum())
    np.testing.assert_allclose(w.get_value(), 0 * X)
    inside = w.get_value(borrow=True, return_internal_type=True)
    assert inside.devices() == device_of("dev1")
    w.set_value(X + 1)
    np.testing.assert_array_equal(w.get_value(), X + 1)
    assert w.get_value(borrow=True, return_internal_type=True).devices() == device_of("dev1")


def check_get_value_is_a_copy():
    w = theano.shared(X, target="dev0")
    w.get_value(borrow=True)[:] = 7
    np.testing.assert_array_equal(w.get_value(), X)
    value = X.copy()
    w.set_value(value, borrow=True)
    value[:] = 7
    np.testing.assert_array_equal(w.get_value(), X)


def check_gradient_goes_through_transfers():
    x = T.matrix("x")
    moved = T.sin(x.transfer("dev0")).transfer("dev1")
    gradient = T.grad((moved**2).sum(), x)
    f = theano.function([x], gradient)
    np.testing.assert_allclose(f(X), 2 * np.sin(X) * np.cos(X), rtol=1e-12)
    g = theano.function([x], theano.Rop(moved.sum(), x, T.ones_like(x)))
    np.testing.assert_allclose(g(X), np.cos(X).sum(), rtol=1e-12)


def check_transfers_are_not_doubled():
    x = T.matrix("x")
    there = x.transfer("dev0")
    assert there.transfer("dev0") is there
    assert (there.transfer("cpu")).transfer("dev0") is there
    assert gpuarray.as_gpuarray_variable(there.transfer("dev1"), "dev0") is there


def check_other_linkers_transfer_too():
    x = T.matrix("x")
    y = T.exp(x.transfer("dev1"))
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        on_device, on_host = theano.function([x], [y.transfer("dev0"), y], mode=mode)(X)
        assert on_device.devices() == device_of("dev0")
        np.testing.assert_allclose(on_host, np.exp(X), rtol=1e-12)


def check_loop_on_a_device():
    w = theano.shared(0.1 * np.ones((2, 2)), target="dev1")
    x = T.matrix("x")
    h, _ = theano.scan(lambda x, h: T.tanh(x + h.dot(w)), x, T.zeros(2))
    cost = (h**2).sum()
    f = theano.function([x], [cost, T.grad(cost, w)])
    plain = T.matrix("w")
    h, _ = theano.scan(lambda x, h: T.tanh(x + h.dot(plain)), x, T.zeros(2))
    cost = (h**2).sum()
    g = theano.function([x, plain], [cost, T.grad(cost, plain)], mode="FAST_COMPILE")
    for ours, expected in zip(f(X), g(X, w.get_value()), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-9)


def check_split_params_writes_to_the_device():
    from theano.gpuarray.dnn import RNNBlock

    block = RNNBlock("float64", 4, 2, "gru")
    size = block.get_param_size([1, 3])
    w = gpuarray.gpuarray_shared_constructor(np.zeros(size), target="dev1")
    on_host = theano.shared(np.zeros(size))
    for layer in range(2):
        of_both = (block.split_params(v, layer, [1, 3]) for v in (w, on_host))
        for there, here in zip(*of_both, strict=True):
            assert there.shape == here.shape
            value = np.random.random(here.shape)
            there[:] = value
            here[:] = value
            np.testing.assert_array_equal(np.asarray(there), here)
    np.testing.assert_array_equal(w.get_value(), on_host.get_value())
    assert w.get_value(borrow=True, return_internal_type=True).devices() == device_of("dev1")


def check_block_on_a_context():
    from theano.gpuarray.dnn import RNNBlock

    x, h = T.tensor3("x"), T.tensor3("h")
    results = []
    for context_name in ("dev1", None):
        block = RNNBlock("float64", 4, 1, "lstm", context_name=context_name)
        w = theano.shared(np.linspace(-1, 1, block.get_param_size([2, 3])))
        f = theano.function([x, h], block.apply(w, x, h, h)[0])
        results.append(f(np.ones((5, 2, 3)), np.ones((1, 2, 4))))
        assert ("cpu:1" in dict(stages(f))) == (context_name is not None)
    np.testing.assert_allclose(*results, rtol=1e-9)


CHECKS = {name: value for name, value in globals().items() if name.startswith("check_")}
