"""Profiles of compiled functions: PyTensor's, and where the time of compilation went."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TextIO

from theano.pytensor_base.compiling import ProfileStats as PyTensorProfileStats
from theano.pytensor_base.compiling import print_global_stats, register_profiler_printer
from theano.pytensor_base.rewriting import SequentialGraphRewriter
from theano.schedule.seconds import SecondsByLoop, SecondsByRewrite

__all__ = ["ProfileStats", "print_global_stats", "register_profiler_printer"]

SMALLEST_SHARE = 0.001


class ProfileStats(PyTensorProfileStats):
    """What a function's compilation and its calls took.

    With the flag ``profile_optimizer`` the summary tells how long each pass of rewriting took,
    which rewrites took it, and how long each ran on which loop.
    """

    rewriter_profile: Any = None

    def summary(
        self, file: TextIO = sys.stderr, n_ops_to_print: int = 20, n_apply_to_print: int = 20
    ) -> None:
        """Print the profile; `print_compilation` takes the place of PyTensor's lists."""
        found = self.rewriter_profile
        if found is not None:
            self.print_compilation(file)
        self.rewriter_profile = None
        try:
            super().summary(file, n_ops_to_print, n_apply_to_print)
        finally:
            self.rewriter_profile = found

    def print_compilation(self, file: TextIO = sys.stderr) -> None:
        """Print where compilation took its time: stages, rewrites, loops."""
        _, profile = self.rewriter_profile
        passes: dict[str, float] = defaultdict(float)
        rewrites: dict[str, float] = defaultdict(float)
        loops: dict[str, float] = defaultdict(float)
        for name, seconds, parts in _passes(profile):
            passes[name] += seconds
            shares, label = (
                (loops, "{part}: {name}")
                if isinstance(parts, SecondsByLoop)
                else (rewrites, "{name}: {part}")
            )
            for part, share in parts.items():
                shares[label.format(part=part, name=name)] += share
        stages = {
            "rewriting": self.rewriting_time,
            "code: emission, C compiler, linking": self.linker_time,
        }
        print(f"Compilation of {self.message}: {self.compile_time:.3f} s", file=file)
        _print_shares("by stage", stages, self.compile_time, file)
        _print_shares("rewriting by pass", passes, self.rewriting_time, file)
        _print_shares("rewriting by rewrite", rewrites, self.rewriting_time, file)
        _print_shares("rewriting by loop", loops, self.rewriting_time, file)
        print(file=file)


def _passes(profile: Any) -> Iterator[tuple[str, float, dict[str, float]]]:
    """Name, seconds, and seconds by part of each rewrite of a sequence, innermost ones."""
    sequence, seconds, parts = profile[0], profile[1], profile[6]
    for rewriter, taken, part in zip(sequence.data, seconds, parts, strict=True):
        if isinstance(rewriter, SequentialGraphRewriter) and part is not None:
            yield from _passes(part)
            continue
        name = getattr(rewriter, "name", None) or getattr(rewriter, "__name__", None)
        timed = isinstance(part, SecondsByLoop | SecondsByRewrite)
        yield name or type(rewriter).__name__, taken, part if timed else {}


def _print_shares(title: str, seconds: dict[str, float], whole: float, file: TextIO) -> None:
    """Print names with their seconds and shares, the longest first, down to a thousandth."""
    shown = {name: taken for name, taken in seconds.items() if taken >= SMALLEST_SHARE * whole}
    if shown:
        print(f"  {title}", file=file)
    for name, taken in sorted(shown.items(), key=lambda item: -item[1]):
        print(f"    {taken:8.3f} s {taken / whole if whole else 0:6.1%}  {name}", file=file)
