"""The profile of a program as a web page, with pictures of its loops."""

from __future__ import annotations

from html import escape

from theano.profile.advice import advice_for
from theano.profile.findings import (
    SMALLEST_SHARE,
    Findings,
    FunctionTimes,
    share_of,
    source_of,
    statements_of,
)
from theano.profile.pages import address_of
from theano.scan_module.report.page.colours import PAGE_STYLE, STYLE
from theano.scan_module.report.page.page import bar, loop_part, paragraph, table, whole_page
from theano.source_locations.lines import format_line, short_line

MOST = 30


def profile_page(findings: Findings) -> str:
    """Return the whole page, as HTML."""
    title = f"{findings.program}: {findings.seconds:.2f} s"
    parts = [
        f"<style>{STYLE}{PAGE_STYLE}</style><h1>{escape(title)}</h1>",
        paragraph(f"It ended with {findings.error}") if findings.error else "",
        _whole(findings),
        _advice(findings),
        _functions(findings),
        _lines(findings),
        _statements(findings),
        *(_loops_of(function) for function in findings.functions),
    ]
    return whole_page(title, f'<div class="tn">{"".join(parts)}</div>')


def _seconds(findings: Findings, seconds: float) -> tuple[str, str]:
    return bar(share_of(findings, seconds)), f"{seconds:.3f}"


def _whole(findings: Findings) -> str:
    spent, best = findings.compilation, findings.best_text
    stages = {
        "calls of functions": findings.calling,
        "compiling: rewriting": spent.rewriting,
        "compiling: code": spent.code,
        "compiling: all else": spent.rest,
        "the program itself": findings.elsewhere,
    }
    message = f"Memory at its peak: {findings.peak_bytes / 2**20:.0f} MB." + (
        f" A large product reaches {best} on this machine." if best else ""
    )
    rows = [(*_seconds(findings, s), escape(name)) for name, s in stages.items()]
    return table("the whole", ("share", "seconds", "what"), rows, message, escaped=True)


def _advice(findings: Findings) -> str:
    rows = [
        (
            escape(advice.text),
            escape(short_line(advice.line)),
            escape(source_of(advice.line)),
            _link(advice.page),
        )
        for advice in advice_for(findings)
    ]
    return table("advice", ("what", "line", "there", "page"), rows, escaped=True)


def _link(page: str) -> str:
    """Return a page of the documentation: a link where it is on this machine."""
    address = address_of(page) if page else ""
    name = f"doc/{page}.md" if page else ""
    return f'<a href="{escape(address)}">{name}</a>' if address else name


def _functions(findings: Findings) -> str:
    rows = [
        (
            *_seconds(findings, f.seconds),
            str(f.calls),
            f"{f.compilation.whole:.3f}",
            f"{f.bytes / 2**20:.1f}",
            escape(short_line(f.name)),
        )
        for f in findings.functions
    ]
    columns = ("share", "seconds", "calls", "compiling", "MB kept", "function")
    return table("functions", columns, rows, escaped=True)


def _lines(findings: Findings) -> str:
    rows = [
        (
            *_seconds(findings, time.seconds),
            f"{time.forward:.3f}",
            f"{time.gradient:.3f}",
            escape(short_line(time.line) or "not known"),
            escape(source_of(time.line)),
        )
        for time in findings.lines
        if share_of(findings, time.seconds) >= SMALLEST_SHARE
    ]
    columns = ("share", "seconds", "forward", "gradient", "line", "there")
    return table("lines", columns, rows[:MOST], escaped=True)


def _statements(findings: Findings) -> str:
    rows = [
        (
            *_seconds(findings, s.seconds),
            str(s.calls),
            f"{s.gflops:.1f}",
            escape(s.text),
            escape(short_line(place)),
            escape(format_line(s.line, s.of_gradient)),
        )
        for s, place in statements_of(findings)[:MOST]
    ]
    columns = ("share", "seconds", "calls", "GFLOP/s", "statement", "in", "line")
    return table("statements", columns, rows, escaped=True)


def _loops_of(function: FunctionTimes) -> str:
    report = function.report
    if report is None:
        return ""
    return f"<h1>{escape(report.title)}</h1>" + "".join(map(loop_part, report.loops))
