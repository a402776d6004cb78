"""Comparison of what programs compute with some flags and without them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

import theano
from tests_scan_grad.flags import programs
from tests_scan_grad.flags.settings import error_that_is_meant
from tests_scan_grad.fresh_process import run_module

# by floatX: relative and absolute tolerances, of results between -10 and 10
TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 0.05}


class Expected:
    """The results with the defaults, computed once for each floatX."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, list[np.ndarray]]] = {}

    def of(self, floatx: str) -> dict[str, list[np.ndarray]]:
        """Return the results by Python, without rewrites but those that every mode runs."""
        if floatx not in self._known:
            with theano.config.change_flags(mode="FAST_COMPILE", floatX=floatx):
                self._known[floatx] = programs.results()
        return self._known[floatx]


def here(*chosen: tuple[str, object]) -> dict[str, list[np.ndarray]] | str:
    """Return what the programs compute in this process with some flags, or the error."""
    try:
        with theano.config.change_flags(dict(chosen)):
            return programs.results()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def in_fresh_process(*chosen: tuple[str, object], folder: Path) -> dict[str, list] | str:
    """Return what they compute in a process that has the flags by THEANO_FLAGS, or the error."""
    texts = [f"{name}='{str(value).format(folder=folder)}'" for name, value in chosen]
    if not {"base_compiledir", "compiledir"} & {name for name, _ in chosen}:
        texts.append(f"base_compiledir={theano.config.base_compiledir}")
    # what a device logs, and the choice of PyTensor's compiler, are no matter of flags
    done = run_module("tests_scan_grad.flags.programs", THEANO_FLAGS=",".join(texts))
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
    if not lines:
        assert done.returncode > 0, f"the process ended by a signal: {done.returncode}"
        return done.stderr.strip().splitlines()[-1]
    printed = json.loads(lines[-1])
    return printed.get("error") or printed["results"]


def assert_as_without(found, expected: Expected, *chosen: tuple[str, object]) -> None:
    """Compare results with those without flags; an error must be one that is meant."""
    pattern = error_that_is_meant(*chosen)
    if isinstance(found, str):
        assert pattern is not None and re.search(pattern, found, re.S), found
        return
    floatx = str(dict(chosen).get("floatX", "float64"))
    for name, values in expected.of(floatx).items():
        for got, value in zip(found[name], values, strict=True):
            tolerance = TOLERANCES[floatx]
            np.testing.assert_allclose(got, value, rtol=tolerance, atol=tolerance, err_msg=name)
