"""The report on loops as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theano.scan_module.scan_opt.loop_history import Decision
    from theano.scan_module.scan_report import LoopReport, ProductLeft, ScanReport

NOT_RECORDED = (
    "Nothing was recorded of these loops: the function is a copy, or its mode lacks Theano's "
    "rewrites of loops\n(those of theano.function in the modes FAST_RUN and FAST_COMPILE have them)."
    " What the loops were before is unknown."
)


def report_text(report: ScanReport) -> str:
    """The whole report, one block of lines per loop."""
    count = sum(not loop.vanished for loop in report.loops)
    loops = f"{count or 'no'} loop{'' if count == 1 else 's'}"
    outside = f"products outside the loops: {report.products_outside}"
    if not report.loops:
        return f"function {report.function}: no loops; products: {report.products_outside}"
    lines = [f"function {report.function}: {loops}; {outside}"]
    if not report.recorded:
        lines.append(NOT_RECORDED)
    for loop in report.loops:
        lines += ["", *_loop_lines(loop)]
    return "\n".join(lines)


def _loop_lines(loop: LoopReport) -> list[str]:
    place = f", in a step of {' > '.join(loop.path)}" if loop.path else ""
    lines = [f"loop {loop.name}{place}"]
    if len(loop.sources) > 1:
        lines.append(f"  made of the loops {', '.join(loop.sources)}")
    if loop.vanished:
        lines.append("  no loop left: everything is computed outside")
    lines.append(f"  products per step: {_change(loop.products_before, loop.products_after)}")
    lines.append(f"  bytes written per step: {_change(loop.bytes_before, loop.bytes_after)}")
    if loop.saved:
        lines.append(f"  saved for the gradient (scan.save={loop.policy}):")
        lines += [
            f"    {value.output} = {value.expression}, {value.type}, {value.bytes} bytes"
            for value in loop.saved
        ]
    for title, decisions in (
        ("hoisted before the loop", loop.hoisted),
        ("pushed out after the loop", loop.pushed_out),
        ("merged", loop.merged),
        ("left as it was", loop.refused),
    ):
        if decisions:
            lines += [f"  {title}:", *map(_decision_line, decisions)]
    if loop.products_left:
        lines += ["  products in the compiled step:", *map(_product_line, loop.products_left)]
    return lines


def _change(before: int | str | None, after: int | str | None) -> str:
    if after is None:
        return f"{before} -> no loop"
    if before is None:
        return str(after)
    return f"{before} -> {after}" if before != after else f"{after}, as before"


def _product_line(product: ProductLeft) -> str:
    waits = f" (waits for {', '.join(product.states)})" if product.states else ""
    return f"    {product.expression}{waits}"


def _decision_line(decision: Decision) -> str:
    return f"    {decision.subject}: {decision.detail}"
