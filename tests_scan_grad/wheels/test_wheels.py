"""The wheels of a release, made for other platforms by Zig: ``--cross``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests_scan_grad.fresh_process import ROOT
from tests_scan_grad.wheels.__main__ import source_distribution, wheel
from tests_scan_grad.wheels.binaries import read
from tests_scan_grad.wheels.checks import faults_of_wheel
from theano.link.native.runtime import load
from theano.link.native.runtime.build import zig
from theano.link.native.runtime.targets import TARGETS


@pytest.mark.skipif(sys.platform != "linux", reason="the runtime is an ELF library on Linux")
def test_what_the_runtime_needs_of_this_system():
    binary = read(Path(load.library()._name).read_bytes())
    assert binary.machine == os.uname().machine and binary.needs > (2, 0)
    assert "libc.so.6" in binary.libraries


def test_what_is_no_library_is_refused():
    with pytest.raises(ValueError, match="no library"):
        read(b"#!/bin/sh")


@pytest.fixture(scope="module")
def source(request, tmp_path_factory):
    if not request.config.getoption("--cross"):
        pytest.skip("--cross runs it")
    pytest.importorskip("build")
    if zig() is None:
        pytest.skip("ziglang is not installed")
    return source_distribution(tmp_path_factory.mktemp("sdist"))


@pytest.mark.parametrize("platform", TARGETS)
def test_wheel(platform, source, tmp_path):
    assert faults_of_wheel(wheel(source, platform, tmp_path), platform) == []


README_EXAMPLE = "## A loop and its gradient"


@pytest.mark.skipif(sys.platform != "linux", reason="installs the wheel for Linux")
def test_readme_runs_from_the_wheel_where_no_compiler_is(source, tmp_path):
    """With the runtime of the wheel, and the packages that are installed here."""
    platform = f"linux-{os.uname().machine}"
    made, site = wheel(source, platform, tmp_path), tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site)]
    subprocess.run([*install, str(made)], check=True)
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition(README_EXAMPLE)[2]
    code = text.partition("```python\n")[2].partition("```")[0]
    code += "from theano.link.native.runtime import load\nprint(load.library()._name)\n"
    printed = text.partition("```text\n")[2].partition("```")[0]
    environment = os.environ | {
        "PATH": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(site), *map(str, _folders_of_zig())]),
        "THEANO_FLAGS": f"base_compiledir={tmp_path / 'cache'}",
        "THEANORC": os.devnull,
    }
    environment.pop("CC", None)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith(printed), done.stderr
    assert done.stdout.removeprefix(printed).strip().startswith(str(site)), done.stdout


def _folders_of_zig():
    command = zig()
    return [] if command is None else [Path(command[0]).parents[1]]
