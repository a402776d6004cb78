"""The flags that choose a device, and what is said where it, or JAX, is missing."""

from __future__ import annotations

import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by, run_python
from theano.link.xla import dtypes
from theano.link.xla.dtypes import has_dtype

jax = pytest.importorskip("jax")

NO_JAX = (
    "import sys; sys.modules['jax'] = None; import theano, theano.tensor as T\nx = T.scalar()\n"
)
ENGINES = (
    "import theano, theano.tensor as T\n"
    "x = T.scalar()\n"
    "for mode in (None, 'FAST_RUN', 'NATIVE', theano.Mode(linker='py'), theano.Mode()):\n"
    "    f = theano.function([x], 2 * x, mode=mode)\n"
    "    print(type(f.maker.linker).__name__, float(f(1.5)))\n"
)


def test_importing_theano_imports_no_jax():
    assert printed_by("import theano, sys; print('jax' in sys.modules)") == ["False"]


def test_a_device_of_xla_is_the_default_engines():
    done = run_python(ENGINES, THEANO_FLAGS="device=xla:cpu")
    assert done.stdout.splitlines() == [
        "XLALinker 3.0",
        "XLALinker 3.0",
        "NativeLinker 3.0",
        "PerformLinker 3.0",
        "XLALinker 3.0",
    ]
    assert "to device xla:cpu" in done.stderr
    quiet = run_python("import theano", THEANO_FLAGS="device=xla:cpu,print_active_device=False")
    assert quiet.stderr == ""


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="there is a GPU")
def test_without_the_gpu_the_cpu_computes_and_a_message_says_so():
    done = run_python(ENGINES, THEANO_FLAGS="device=cuda")
    assert done.stdout.splitlines()[0] == "NativeLinker 3.0"
    assert "device 'cuda': JAX sees no GPU here" in done.stderr
    forced = run_python("import theano", THEANO_FLAGS="device=cuda,force_device=True")
    assert forced.stderr.splitlines()[-1].startswith("RuntimeError: device 'cuda': JAX sees no GPU")


def test_a_number_without_a_device_is_an_error():
    done = run_python("import theano", THEANO_FLAGS="device=xla:cpu7,force_device=True")
    assert "RuntimeError: device 'xla:cpu7': this machine has xla:cpu0" in done.stderr


def test_without_jax_a_message_says_what_to_install():
    done = run_python(NO_JAX + "theano.function([x], x, mode='XLA')")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError") and "pip install 'theano-scan[gpu]'" in last
    done = run_python(NO_JAX + "print(theano.function([x], 2 * x)(1))", THEANO_FLAGS="device=cuda")
    assert done.stdout.split() == ["2.0"]
    assert "pip install 'theano-scan[gpu]'" in done.stderr


def test_an_array_that_does_not_fit_is_a_memory_error():
    n, x = T.lscalar("n"), T.scalar("x")
    f = theano.function([n, x], T.alloc(x, n, n), mode="XLA")
    with pytest.raises(
        MemoryError, match="(xla:cpu|cuda) has not enough memory|results of this call would take"
    ):
        f(10**7, 1.0)
    assert f(2, 1.0).shape == (2, 2)


def test_a_dtype_that_the_device_lacks_is_an_error(monkeypatch):
    device = jax.devices("cpu")[0]
    assert has_dtype(device, "complex128") and not has_dtype(device, "longdouble")
    z = T.zmatrix("z")
    assert theano.function([z], abs(z).sum(), mode="XLA")([[3 + 4j]]) == 5
    monkeypatch.setattr(dtypes, "has_dtype", lambda device, dtype: dtype != "complex128")
    with pytest.raises(TypeError, match="has no values of dtype complex128, which z has"):
        theano.function([z], abs(z).sum(), mode="XLA")
