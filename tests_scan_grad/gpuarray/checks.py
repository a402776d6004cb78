"""Run the checks of a module on two devices of the CPU: JAX counts its devices once a process."""

import functools
import json
from pathlib import Path

from tests_scan_grad.fresh_process import printed_by

TWO = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
RUN_ALL = """
import importlib, json, sys, traceback
for name, check in importlib.import_module("tests_scan_grad.gpuarray.{module}").CHECKS.items():
    try:
        check()
        complaint = ""
    except Exception:
        complaint = traceback.format_exc()
    print(json.dumps([name, complaint]))
"""


@functools.cache
def complaints(module: str, flags: str) -> dict[str, str]:
    """Return the complaint of each check of a module, which is empty where the check passes."""
    lines = printed_by(RUN_ALL.replace("{module}", module), THEANO_FLAGS=flags, **TWO)
    return dict(json.loads(line) for line in lines)


def names_of(module: str) -> list[str]:
    """The checks of a module, which is not imported: that would use this process's devices."""
    text = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    starts = (line for line in text.splitlines() if line.startswith("def check_"))
    return [line.split("(")[0].removeprefix("def ") for line in starts]
