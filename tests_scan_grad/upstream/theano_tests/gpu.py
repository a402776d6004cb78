"""Theano's tests for GPUs that run here: on the XLA engine, with ``xla:cpu`` as the device.

Most of those tests look for operators of libgpuarray and cuDNN in the compiled graph, or call
libgpuarray themselves; there are none of these here. No record of Theano 1.0.5 says which of
them pass, for want of a GPU that it runs on.
"""

from pathlib import Path

from tests_scan_grad.upstream.fetch import source_distribution
from tests_scan_grad.upstream.run import Outcome
from tests_scan_grad.upstream.theano_tests.run import VERSION, is_test, run_module

FLAGS = "init_gpu_device=xla:cpu,linker=xla,print_active_device=False"

# module -> the tests that pass
PASSING = {
    "theano/gpuarray/tests/test_dnn.py": (
        "test_dnn_rnn_gru",
        "test_dnn_rnn_gru_bidi",
        "test_dnn_rnn_lstm",
        "test_dnn_rnn_lstm_grad_c",
    ),
    "theano/gpuarray/tests/test_misc.py": ("test_nan_guard_mode",),
    "theano/gpuarray/tests/test_pickle.py": ("test_unpickle_gpuarray_as_numpy_ndarray_flag2",),
}


def fetched_with_gpu() -> Path:
    """The folder with all of Theano's tests."""

    def wanted(path: str) -> bool:
        return is_test(path) or path.startswith("theano/gpuarray/tests/")

    return source_distribution("theano", VERSION, wanted, part="sdist-gpu")


def run_gpu_module(module: str) -> dict[str, Outcome]:
    """Run the tests of a module for GPUs."""
    return run_module(module, folder=fetched_with_gpu(), flags=FLAGS)
