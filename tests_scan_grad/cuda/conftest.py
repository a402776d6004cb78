"""The stand-in for CUDA's driver, as a fixture."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests_scan_grad.cuda.host import COMPILER

SOURCE = Path(__file__).with_name("stand_in_driver.cpp")
# what tests read and set, at first
AT_FIRST = {"loaded": 0, "launched": 0, "allocated": 0, "fitting": 1, "absent": 0}


class StandIn:
    """The stand-in's library, with its numbers as attributes: see `stand_in_driver.cpp`."""

    def __init__(self, path: str):
        self.path, self._library = path, ctypes.CDLL(path)

    def __getattr__(self, name: str) -> int:
        return ctypes.c_int.in_dll(self._library, name).value

    def set(self, **values: int) -> None:
        """Set some of the numbers."""
        for name, value in values.items():
            ctypes.c_int.in_dll(self._library, name).value = value


@pytest.fixture(scope="session")
def driver_library(tmp_path_factory) -> str:
    """The path of the stand-in's library: one for a process, since XLA's handler opens it once."""
    made = tmp_path_factory.mktemp("driver") / "libcuda.so"
    command = [COMPILER, "-shared", "-fPIC", "-O1", SOURCE, "-o", made, "-ldl"]
    subprocess.run(command, check=True)
    return str(made)


@pytest.fixture
def stand_in(driver_library) -> Iterator[StandIn]:
    found = StandIn(driver_library)
    found.set(**AT_FIRST)
    yield found
