"""Names of Theano's `gpuarray` that programs use: rewrites, transforms, helpers, kernels as text."""

import os
import subprocess
import sys

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import ROOT, printed_by, run_python
from theano.gpuarray.basic_ops import CGpuKernelBase, GpuKernelBase, Kernel
from theano.link.xla.lowering import lowers

pytest.importorskip("jax")

FLAGS = "init_gpu_device=xla:cpu,print_active_device=False"


class Halved(GpuKernelBase, theano.Op):
    """As operations were written for libgpuarray."""

    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def gpu_kernels(self, node, name):
        code = "KERNEL void k(GLOBAL_MEM float *x) { x[LID_0] /= 2; }"
        return [Kernel(code=code, params=["*"], name="k", flags={})]

    def c_code(self, node, name, inputs, outputs, sub):
        return "GpuKernel_call(&k, 1, &gs, &ls, 0, params);"


class HalvedByPython(Halved):
    """With a way to compute it on the processor."""

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] / 2


class HalvedByJax(Halved):
    """With a lowering."""


@lowers(HalvedByJax)
def halved(op, node, inputs, context):
    return inputs[0] / 2


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "XLA"])
def test_kernels_as_text_say_how_to_write_a_lowering(mode):
    x = T.fvector("x")
    with pytest.raises(NotImplementedError) as error:
        theano.function([x], Halved()(x), mode=mode)([1.0])
    for part in ("@lowers(Halved)", "pallas_call", "examples/pallas_kernel.py", "gpu_kernels"):
        assert part in str(error.value)
    assert theano.function([x], HalvedByPython()(x), mode=mode)([3.0]).tolist() == [1.5]
    with pytest.raises(NotImplementedError, match="the kernel 'k'"):
        Halved().gpu_kernels(None, "halved")


def test_an_operation_with_a_lowering_runs_on_devices():
    x = T.fvector("x")
    assert theano.function([x], HalvedByJax()(x), mode="XLA")([3.0]).tolist() == [1.5]


def test_kernels_in_files_name_the_files():
    class Third(CGpuKernelBase):
        __props__ = ()

        def __init__(self):
            super().__init__(["third.c"], "third")

        def make_node(self, x):
            return theano.Apply(self, [x], [x.type()])

    x = T.fvector("x")
    with pytest.raises(NotImplementedError, match=r"Third: the CUDA or OpenCL text of third\.c"):
        theano.function([x], Third()(x))([1.0])


def test_the_example_of_a_kernel_runs():
    done = subprocess.run(
        [sys.executable, "examples/pallas_kernel.py"],
        cwd=ROOT,
        env=run_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    given = np.random.RandomState(0).normal(size=(20, 5)).astype("float32")
    first = given[0]
    for _ in range(3):
        first = (first + 1) / np.linalg.norm(first + 1)
    assert lines[0] == "lengths of the rows: 1.0"
    told = np.array(lines[2].partition(": ")[2].strip("[]").split(), dtype="float64")
    np.testing.assert_allclose(told, first, atol=1e-4)


def run_environment():
    return os.environ | {"PYTHONPATH": str(ROOT), "THEANO_FLAGS": ""}


def test_the_gradient_of_the_example_is_that_of_finite_differences():
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        from pallas_kernel import RowNorms
    finally:
        sys.path.remove(str(ROOT / "examples"))
    x = T.dmatrix("x")
    given = np.random.RandomState(1).normal(size=(11, 3))
    weights = np.random.RandomState(2).normal(size=(11, 3))
    cost = (RowNorms()(x) * weights).sum()
    f = theano.function([x], [cost, theano.grad(cost, x)], mode="XLA")
    value, gradient = f(given)
    plain = lambda x: (x / np.linalg.norm(x, axis=1, keepdims=True) * weights).sum()  # noqa: E731
    np.testing.assert_allclose(value, plain(given))
    step = 1e-6 * np.eye(1, 33, 7).reshape(11, 3)
    slope = (plain(given + step) - plain(given - step)) / 2e-6
    np.testing.assert_allclose(gradient.ravel()[7], slope, rtol=1e-6)


ON_A_DEVICE = """
import numpy as np
import theano
import theano.tensor as T
import theano.gpuarray.fft
from theano.gpuarray.basic_ops import HostFromGpu, as_gpuarray_variable
from theano.gpuarray.opt import gpu_optimizer, op_lifter, register_opt, register_opt2
from theano.gpuarray.tests.config import mode_with_gpu, mode_without_gpu, ref_cast, test_ctx_name
from theano.gpuarray.tests.test_basic_ops import fake_shared, inplace_func, rand, rand_gpuarray

# transforms
x = np.random.RandomState(0).rand(2, 8, 6).astype("float32")
v = T.tensor3(dtype="float32")
there = theano.gpuarray.fft.curfft(v)
f = theano.function([v], [there, theano.gpuarray.fft.cuirfft(there)], mode=mode_with_gpu)
values, back = map(np.asarray, f(x))
expected = np.fft.rfftn(x, axes=(1, 2))
np.testing.assert_allclose(values[..., 0] + 1j * values[..., 1], expected, atol=1e-4)
np.testing.assert_allclose(back, x, atol=1e-5)
print(type(there.type).__name__)

# helpers
a = fake_shared(rand(3, 4))
g = inplace_func([], (a * 2).sum())
np.testing.assert_allclose(g(), 2 * np.asarray(a.get_value()).sum(), rtol=1e-6)
print(rand_gpuarray(2, 3, dtype="float32").shape, ref_cast(T.vector(dtype="float16")).dtype)


# a rewrite of the program's own
class Doubled(theano.Op):
    __props__ = ()

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2


@register_opt("fast_compile")
@op_lifter([Doubled])
@register_opt2([Doubled], "fast_compile")
def local_doubled_by_a_sum(op, context_name, inputs, outputs):
    return inputs[0] + inputs[0]


@register_opt2([Doubled])
def never_asked(op, context_name, inputs, outputs):
    return False


m = T.fmatrix()
outside, inside = Doubled()(m), Doubled()(T.as_tensor_variable(a))


def doubled(outputs, mode):
    f = theano.function([m], outputs, mode=mode, on_unused_input="ignore")
    count = sum(isinstance(node.op, Doubled) for node in f.maker.fgraph.apply_nodes)
    return count, [np.asarray(value) for value in f(np.ones((1, 2), "float32"))]


count, [value] = doubled([inside], mode_with_gpu)
np.testing.assert_allclose(value, 2 * np.asarray(a.get_value()))
print(count, doubled([inside], mode_with_gpu.excluding("gpuarray"))[0])
print(doubled([outside], mode_with_gpu)[0])
print(doubled([as_gpuarray_variable(outside, test_ctx_name)], mode_with_gpu)[0])
"""


def test_names_that_need_a_device():
    lines = printed_by(ON_A_DEVICE, THEANO_FLAGS=FLAGS)
    assert lines == ["GpuArrayType", "(2, 3) float32", "0 1", "1", "0"]


def test_layers_compute_what_their_equations_say():
    from theano.gpuarray.tests.rnn_support import FC, GRU, LSTM, Model, WrapperLayer

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    x, model = T.dtensor3("x"), Model("m")
    with theano.config.change_flags(floatX="float64"):
        layers = [
            GRU(3, 4, WrapperLayer(x), s0=T.zeros((2, 4)), name="gru"),
            LSTM(3, 4, WrapperLayer(x), T.zeros((2, 4)), T.zeros((2, 4)), name="lstm"),
            FC(3, 4, WrapperLayer(x), name="fc"),
        ]
    for layer in layers:
        model.add_layer(layer)
    assert [p.name for p in model.get_params()[:3]] == ["gru.W_r", "gru.b_wr", "gru.W_i"]
    for k, p in enumerate(model.params):
        p.set_value(np.random.RandomState(k).normal(size=p.get_value().shape))
    given = np.random.RandomState(50).normal(size=(2, 2, 3))
    gru, lstm, fc = theano.function([x], [layer.output() for layer in layers])(given)
    g, m, f = ({p.name.split(".")[1]: p.get_value() for p in layer.params} for layer in layers)
    h = hm = c = np.zeros((2, 4))
    for t in range(2):
        u = given[t]
        keep = sigmoid(u @ g["W_i"] + g["b_wi"] + h @ g["R_i"] + g["b_ru"])
        reset = sigmoid(u @ g["W_r"] + g["b_wr"] + h @ g["R_r"] + g["b_rr"])
        new = np.tanh(u @ g["W_h"] + g["b_wh"] + reset * (h @ g["R_h"] + g["b_rh"]))
        h = (1 - keep) * new + keep * h
        a = {k: u @ m[f"W_{k}"] + m[f"b_w{k}"] + hm @ m[f"R_{k}"] + m[f"b_r{k}"] for k in "ifco"}
        c = sigmoid(a["f"]) * c + sigmoid(a["i"]) * np.tanh(a["c"])
        hm = sigmoid(a["o"]) * np.tanh(c)
        np.testing.assert_allclose(gru[t], h)
        np.testing.assert_allclose(lstm[t], hm)
    np.testing.assert_allclose(fc, given @ f["W"] + f["b"])


def test_without_a_device_the_helpers_are_a_skipped_test():
    code = """
import unittest
try:
    import theano.gpuarray.tests.config
except unittest.SkipTest as error:
    print(str(error)[:9])
"""
    done = run_python(code, JAX_PLATFORMS="cpu")
    assert done.returncode == 0 and done.stdout.splitlines() == ["no device"], done.stderr
