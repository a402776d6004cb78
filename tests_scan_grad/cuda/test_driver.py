"""Launches by the driver's calls, on a stand-in for the driver; and NVRTC, where it is installed."""

from __future__ import annotations

import ctypes

import pytest

from tests_scan_grad.cuda import measured
from tests_scan_grad.cuda.driver import Driver, DriverError
from tests_scan_grad.cuda.host import built, needs_compiler
from theano.link.cuda import CompilationFailed, Kernel, NoCompiler, compiled, nvrtc, report
from theano.link.cuda.nvrtc import kept_code, library


def on_the_host(kernel: Kernel, architecture: str) -> bytes:
    """Return what stands for code: the name of a library."""
    assert architecture == "sm_90"
    return str(built(kernel, ("-shared", "-fPIC"))).encode()


@needs_compiler
def test_measured_rows(stand_in, monkeypatch):
    monkeypatch.setattr(measured, "REPEATS", 2)
    heading, forward, backward, error = measured.rows_of(stand_in.path, on_the_host, [(2, 6, 4)])
    assert heading.startswith("the host, sm_90")
    assert "gated, " in forward and "grad_of_gated, " in backward
    assert float(error.split()[-1]) < 1e-5
    assert stand_in.launched == 2 * (1 + 2)
    assert stand_in.allocated == 0


@needs_compiler
def test_an_error_of_the_driver_has_the_name_of_the_call(stand_in):
    with (
        Driver(stand_in.path) as found,
        pytest.raises(DriverError, match="cuModuleLoadData returned 1"),
    ):
        found.call("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), b"/no/such/library")


def nvrtc_is_there() -> bool:
    try:
        return library() is not None
    except NoCompiler:
        return False


needs_nvrtc = pytest.mark.skipif(not nvrtc_is_there(), reason="NVRTC is not installed")


@needs_nvrtc
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
def test_nvrtc_compiles_a_kernel(architecture):
    inputs = [value.astype("float32") for value in measured.values_of(2, 64, 3)]
    (forward, _) = report(measured.gated_gradient("float32"), *inputs).loops
    assert forward.kernel is not None
    assert compiled(forward.kernel.source, architecture).startswith(b"\x7fELF")


@needs_nvrtc
def test_code_is_compiled_once(monkeypatch, tmp_path):
    source, runs = 'extern "C" __global__ void nothing() {}', []
    compile_ = nvrtc.compiled
    monkeypatch.setattr(nvrtc, "compiled", lambda *given: runs.append(given) or compile_(*given))
    monkeypatch.setattr(nvrtc, "cache_folder", lambda: tmp_path)
    codes = {kept_code(source, "sm_90") for _ in range(3)}
    assert len(codes) == len(runs) == 1
    assert codes != {kept_code(source, "sm_80")}


@needs_nvrtc
def test_an_error_of_nvrtc_has_its_log():
    with pytest.raises(CompilationFailed, match="expected"):
        compiled("not a program", "sm_90")


@pytest.mark.skipif(nvrtc_is_there(), reason="NVRTC is installed")
def test_without_nvrtc_the_error_says_what_to_install():
    with pytest.raises(NoCompiler, match="nvidia-cuda-nvrtc"):
        compiled("", "sm_90")
