"""The suites of upstream tests: where each comes from and what of it is run."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytensor

from tests_scan_grad.upstream.fetch import NotFetchedError, archive, source_distribution

VERSION = pytensor.__version__


@dataclass(frozen=True)
class Suite:
    """Tests of another project.

    Attributes
    ----------
    name
        Name of the suite and of its lists of expected failures.
    fetch
        Returns the folder that holds its folder ``tests``.
    files
        What is run of it, relative to that folder.
    ancestor
        The name that these tests import PyTensor by, if it is another.
    options
        Further options of pytest.
    """

    name: str
    fetch: Callable[[], Path]
    files: tuple[str, ...]
    ancestor: str | None = None
    options: tuple[str, ...] = ()


# PyTensor's source distribution holds the tests in the folder tests alone, none of those below
# it; its repository holds all. PyMC's is alike.
pytensor_repository = partial(
    archive,
    name=f"pytensor-{VERSION}",
    url=f"https://github.com/pymc-devs/pytensor/archive/refs/tags/rel-{VERSION}.tar.gz",
    local=os.environ.get("PYTENSOR_ARCHIVE"),
)


def pymc_repository() -> Path:
    """The folder with the tests of the PyMC that is installed."""
    try:
        release = version("pymc")
    except PackageNotFoundError as error:
        raise NotFetchedError("PyMC is not installed") from error
    return archive(
        name=f"pymc-{release}",
        url=f"https://github.com/pymc-devs/pymc/archive/refs/tags/v{release}.tar.gz",
        local=os.environ.get("PYMC_ARCHIVE"),
    )


PYTENSOR_SCAN = Suite(
    name="pytensor_scan",
    fetch=pytensor_repository,
    files=(
        "tests/scan/test_basic.py",
        "tests/scan/test_checkpoints.py",
        "tests/scan/test_printing.py",
        "tests/scan/test_utils.py",
        "tests/scan/test_views.py",
        "tests/scan/rewriting/test_db.py",
        "tests/scan/rewriting/test_inplace.py",
        "tests/scan/rewriting/test_io.py",
        "tests/scan/rewriting/test_merge.py",
        "tests/scan/rewriting/test_push_out.py",
        "tests/scan/rewriting/test_trace.py",
    ),
)
PYTENSOR_GRADIENT = Suite(
    name="pytensor_gradient",
    fetch=partial(source_distribution, "pytensor", VERSION),
    files=("tests/test_gradient.py", "tests/test_rop.py"),
)
AESARA_SCAN = Suite(
    name="aesara_scan",
    fetch=partial(source_distribution, "aesara", "2.9.4"),
    files=(
        "tests/scan/test_basic.py",
        "tests/scan/test_checkpoints.py",
        "tests/scan/test_rewriting.py",
        "tests/scan/test_views.py",
    ),
    ancestor="aesara",
)


def _operators(area: str, *files: str) -> Suite:
    """A suite of PyTensor's tests of an area of its operators, those that it calls slow left out."""
    return Suite(f"pytensor_{area}", pytensor_repository, files, options=("-m", "not slow"))


# As PyTensor 3.3 names them
PYTENSOR_OPERATORS = (
    _operators(
        "elemwise", "tests/tensor/test_elemwise.py", "tests/tensor/rewriting/test_elemwise.py"
    ),
    _operators(
        "subtensor",
        "tests/tensor/test_subtensor.py",
        "tests/tensor/rewriting/test_subtensor.py",
        "tests/tensor/rewriting/test_subtensor_lift.py",
    ),
    _operators(
        "blas",
        "tests/tensor/test_blas.py",
        "tests/tensor/test_blas_c.py",
        "tests/tensor/rewriting/test_blas.py",
    ),
    _operators("shape", "tests/tensor/test_shape.py", "tests/tensor/rewriting/test_shape.py"),
    _operators("linalg", "tests/tensor/linalg", "tests/tensor/rewriting/linalg"),
)

# One in four, spread over all of their files, is about 500.
PYMC = Suite(
    name="pymc",
    fetch=pymc_repository,
    files=("tests/distributions", "tests/logprob", "tests/sampling"),
    options=("-p", "tests_scan_grad.upstream.part_of_tests", "--one-in", "4"),
)
