"""``examples/data_parallel.py``: two devices of one process, and two processes, give the same."""

import os
import socket
import subprocess
import sys

import pytest

from tests_scan_grad.fresh_process import ROOT

pytest.importorskip("jax")

PROGRAM = ROOT / "examples" / "data_parallel.py"


def started(*arguments: str, devices: int = 1) -> subprocess.Popen:
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "THEANORC": os.devnull,
        "THEANO_FLAGS": "",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
    }
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def costs(process: subprocess.Popen) -> list[str]:
    output, errors = process.communicate(timeout=400)
    assert process.returncode == 0, errors
    return [line for line in output.splitlines() if line.startswith("batch")]


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("localhost", 0))
        return bound.getsockname()[1]


def test_two_processes_train_as_two_devices_of_one_do():
    address = f"localhost:{free_port()}"
    processes = [
        started("--coordinator", address, "--processes", "2", "--process", str(k)) for k in (0, 1)
    ]
    try:
        first, second = map(costs, processes)
    finally:
        for process in processes:
            process.kill()
    assert len(first) == 5
    assert first == second == costs(started(devices=2)) == costs(started(devices=1))
