"""``python -m tests_scan_grad.wheels FOLDER``: make a release's wheels and source distribution, and check them.

It needs ``pip install build twine ziglang``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests_scan_grad.fresh_process import ROOT
from tests_scan_grad.wheels.checks import faults_of_wheel
from theano.link.native.runtime.targets import TARGETS


def source_distribution(folder: Path) -> Path:
    """Make the source distribution."""
    _build("--sdist", ROOT, folder)
    (made,) = folder.glob("theano_scan-*.tar.gz")
    return made


def wheel(source: Path, platform: str, folder: Path) -> Path:
    """Make the wheel for a platform of `TARGETS` from the source distribution."""
    # unpacked for each, as what is built for one platform must not enter another's wheel
    with tempfile.TemporaryDirectory() as work, tarfile.open(source) as archive:
        archive.extractall(work, filter="data")
        (unpacked,) = Path(work).iterdir()
        _build("--wheel", unpacked, folder, THEANO_SCAN_TARGET=platform)
    (made,) = folder.glob(f"theano_scan-*-{TARGETS[platform].tag}.whl")
    return made


def _build(kind: str, source: Path, folder: Path, **environment: str) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", kind, "-o", str(folder), "."]
    done = subprocess.run(
        command,
        cwd=source,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-4000:]}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make what is asked for, and print what is wrong with it; return whether anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests_scan_grad.wheels", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files are put")
    parser.add_argument("--only", nargs="+", choices=TARGETS, default=[*TARGETS])
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    made = [source_distribution(folder)]
    found = False
    for platform in options.only:
        made.append(wheel(made[0], platform, folder))
        faults = faults_of_wheel(made[-1], platform)
        found |= bool(faults)
        print(made[-1].name, *(faults or ["as it should be"]), sep="\n  ", flush=True)
    check = [sys.executable, "-m", "twine", "check", "--strict", *map(str, made)]
    return int(subprocess.run(check, check=False).returncode != 0 or found)


if __name__ == "__main__":
    sys.exit(main())
