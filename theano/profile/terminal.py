"""The profile of a program as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from theano.profile.advice import advice_for
from theano.profile.findings import SMALLEST_SHARE, Findings, share_of, source_of, statements_of
from theano.source_locations.lines import format_line, short_line

MOST = 10
WIDTH = 100


def terminal_lines(findings: Findings) -> list[str]:
    """Return the whole page."""
    return [
        *_summary(findings),
        *_table("functions", "seconds   share    calls  compiling", _functions(findings)),
        *_table("loops", "seconds   share    steps  µs between steps", _loops(findings)),
        *_table("statements", "seconds   share  GFLOP/s", _statements(findings)),
        *_table("lines", "seconds   share  forward  gradient", _lines(findings)),
        *_advice(findings),
    ]


def _summary(findings: Findings) -> list[str]:
    spent, best = findings.compilation, findings.best_text
    return [
        "",
        f"theano.profile: {findings.program}, {findings.seconds:.2f} s",
        *([f"  it ended with {findings.error}"] if findings.error else []),
        f"  calls of functions {findings.calling:.2f} s; compiling {spent.whole:.2f} s "
        f"(rewriting {spent.rewriting:.2f}, code {spent.code:.2f}, the rest {spent.rest:.2f}); "
        f"all else {findings.elsewhere:.2f} s",
        f"  memory at its peak {findings.peak_bytes / 2**20:.0f} MB",
        *([f"  a large product reaches {best} here"] if best else []),
    ]


def _table(title: str, columns: str, rows: Iterable[str]) -> list[str]:
    rows = list(rows)
    if not rows:
        return []
    return ["", f"{title:<12}{columns}", *(row[:WIDTH] for row in rows[:MOST])]


def _row(findings: Findings, seconds: float, cells: str) -> str:
    return f"{seconds:>19.3f}  {share_of(findings, seconds):>6.1%}{cells}"


def _functions(findings: Findings) -> Iterable[str]:
    for f in findings.functions:
        cells = f" {f.calls:>8}  {f.compilation.whole:>9.3f}  {short_line(f.name)}"
        yield _row(findings, f.seconds, cells)


def _loops(findings: Findings) -> Iterable[str]:
    loops = [loop for f in findings.functions for loop in f.loops]
    for loop in sorted(loops, key=lambda loop: -loop.seconds):
        cells = f" {loop.steps:>8}  {1e6 * loop.overhead_per_step:>16.2f}  {loop.name}"
        yield _row(findings, loop.seconds, cells)


def _statements(findings: Findings) -> Iterable[str]:
    for s, place in statements_of(findings):
        where = format_line(s.line, s.of_gradient) or short_line(place)
        yield _row(findings, s.seconds, f"  {s.gflops:>7.1f}  {s.text}, {where}")


def _lines(findings: Findings) -> Iterable[str]:
    for time in findings.lines:
        if share_of(findings, time.seconds) >= SMALLEST_SHARE:
            where = short_line(time.line) or "a line that is not known"
            parts = f"  {time.forward:>7.3f}  {time.gradient:>8.3f}"
            yield _row(findings, time.seconds, f"{parts}  {where}  {source_of(time.line)}".rstrip())


def _advice(findings: Findings) -> list[str]:
    lines = []
    for advice in advice_for(findings):
        lines.append(f"* {advice.text}")
        if advice.line:
            lines.append(f"  {short_line(advice.line)}  {source_of(advice.line)}".rstrip())
        if advice.page:
            lines.append(f"  see doc/{advice.page}.md")
    return ["", "advice", *(lines or ["nothing stands out"])]
