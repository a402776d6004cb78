"""Theano's tests for GPUs that run here: on the XLA engine, on a GPU or with ``xla:cpu`` as one.

No record of Theano 1.0.5 says which of them pass, for want of a GPU that it runs on. What fails is
in the lists of expected failures, of tests that ask for libgpuarray's operators and arrays most of
all. `gpu_names` says what stands for these.
"""

from collections.abc import Sequence
from pathlib import Path

from tests_scan_grad.upstream.fetch import source_distribution
from tests_scan_grad.upstream.run import Outcome
from tests_scan_grad.upstream.theano_tests.run import VERSION, is_test, run_module

FLAGS = "linker=xla,print_active_device=False"

# What is run in each test run, with --heavy, and on request. The others cannot be imported, as they
# are tests of CUDA's kernels, or, `test_abstractconv`, have too many tests.
QUICK = ("test_pickle",)
HEAVY = ("test_misc", "test_others", "test_scan")
ON_REQUEST = (
    "test_basic_ops",
    "test_blas",
    "test_blocksparse",
    "test_ctc",
    "test_dnn",
    "test_elemwise",
    "test_fft",
    "test_gemmcorr",
    "test_gemmcorr3d",
    "test_multinomial",
    "test_neighbours",
    "test_nnet",
    "test_opt",
    "test_pool",
    "test_reduction",
    "test_rng_mrg",
    "test_sort",
    "test_subtensor",
    "test_type",
)


def fetched_with_gpu() -> Path:
    """The folder with all of Theano's tests."""

    def wanted(path: str) -> bool:
        return is_test(path) or path.startswith("theano/gpuarray/tests/")

    return source_distribution("theano", VERSION, wanted, part="sdist-gpu")


def run_gpu_module(module: str, deselected: Sequence[str] = ()) -> dict[str, Outcome]:
    """Run the tests of a module for GPUs."""
    import jax

    device = "cuda" if jax.default_backend() == "gpu" else "xla:cpu"
    return run_module(
        module,
        deselected=deselected,
        folder=fetched_with_gpu(),
        flags=f"init_gpu_device={device},{FLAGS}",
        plugins=["tests_scan_grad.upstream.theano_tests.gpu_names"],
    )
