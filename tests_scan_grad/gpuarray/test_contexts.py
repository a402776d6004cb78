"""Contexts and transfers: on two virtual devices, in their own process."""

import pytest

from tests_scan_grad.fresh_process import printed_by, run_python
from tests_scan_grad.gpuarray.checks import complaints, names_of

pytest.importorskip("jax")

CONTEXTS = "contexts=dev0->xla:cpu0;dev1->xla:cpu1,print_active_device=False"
NAMES = names_of("two_devices")


@pytest.mark.parametrize("name", NAMES)
def test_on_two_devices(name):
    assert complaints("two_devices", CONTEXTS)[name] == ""


def test_all_checks_ran():
    assert sorted(complaints("two_devices", CONTEXTS)) == sorted(NAMES)


ERRORS = """
import numpy as np, theano, theano.tensor as T
from theano import gpuarray

def error_of(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)

x = T.matrix("x")
error_of(lambda: x.transfer("dev0"))
error_of(lambda: theano.shared(np.ones(2), target="dev0"))
error_of(lambda: gpuarray.gpuarray_shared_constructor(np.ones(2)))
error_of(lambda: gpuarray.init_dev("tpu7"))
error_of(lambda: gpuarray.init_dev("xla:cpu9"))
error_of(lambda: gpuarray.init_dev("cuda"))
gpuarray.init_dev("xla:cpu", "dev0")
error_of(lambda: gpuarray.init_dev("xla:cpu", "dev0"))
error_of(lambda: gpuarray.reg_context("dev1", "cuda0"))
error_of(lambda: x.transfer("dev1"))
error_of(lambda: gpuarray.GpuArrayType("complex64", (False,), "dev0"))
error_of(lambda: gpuarray.gpuarray_shared_constructor(np.float32(1) * np.ones(()), target="cpu"))
error_of(lambda: gpuarray.use("xla:cpu", force=True))
w = theano.shared(np.ones((2, 2)), target="dev0")
error_of(lambda: w.set_value(np.ones(2)))
error_of(lambda: w.set_value(np.ones((2, 2), complex)))
"""


def test_errors_say_what_was_expected():
    import jax

    if any(device.platform != "cpu" for device in jax.devices()):
        pytest.skip("this machine has a GPU, which a line of the program takes as missing")
    lines = printed_by(ERRORS, THEANO_FLAGS="print_active_device=False")
    expected = [
        "ContextNotDefined context name dev0 not defined; defined are: none. Map it with the flag",
        "ContextNotDefined context name dev0 not defined",
        "TypeError No default context and no context specified",
        "ValueError device 'tpu7': the devices are cuda, gpu, xla:gpu and xla:cpu",
        "RuntimeError device 'xla:cpu9': this machine has xla:cpu0 only; for two of",
        "RuntimeError device 'cuda': JAX sees no GPU here. Install the GPU's JAX",
        "ValueError context name dev0 is already defined",
        "TypeError reg_context: a Context is needed; got 'cuda0'",
        "ContextNotDefined context name dev1 not defined; defined are: dev0",
        "TypeError Unsupported dtype for GpuArrayType: complex64",
        "TypeError gpuarray_shared_constructor: the target 'cpu' is not a device's",
        "RuntimeError use: the device xla:cpu is in use already",
        "Wrong number of dimensions: expected 2, got 1 with shape (2,).",
        "cannot store a value of dtype complex128 without risking loss of precision",
    ]
    assert len(lines) == len(expected), lines
    for line, start in zip(lines, expected, strict=True):
        assert start in line, line


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("contexts=dev0", "expected name->device;name->device"),
        ("contexts=dev0->tpu,force_device=True", "device 'tpu': the devices are cuda"),
    ],
)
def test_a_wrong_flag_is_an_error_at_import(flags, message):
    done = run_python("import theano", THEANO_FLAGS=flags)
    assert done.returncode != 0 and message in done.stderr


def test_a_missing_device_is_logged_where_it_need_not_be_there():
    done = run_python(
        "import theano; print(theano.gpuarray.pygpu_activated)", THEANO_FLAGS="contexts=a->tpu"
    )
    assert done.stdout == "False\n", done.stderr
    assert "Could not use the device: device 'tpu': the devices are cuda" in done.stderr


def test_mapping_is_told():
    done = run_python("import theano", THEANO_FLAGS="contexts=dev0->xla:cpu")
    assert "Mapped name dev0 to device xla:cpu: cpu (" in done.stderr


def test_engine_of_devices_can_be_asked_for_by_the_flag_linker():
    program = """
import numpy as np, theano, theano.tensor as T
x = T.vector("x")
f = theano.function([x], x.sum())
print(f(np.ones(3)), type(f.maker.linker).__name__)
"""
    assert printed_by(program, THEANO_FLAGS="linker=xla") == ["3.0 XLALinker"]


def test_theanos_linkers_run_on_the_device_that_the_flags_name():
    program = """
import numpy as np, theano, theano.tensor as T
x = T.vector("x")
for mode in (None, theano.Mode("cvm"), theano.Mode("vm_nogc")):
    f = theano.function([x], x.sum(), mode=mode)
    print(f(np.ones(3)), type(f.maker.linker).__name__)
"""
    flags = "device=xla:cpu,linker=cvm,print_active_device=False"
    assert printed_by(program, THEANO_FLAGS=flags) == ["3.0 XLALinker"] * 3


def test_theano_alone_does_not_import_jax():
    assert printed_by("import sys, theano; print('jax' in sys.modules)") == ["False"]


def test_default_context_of_the_flag_takes_arrays_and_no_scalars():
    program = """
import numpy as np, theano
from theano import gpuarray
w = gpuarray.gpuarray_shared_constructor(np.ones((2, 2), "float32"))
print(w.type, w.type.context.dev)
try:
    gpuarray.gpuarray_shared_constructor(np.asarray(1, "float32"))
except TypeError as error:
    print(error)
print(gpuarray.gpuarray_shared_constructor(np.asarray(1, "float32"), target=None).type)
"""
    assert printed_by(program, THEANO_FLAGS="init_gpu_device=xla:cpu") == [
        "GpuArrayType<None>(float32, (None, None)) xla:cpu",
        "a scalar goes to a device only if `target` names its context",
        "GpuArrayType<None>(float32, ())",
    ]
