"""Functions with loops in mode 'XLA', compared with the Python linker, and their programs' text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.scan.op import Scan

import theano
from tests_scan_grad.loop_runs import unrewritten_mode


def agree(
    inputs: Sequence[Any], outputs: Sequence[Any], *calls: Sequence[Any], updates: Any = None
) -> Any:
    """Compile for XLA and by the Python linker, and compare the outputs of each call.

    Every loop must run on the device. Returns the function of mode 'XLA'.
    """
    updates = updates or []
    ours = theano.function(inputs, outputs, mode="XLA", updates=updates)
    reference = theano.function(inputs, outputs, mode=unrewritten_mode(), updates=updates)
    shared = [variable for variable, _ in updates]
    for values in calls:
        before = [variable.get_value() for variable in shared]
        expected = [*reference(*values), *(variable.get_value() for variable in shared)]
        for variable, value in zip(shared, before, strict=True):
            variable.set_value(value)
        actual = [*ours(*values), *(variable.get_value() for variable in shared)]
        for result, wanted in zip(actual, expected, strict=True):
            assert np.asarray(result).dtype == wanted.dtype
            np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-9, atol=1e-12)
    reasons = loops_on_host(ours)
    assert not reasons, reasons
    return ours


def loops_on_host(function: Any) -> list[str]:
    """Why loops of a compiled function run on the host."""
    reasons = function.vm.plan.reasons.items()
    return [f"{node.op}: {why}" for node, why in reasons if isinstance(node.op, Scan)]


def compiled_texts(function: Any) -> list[str]:
    """The compiled programs of a function that has been called, in XLA's own language."""
    import jax

    texts = []
    with jax.enable_x64(True):
        for program in function.vm.programs:
            for made in getattr(program, "specialisations", {}).values():
                texts.append(made.compiled().as_text())
    return texts


def computations(text: str) -> dict[str, list[str]]:
    """The lines of each computation of a program's text, by name."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.endswith("{") and "->" in line:
            name = line.removeprefix("ENTRY ").split()[0]
            found[name] = []
        elif name:
            found[name].append(line.strip())
    return found


def loop_bodies(text: str) -> list[list[str]]:
    """The lines of the bodies of all loops of a program."""
    parts = computations(text)
    calls = [line for lines in parts.values() for line in lines if " while(" in line]
    return [parts[line.split("body=")[1].split(",")[0].strip()] for line in calls]
