"""The statements of a function's loops, as the passes leave them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import theano
from theano.link.native.ir.text import partition_text, step_text
from theano.link.native.lowering.lower_loop import lower_scan
from theano.link.native.lowering.lowered_loops import loops_of_their_own
from theano.link.native.passes.pipeline import watched_passes
from theano.pytensor_internals.graphs.scan import Scan


def loops_after_passes(function) -> dict[str, dict[str, list[str]]]:
    """Return the statements of each loop of a function after each pass, as lines of text.

    Parameters
    ----------
    function
        A compiled function, whose loops are lowered again.
    """
    found: dict[str, dict[str, list[str]]] = {}

    def watch(lowered, after: str) -> None:
        statements, sharing = lowered.step.statements, getattr(lowered, "sharing", None)
        text = step_text(statements) if sharing is None else partition_text(statements, sharing)
        # a pass that runs twice counts where it ends
        found.setdefault(lowered.step.name, {})[after] = text

    with watched_passes(watch), theano.config.change_flags(cache_optimizations=False):
        for number, node in enumerate(_loops(function)):
            lower_scan(node.op, [], f"loop{number}", loops_of_their_own())
    return found


def segment_after_passes(compile_it: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return a function of one segment, and the statements of this after all passes, as lines of text."""
    found: dict[str, list[str]] = {}

    def watch(lowered, after: str) -> None:
        found[lowered.step.name] = step_text(lowered.step.statements)

    with watched_passes(watch), theano.config.change_flags(cache_optimizations=False):
        function = compile_it()
    (lines,) = found.values()
    return function, lines


def _loops(function) -> list:
    return [node for node in function.maker.fgraph.toposort() if isinstance(node.op, Scan)]


def kinds_of(lines: list[str]) -> list[str]:
    """Return the kinds of statements: 'map', 'gemm', ..."""
    return [line.split()[0] for line in lines]
