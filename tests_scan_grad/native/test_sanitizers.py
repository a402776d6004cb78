"""Generated loops and segments, compiled with the address and undefined-behaviour sanitizers.

Whole test files run so, in their own process, to their end: ``--sanitizers``. Threads are
looked at by programs in C: see test_runtime.py and test_threads.py.
"""

import os
import shlex
import subprocess
import sys

import pytest

from tests_scan_grad.fresh_process import ROOT
from theano.link.native.runtime.build import find_compiler

FILES = {
    "tests_scan_grad/native/test_generated.py": "",
    "tests_scan_grad/native/lowering/test_lowering_generated.py": "",
    "tests_scan_grad/native/lowering/test_lowering_operations.py": "not large",
    "tests_scan_grad/native/lowering/test_lowering_products.py": "",
    "tests_scan_grad/native/lowering/test_linear_algebra.py": "",
    "tests_scan_grad/native/lowering/test_choices_in_steps.py": "",
    "tests_scan_grad/native/lowering/test_convolve1d.py": "",
    "tests_scan_grad/native/lowering/test_sylvester.py": "",
    "tests_scan_grad/native/lowering/test_correlations.py": "",
    "tests_scan_grad/native/runtime/test_runtime_correlations.py": "",
    "tests_scan_grad/native/lowering/test_masks.py": "",
    "tests_scan_grad/native/lowering/test_special_functions.py": "",
    "tests_scan_grad/native/test_segments.py": "not compiler",
    "tests_scan_grad/native/passes/test_results_in_memory.py": "",
    "tests_scan_grad/native/passes/test_copies_and_slices.py": "",
    "tests_scan_grad/native/passes/test_cumulative_sums.py": "",
    "tests_scan_grad/native/passes/test_states_in_place.py": "",
    "tests_scan_grad/native/passes/test_split_maps.py": "",
    "tests_scan_grad/native/passes/test_reductions_in_registers.py": "",
    "tests_scan_grad/native/passes/test_computed_again.py": "",
    "tests_scan_grad/native/test_blocks_of_steps.py": "",
    "tests_scan_grad/native/test_loops.py": "",
    "tests_scan_grad/native/passes/test_row_by_row.py": "",
    "tests_scan_grad/native/lowering/test_generator_samples.py": "",
    "tests_scan_grad/native/lowering/test_generators.py": "",
    "tests_scan_grad/native/lowering/test_generator_choices.py": "",
    "tests_scan_grad/native/lowering/test_normal_rows.py": "",
    "tests_scan_grad/native/lowering/test_ufunc_loops.py": "",
    "tests_scan_grad/native/programs/test_python_parts.py": "",
    "tests_scan_grad/loop_rewrites/test_loops_in_batches.py": "static",
    "tests_scan_grad/pymc/test_prediction.py": "",
    "tests_scan_grad/pymc/test_python_parts.py": "",
    "tests_scan_grad/native/passes/test_dead_results.py": "",
    "tests_scan_grad/native/passes/test_scalar_loops.py": "",
    "tests_scan_grad/native/runtime/test_shared_parts.py": "",
    "tests_scan_grad/native/lowering/test_pooling.py": "",
    "tests_scan_grad/native/lowering/test_neighbours.py": "not XLA",
    "tests_scan_grad/native/lowering/test_ctc.py": "not XLA",
    "tests_scan_grad/native/test_threads.py": "not sanitizers",
    "tests_scan_grad/generated/test_generated_loops.py": "not cover_every",
    "tests_scan_grad/functions/test_failed_calls.py": "FAST_RUN or in_place or interrupted",
    "tests_scan_grad/loops/test_locks.py": "FAST_RUN or held or forked",
}

# Without what the compiler's own process must not load, and with a little optimization.
WRAPPER = """#!/bin/sh
unset LD_PRELOAD
exec {compiler} "$@" -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
"""


@pytest.fixture(scope="module")
def sanitized(with_sanitizers, tmp_path_factory):
    """The environment of a process that compiles with the sanitizers, and has them loaded."""
    compiler = find_compiler()
    if sys.platform != "linux" or compiler is None:
        pytest.skip("the sanitizers' flags are those of compilers on Linux")
    folder = tmp_path_factory.mktemp("sanitized")
    wrapper = folder / "cc"
    wrapper.write_text(WRAPPER.format(compiler=shlex.join(compiler)))
    wrapper.chmod(0o755)
    libraries = [
        subprocess.run(
            [*compiler, f"-print-file-name={name}"], capture_output=True, text=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    if not all(map(os.path.isabs, libraries)):
        pytest.skip(f"{shlex.join(compiler)} has no sanitizers")
    return os.environ | {
        "CC": str(wrapper),
        "LD_PRELOAD": " ".join(libraries),
        # Python keeps memory until it ends; what is too large is refused as without sanitizers
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "THEANO_FLAGS": f"base_compiledir={folder / 'compiled'}",
        "THEANORC": os.devnull,
        "PYTHONPATH": str(ROOT),
    }


@pytest.mark.timeout(0)
@pytest.mark.parametrize("file", FILES)
def test_nothing_is_read_or_written_where_it_should_not_be(sanitized, file):
    if "/pymc/" in file:
        pytest.importorskip("pymc", reason="needs the extra [pymc]")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", file]
    # compiling with the sanitizers takes long, the first time even for a single test
    command += ["-o", "timeout=0", "--generated-loops=60"]
    command += ["-k", FILES[file]] if FILES[file] else []
    done = subprocess.run(command, env=sanitized, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]
