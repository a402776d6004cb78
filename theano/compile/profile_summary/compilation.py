"""The time of compilation: stages, passes, rewrites, and loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TextIO

from theano.pytensor_internals.graphs.rewriting import SequentialGraphRewriter
from theano.rewriting.times_of_rewrites import SecondsByLoop, SecondsByRewrite

SMALLEST_SHARE = 0.001


def write_compilation(stats: Any, file: TextIO) -> None:
    """Write where the compilation of a function took its time: stages, rewrites, loops."""
    _, profile = stats.rewriter_profile
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
        "rewriting": stats.rewriting_time,
        "code: emission, C compiler, linking": stats.linker_time,
    }
    print(f"Compilation of {stats.message}: {stats.compile_time:.3f} s", file=file)
    _print_shares("by stage", stages, stats.compile_time, file)
    _print_shares("rewriting by pass", passes, stats.rewriting_time, file)
    _print_shares("rewriting by rewrite", rewrites, stats.rewriting_time, file)
    _print_shares("rewriting by loop", loops, stats.rewriting_time, file)
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
