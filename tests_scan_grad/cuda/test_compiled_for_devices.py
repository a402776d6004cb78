"""Kernels as a device's compiler takes them: registers, and that none are spilled."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import theano
from tests_scan_grad.cuda.functions import kernel_of_blocks, loops_of
from tests_scan_grad.cuda.test_kernels_on_the_host import REFUSED, function_of
from tests_scan_grad.loop_rewrites.test_golden_loops import FUNCTIONS
from theano.link.cuda.kernel import Kernel
from theano.link.cuda.model import Device

NVCC = shutil.which("nvcc")
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
# what 256 threads of a block may have each of 65,536
MOST_REGISTERS = 255

pytestmark = pytest.mark.skipif(NVCC is None, reason="there is no nvcc to compile kernels")


def kernels_of(name: str) -> list[Kernel]:
    """Return the kernels of a network for a device."""
    loops = loops_of(*function_of(name))
    return [kernel_of_blocks(node, inputs, Device()) for node, inputs in loops]


def compiled_by_nvcc(kernel: Kernel, architecture: str, folder) -> tuple[int, int]:
    """Return the registers of a thread, and the bytes that are spilled."""
    source = folder / f"{kernel.name}.cu"
    source.write_text(kernel.source)
    command = [NVCC, "-std=c++17", f"-arch={architecture}", "-cubin", "-Xptxas", "-v"]
    command += ["-o", folder / "kernel.cubin", source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    assert "warning" not in done.stderr, done.stderr
    registers = int(re.search(r"Used (\d+) registers", done.stderr)[1])
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill", done.stderr)))
    return registers, spilled


def check_network(name: str, architecture: str, folder) -> None:
    """Compile the kernels of a network in float32."""
    with theano.config.change_flags(floatX="float32"):
        kernels = kernels_of(name)
    assert kernels
    for kernel in kernels:
        registers, spilled = compiled_by_nvcc(kernel, architecture, folder)
        assert registers <= MOST_REGISTERS
        assert spilled == 0, f"{kernel.name} spills {spilled} bytes"


@pytest.mark.parametrize("name", ["gated_rnn", "lstm"])
def test_a_network_compiles_without_spills(name, tmp_path):
    check_network(name, "sm_90", tmp_path)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in REFUSED])
def test_all_networks_compile_without_spills(name, architecture, tmp_path):
    check_network(name, architecture, tmp_path)
