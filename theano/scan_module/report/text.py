"""Reports on loops as text."""

from __future__ import annotations

from collections.abc import Sequence

from theano.scan_module.report.headings import LEFT
from theano.scan_module.report.loop_history import Decision
from theano.scan_module.report.loop_reports import LoopReport
from theano.scan_module.report.step_products import StepProduct

NOT_RECORDED = (
    "Nothing was recorded of these loops: the function is a copy, or its mode lacks Theano's "
    "rewrites of loops\n(those of theano.function in the modes FAST_RUN and FAST_COMPILE have them)."
    " What the loops were before is unknown."
)


def title_of(function: str, loops: Sequence[LoopReport], products_outside: int) -> str:
    """Return how many loops and products a function has."""
    if not loops:
        return f"function {function}: no loops; products: {products_outside}"
    count = sum(not loop.vanished for loop in loops)
    counted = f"{count or 'no'} loop{'' if count == 1 else 's'}"
    return f"function {function}: {counted}; products outside the loops: {products_outside}"


def name_and_place(loop: LoopReport) -> str:
    """Return the name of a loop, and of the loops that it is in."""
    return f"loop {loop.name}" + (f", in a step of {' > '.join(loop.path)}" if loop.path else "")


def loop_lines(loop: LoopReport) -> list[str]:
    """Return a loop in lines."""
    lines = [name_and_place(loop)]
    if len(loop.sources) > 1:
        lines.append(f"  made from the loops {', '.join(loop.sources)}")
    if loop.vanished:
        lines.append("  no loop left: everything is computed outside")
    lines.append(f"  products per step: {change(loop.products_before, loop.products_after)}")
    lines.append(f"  bytes written per step: {change(loop.bytes_before, loop.bytes_after)}")
    if loop.saved:
        lines.append(f"  saved for the gradient (scan.save={loop.policy}):")
        lines += [
            f"    {value.output} = {value.expression}, {value.type}, {value.bytes} bytes"
            for value in loop.saved
        ]
    parts = [(heading, loop.under(heading)) for heading in loop.headings]
    for title, decisions in (*parts, (LEFT, loop.refused)):
        if decisions:
            lines += [f"  {title}:", *map(_decision_line, decisions)]
    if loop.products_left:
        lines += ["  products in the compiled step:", *map(_product_line, loop.products_left)]
    return lines


def change(before: int | str | None, after: int | str | None) -> str:
    """Return a number before and after."""
    if after is None:
        return f"{before} -> no loop"
    if before is None:
        return str(after)
    return f"{before} -> {after}" if before != after else f"{after}, as before"


def _product_line(product: StepProduct) -> str:
    waits = f" (waits for {', '.join(product.states)})" if product.states else ""
    return f"    {product.expression}{waits}"


def _decision_line(decision: Decision) -> str:
    return f"    {decision.subject}: {decision.detail}"
