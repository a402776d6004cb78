"""The suites of upstream tests: where each comes from and what of it is run."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytensor

from tests_scan_grad.upstream.fetch import archive, source_distribution

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
    """

    name: str
    fetch: Callable[[], Path]
    files: tuple[str, ...]
    ancestor: str | None = None


# PyTensor's source distribution holds the tests in the folder tests alone, none of those below
# it; its repository holds all.
PYTENSOR_SCAN = Suite(
    name="pytensor_scan",
    fetch=partial(
        archive,
        name=f"pytensor-{VERSION}",
        url=f"https://github.com/pymc-devs/pytensor/archive/refs/tags/rel-{VERSION}.tar.gz",
        local=os.environ.get("PYTENSOR_ARCHIVE"),
    ),
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
