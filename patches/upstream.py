"""PyTensor's own tests of a release, run with copies of it."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from pathlib import Path

from patches.release import CheckError, Release
from tests_scan_grad.upstream.fetch import archive

# What is run: the tests of scan, of gradients, of rewriting and of what infers shapes
TESTS = (
    "tests/scan",
    "tests/graph/rewriting",
    "tests/graph/test_replace.py",
    "tests/compile/test_builders.py",
    "tests/tensor/rewriting/test_shape.py",
    "tests/tensor/rewriting/test_subtensor.py",
    "tests/tensor/rewriting/test_subtensor_lift.py",
    "tests/test_gradient.py",
    "tests/test_rop.py",
)

RECORDER = Path(__file__).with_name("record_outcomes.py")


def upstream_tests(version: str, local: str | None) -> Path:
    """The folder that holds the folder ``tests`` of a release.

    Parameters
    ----------
    version
        The release.
    local
        An archive of the repository at that release, used instead of the network.
    """
    url = f"https://github.com/pymc-devs/pytensor/archive/refs/tags/rel-{version}.tar.gz"
    return archive(f"pytensor-{version}", url, local)


@functools.cache
def outcomes(release: Release, path: Path, folder: Path) -> dict[str, str]:
    """How each test ends (passed, failed, skipped) with a copy of the release."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "upstream"
        shutil.copytree(folder, copy)
        shutil.copy(RECORDER, scratch)
        (copy / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\npythonpath = .. .\n")
        recorded = Path(scratch) / "outcomes.json"
        command = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["--continue-on-collection-errors"]
        command += ["-p", "record_outcomes", "--outcomes", str(recorded)]
        command += [test for test in TESTS if (copy / test).exists()]
        # The operations run in Python: nothing is compiled, and every rewrite still runs.
        done = release.process(command, path, copy, flags="cxx=,mode=CVM")
        if not recorded.exists():
            raise CheckError(f"pytest did not run:\n{done.stdout[-4000:]}")
        found = json.loads(recorded.read_text())
    if not found:
        raise CheckError(f"no test was run:\n{done.stdout[-4000:]}")
    return found


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The tests that end otherwise after a change."""
    return [
        f"{test}: {before.get(test, 'not run')} before, {after.get(test, 'not run')} after"
        for test in sorted({*before, *after})
        if before.get(test) != after.get(test)
    ]
