"""Coverage of the names that public Theano programs use.

`api_surface.txt` lists each name that 20 public programs use, after how many of them do;
`imported_names.txt` what 625 files of 28 public projects import; `tutorial_names.txt` what the pages of
Theano 1.0.5's tutorial use in their programs, after how many of 26 pages do, and
`deep_learning_tutorial_names.txt` the same of 31 programs of the Deep Learning Tutorials.
``T.`` stands for ``theano.tensor.``, and ``module:name`` for ``from module import name``.
"""

import importlib
import re
from pathlib import Path

import pytest

from tests_scan_grad.fresh_process import printed_by

SURFACE = Path(__file__).with_name("api_surface.txt")
IMPORTED = Path(__file__).with_name("imported_names.txt")
TUTORIAL = Path(__file__).with_name("tutorial_names.txt")
DEEP_LEARNING = Path(__file__).with_name("deep_learning_tutorial_names.txt")
ALL = (SURFACE, IMPORTED, TUTORIAL, DEEP_LEARNING)
README = Path(__file__).parents[2] / "README.md"

OLD_GPU = "the old GPU back-end, which Theano 1.0 itself had removed"
KERNELS = "libgpuarray's own CUDA code: here XLA makes the kernels"
NOT_A_NAME = "not a name of Theano 1.0: text that the search took for one"

BEFORE = "a name of Theano before 1.0, which 1.0 itself had removed"
TESTS = "what Theano's own tests use to record and compare two runs"
# All that is left of the old GPU back-end, for programs that ask whether it is there.
OF_OLD_GPU = {
    "theano.sandbox.cuda",
    "theano.sandbox:cuda",
    "theano.sandbox.cuda.cuda_available",
    "theano.sandbox.cuda:cuda_available",
    "theano.sandbox.cuda.cuda_enabled",
    "theano.sandbox.cuda:cuda_enabled",
    "theano.sandbox.cuda.use",
    "theano.sandbox.cuda:use",
}

# A name, or the start of names up to a dot or a colon, and why it does not resolve.
MISSING = {
    "theano.sandbox.cuda": OLD_GPU,
    "theano.sandbox:cuda": OLD_GPU,
    "theano.sandbox.gpuarray": "an older place of theano.gpuarray, which Theano 1.0 had removed",
    "theano.sandbox:gpuarray": "an older place of theano.gpuarray, which Theano 1.0 had removed",
    "theano.gpuarray.basic_ops:GpuEye": KERNELS,
    "theano.gpuarray.fp16_help": KERNELS,
    "theano.gof.compilelock.set_lock_status": "PyTensor's compilation lock cannot be turned off",
    "theano.py": NOT_A_NAME,
    "theano.readthedocs": NOT_A_NAME,
    "theano.rng": NOT_A_NAME,
    "theano.signal": NOT_A_NAME,
    "theano.tensor.signal.pool_2d": NOT_A_NAME,
    "theano.tensor.signal.pool_3d": NOT_A_NAME,
    "theano.sandbox.scan": BEFORE,
    "theano.misc.pycuda_init": BEFORE,
    "theano.misc.pycuda_utils": BEFORE,
    "theano.gof:Value": BEFORE,
    "theano.tensor.nnet.Conv3D": BEFORE,
    "theano.tests.record": TESTS,
    "theano.printing:_TagGenerator": "a private class of Theano's printer",
}


def read_surface(*files: Path) -> dict[str, int]:
    """Return how many programs use each name."""
    texts = [file.read_text(encoding="utf-8") for file in files or (SURFACE,)]
    lines = [line.split() for text in texts for line in text.splitlines()]
    return {name: int(count) for count, name in lines}


def resolve(name: str) -> object:
    """Find what `name` stands for, as the program that uses it would."""
    if name.startswith("T."):
        name = "theano.tensor." + name[2:]
    path, _, imported = name.partition(":")
    parts = [*path.split("."), *([imported] if imported not in ("", "*") else [])]
    found: object = importlib.import_module(parts[0])
    for depth, part in enumerate(parts[1:], start=2):
        if hasattr(found, part):
            found = getattr(found, part)
        else:
            found = importlib.import_module(".".join(parts[:depth]))
    return found


def why_missing(name: str) -> str | None:
    """Return the reason that `MISSING` gives for a name, or None."""
    if name in OF_OLD_GPU:
        return None
    for start, reason in MISSING.items():
        if name == start or name.startswith((start + ".", start + ":")):
            return reason
    return None


@pytest.mark.parametrize("name", read_surface(*ALL))
def test_name_resolves_unless_the_list_says_why_not(name):
    reason = why_missing(name)
    if reason is None:
        resolve(name)
    else:
        with pytest.raises((ImportError, AttributeError)):
            resolve(name)


def test_each_reason_is_needed():
    used = {
        start
        for start in MISSING
        for name in read_surface(*ALL)
        if name == start or name.startswith((start + ".", start + ":"))
    }
    assert used == set(MISSING)


# Modules that programs reach by their package, having imported no more than theano, or gpuarray.
REACHED = {
    "theano": (
        "scan_module.scan_utils",
        "tensor.opt_uncanonicalize",
        "tests",
        "tensor.signal.pool",
    ),
    "theano.gpuarray": (
        "blas.GpuCorrMM",
        "pool.GpuPool",
        "nnet",
        "opt",
        "neighbours",
        "fft",
        "ctc",
    ),
}


@pytest.mark.parametrize("package", REACHED)
def test_modules_are_reached_by_their_package(package):
    reads = "; ".join(f"m.{name}" for name in REACHED[package])
    assert printed_by(f"import {package} as m; {reads}; print('reached')")[-1] == "reached"


def there_of(file: Path) -> tuple[int, int]:
    """Return how many of the names in a file resolve, and how many there are."""
    names = read_surface(file)
    return sum(why_missing(name) is None for name in names), len(names)


def test_readme_has_these_numbers():
    counts = [number for file in (SURFACE, TUTORIAL, DEEP_LEARNING) for number in there_of(file)]
    found = re.search(
        r"The package has (\d+) of the (\d+) names of Theano that 20 public programs use, (\d+) of the (\d+) in"
        r" the programs of Theano 1.0.5's tutorial, and (\d+) of the (\d+) in the Deep Learning Tutorials;",
        README.read_text(encoding="utf-8"),
    )
    assert [*map(int, found.groups())] == counts
