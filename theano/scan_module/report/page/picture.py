"""A picture of loops: the products of a step before and after, and what left it.

Of each loop there are two frames, the step as it was written and as it was compiled. In a frame
the products are boxes in the order in which they run. A line at the left leads from a value of an
earlier step to the products that wait for it, an arrow at the right from a product to those that
read its result. What left the loop is above and below its frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from theano.scan_module.report.headings import HOISTED, PUSHED_OUT
from theano.scan_module.report.loop_history import Decision
from theano.scan_module.report.loop_reports import LoopReport
from theano.scan_module.report.page.colours import STATE_COLOURS, STYLE
from theano.scan_module.report.page.drawing import (
    LINE,
    PADDING,
    Box,
    arc,
    dot,
    height_of,
    line,
    rectangle,
    text,
    wrapped,
)
from theano.scan_module.report.step_products import StepProduct
from theano.scan_module.report.text import name_and_place
from theano.source_locations.lines import short_line
from theano.support.data_classes import dataclass

FRAME = 440.0
GAP = 24.0
MARGIN = 12.0
RAIL = 14.0
ARCS = 44.0
BETWEEN = 8.0
WIDTH = 2 * FRAME + GAP + 2 * MARGIN


@dataclass(frozen=True)
class Drawn:
    """A part of a picture, and how high it is."""

    svg: str
    height: float


def loops_picture(loops: Sequence[LoopReport]) -> str:
    """Loops as one SVG document, each under its name."""
    parts, y = [], MARGIN
    for loop in loops:
        drawn = _loop(loop, y + LINE)
        parts += [text(MARGIN, y - PADDING, [name_and_place(loop)], "title"), drawn.svg]
        y += LINE + drawn.height + 2 * MARGIN
    if not loops:
        parts.append(text(MARGIN, y, ["no loops"], "note"))
        y += 2 * LINE
    return _document("".join(parts), y)


def loop_picture(loop: LoopReport) -> str:
    """One loop as an SVG document, without its name."""
    drawn = _loop(loop, MARGIN)
    return _document(drawn.svg, drawn.height + 2 * MARGIN)


def _document(inside: str, height: float) -> str:
    return (
        f'<svg class="tn" xmlns="http://www.w3.org/2000/svg" width="{WIDTH:g}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH:g} {height:g}"><style>{STYLE}</style>'
        f'<rect class="tn-paper" width="100%" height="100%"/>{inside}</svg>'
    )


def _loop(loop: LoopReport, y: float) -> Drawn:
    before = _frame("as it was written", loop.products_given, MARGIN, y)
    after = _compiled(loop, MARGIN + FRAME + GAP, y)
    return Drawn(before.svg + after.svg, max(before.height, after.height))


def _compiled(loop: LoopReport, x: float, y: float) -> Drawn:
    """Return what was done before the loop, the compiled step, and what is done after it."""
    above = _left_the_loop("before the loop, once:", loop.under(HOISTED), x, y)
    top = y + above.height
    if loop.vanished:
        frame = Drawn(text(x, top, ["no loop is left: all is computed outside"], "note"), 2 * LINE)
    else:
        frame = _frame("as it is compiled", loop.products_left, x, top)
    end = top + frame.height
    below = _left_the_loop("after the loop, for all steps at once:", loop.under(PUSHED_OUT), x, end)
    return Drawn(above.svg + frame.svg + below.svg, above.height + frame.height + below.height)


def _left_the_loop(title: str, decisions: Sequence[Decision], x: float, y: float) -> Drawn:
    if not decisions:
        return Drawn("", 0)
    parts, end = [text(x, y, [title], "note")], y + LINE + BETWEEN
    for decision in decisions:
        box = Box(
            x, end, FRAME, tuple(wrapped(decision.subject, FRAME)), "outside", decision.detail
        )
        parts.append(box.svg())
        end += box.height + BETWEEN
    return Drawn("".join(parts), end - y + PADDING)


def _frame(title: str, products: Sequence[StepProduct], x: float, y: float) -> Drawn:
    """Return a step: its products, what they wait for, and what reads their results."""
    states = tuple(dict.fromkeys(state for product in products for state in product.states))
    count = f"{len(products)} product{'' if len(products) == 1 else 's'} a step"
    names = [wrapped(f"● {state}", FRAME - 2 * PADDING) for state in states]
    header = 2 * LINE + sum(LINE * len(lines) for lines in names)
    boxes = _boxes(products, x + PADDING + RAIL * len(states) + RAIL, y + header, x + FRAME - ARCS)
    end = (boxes[-1].y + boxes[-1].height if boxes else y + header) + PADDING
    parts = [
        rectangle(x, y, FRAME, end - y, "frame"),
        text(x + PADDING, y, [f"{title}: {count}"], "note"),
        _legend(names, x + PADDING, y + LINE),
        *(
            arc(boxes[source], box, ARCS - 6)
            for product, box in zip(products, boxes, strict=True)
            for source in product.after
        ),
        *(box.svg() for box in boxes),
        *(_rail(state, k, x, products, boxes) for k, state in enumerate(states)),
    ]
    return Drawn("".join(parts), end - y + PADDING)


def _legend(names: Sequence[Sequence[str]], x: float, y: float) -> str:
    """Return the values of earlier steps, each after a dot of its colour."""
    parts = []
    for k, lines in enumerate(names):
        rest = [f"  {line}" if number else f" {line[1:]}" for number, line in enumerate(lines)]
        parts += [text(x, y, rest), dot(x + 3, y + LINE - 4, _colour(k))]
        y += LINE * len(lines)
    return "".join(parts)


def _boxes(products: Sequence[StepProduct], x: float, y: float, right: float) -> list[Box]:
    boxes: list[Box] = []
    for product in products:
        kind = "box" if product.states else "free"
        hint = f"{'' if product.states else 'waits for no earlier step '}{short_line(product.line)}"
        lines = tuple(wrapped(product.expression, right - x))
        boxes.append(Box(x, y, right - x, lines, kind, hint))
        y += height_of(lines) + BETWEEN
    return boxes


def _rail(
    state: str, number: int, x: float, products: Sequence[StepProduct], boxes: Sequence[Box]
) -> str:
    """Return the line from a value of an earlier step to the products that wait for it."""
    waiting = [b for p, b in zip(products, boxes, strict=True) if state in p.states]
    colour, at = _colour(number), x + PADDING + RAIL * number + 4
    parts = [line(at, boxes[0].y - BETWEEN, at, waiting[-1].middle, colour)]
    for box in waiting:
        parts += [line(at, box.middle, box.x, box.middle, colour), dot(box.x, box.middle, colour)]
    return "".join(parts)


def _colour(number: int) -> str:
    return STATE_COLOURS[number % len(STATE_COLOURS)]
