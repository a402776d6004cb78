"""Small C programs of the benchmark itself."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

from tests_scan_grad.timing.experiment import TimingError

C_TYPES = {"float32": "float", "float64": "double"}


def compiled(program: str, *flags: str) -> ctypes.CDLL:
    """Compile a program with the C compiler of the native engine, and load it.

    Raises
    ------
    TimingError
        If there is no compiler, or it fails.
    """
    from theano.link.native.runtime.build import find_compiler

    compiler = find_compiler()
    if compiler is None:
        raise TimingError("no C compiler: what the benchmark has in C cannot be measured")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "program.so"
        all_flags = ["-O3", "-ffp-contract=fast", "-fPIC", "-shared", *flags]
        command = [*compiler, *all_flags, "-x", "c", "-", "-o", str(made)]
        done = subprocess.run(command, input=program, text=True, capture_output=True, check=False)
        if done.returncode:
            raise TimingError(f"{' '.join(command)} failed:\n{done.stderr}")
        return ctypes.CDLL(str(made))
