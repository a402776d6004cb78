"""A report on loops as a page: each loop as text, pictures and times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import overload

from theano.scan_module.report.headings import LEFT
from theano.scan_module.report.loop_reports import LoopReport
from theano.scan_module.report.page.colours import PAGE_STYLE, STYLE
from theano.scan_module.report.page.picture import loop_picture
from theano.scan_module.report.step_times import LoopTime
from theano.scan_module.report.text import change, name_and_place

Row = Sequence[str]
# Columns of a table that hold numbers
NUMBERS = frozenset(
    {
        "bytes",
        "seconds",
        "forward",
        "gradient",
        "calls",
        "steps",
        "GFLOP/s",
        "bytes a call",
        "compiling",
        "MB kept",
    }
)

# A click on the head of a column sorts its table: numbers from the greatest, words from A.
SORT = """
document.addEventListener("click", function (event) {
  const head = event.target.closest("th");
  if (!head) return;
  const rows = Array.from(head.closest("table").rows).slice(1), column = head.cellIndex;
  const text = row => row.cells[column].textContent.trim();
  const number = row => parseFloat(text(row).replace(/,/g, ""));
  const numbers = rows.every(row => text(row) === "" || !isNaN(number(row)));
  const down = head.dataset.sorted !== "first" ? 1 : -1;
  head.dataset.sorted = down === 1 ? "first" : "last";
  rows.sort((a, b) => down * (numbers ? (number(b) || 0) - (number(a) || 0)
                                      : text(a).localeCompare(text(b))));
  rows.forEach(row => head.closest("tbody, table").appendChild(row));
});
"""


def whole_page(title: str, inside: str) -> str:
    """Return an HTML page around what it shows."""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="color-scheme" content="light dark">'
        "<style>body{margin:0}th{cursor:pointer}</style></head>"
        f"<body>{inside}<script>{SORT}</script></body></html>\n"
    )


def report_part(
    title: str, loops: Sequence[LoopReport], notes: str = "", graph: str = "", memory: str = ""
) -> str:
    """Loops as a part of a page, such as a cell of a notebook.

    Parameters
    ----------
    notes
        What is to be known before.
    graph
        The address of a page with the whole graph.
    memory
        What a call takes, as text.
    """
    parts = [f"<style>{STYLE}{PAGE_STYLE}</style>", f"<h1>{escape(title)}</h1>"]
    if notes:
        parts.append(paragraph(notes, "tn-faint"))
    if graph:
        link = f'<a href="{escape(graph)}">the whole graph</a>'
        parts.append(f"<p>See {link}, where loops open by double click.</p>")
    parts += [loop_part(loop) for loop in loops]
    if memory:
        parts.append(f'<h2>memory of a call</h2><pre class="tn-wide">{escape(memory)}</pre>')
    return f'<div class="tn">{"".join(parts)}</div>'


def loop_part(loop: LoopReport) -> str:
    """One loop: numbers, picture, decisions, what is saved, times."""
    parts = [f"<h2>{escape(name_and_place(loop))}</h2>", paragraph(_numbers(loop))]
    if len(loop.sources) > 1:
        parts.append(paragraph(f"made from the loops {', '.join(loop.sources)}"))
    parts.append(f'<div class="tn-wide">{loop_picture(loop)}</div>')
    for heading in loop.headings:
        decisions = [(d.subject, d.detail) for d in loop.under(heading)]
        parts.append(table(heading, ("what", "how"), decisions))
    parts.append(table(LEFT, ("what", "why"), [(d.subject, d.detail) for d in loop.refused]))
    saved = [(v.output, v.expression, v.type, counted(v.bytes), v.reason) for v in loop.saved]
    title = f"saved in each step for the gradient (scan.save={loop.policy})"
    parts.append(table(title, ("as", "value", "type", "bytes", "why"), saved))
    if loop.time is not None:
        parts.append(time_part(loop.time))
    return "".join(parts)


def _numbers(loop: LoopReport) -> str:
    return (
        f"Products per step: {change(loop.products_before, loop.products_after)}. "
        f"Bytes written per step: "
        f"{change(counted(loop.bytes_before), counted(loop.bytes_after))}."
    )


@overload
def counted(number: int | str) -> str: ...


@overload
def counted(number: int | str | None) -> str | None: ...


def counted(number: int | str | None) -> str | None:
    """Return a number with its thousands apart; an expression as it is."""
    return f"{number:,}" if isinstance(number, int) else number


def time_part(time: LoopTime) -> str:
    """Return what the steps of a profiled loop took, by statement."""
    message = (
        f"{time.calls} calls of {time.steps} steps in all took {time.seconds:.3g} s; "
        f"{1e6 * time.overhead_per_step:.2g} µs between steps."
    )
    rows = [
        (
            bar(s.seconds / time.seconds if time.seconds else 0.0),
            f"{s.seconds:.3g}",
            str(s.calls),
            f"{s.gflops:.1f}",
            counted(s.bytes_per_call),
            escape(s.text),
            escape(s.where),
        )
        for s in time.statements
    ]
    columns = ("share", "seconds", "calls", "GFLOP/s", "bytes a call", "statement", "line")
    return table("times", columns, rows, message, escaped=True)


def bar(share: float) -> str:
    """Return a share as a bar and a number."""
    width = min(1.0, share) * 6
    drawn = f'<span class="tn-bar" style="width:{width:.2f}em"></span>'
    return f'<span class="tn-share">{share:.1%}</span>{drawn}'


def table(
    title: str, columns: Row, rows: Iterable[Row], message: str = "", escaped: bool = False
) -> str:
    """Return a titled table; nothing where it has no rows.

    Parameters
    ----------
    said
        A sentence above it.
    escaped
        Whether the cells are HTML.
    """
    rows = list(rows)
    if not rows:
        return ""
    parts = [
        f"<h3>{escape(title)}</h3>",
        paragraph(message) if message else "",
        '<div class="tn-wide">',
    ]
    parts.append(f"<table><tr>{''.join(_cell('th', name, escape(name)) for name in columns)}</tr>")
    for row in rows:
        cells = zip(columns, row, strict=True)
        parts.append(
            f"<tr>{''.join(_cell('td', n, c if escaped else escape(c)) for n, c in cells)}</tr>"
        )
    return "".join([*parts, "</table></div>"])


def _cell(tag: str, column: str, inside: str) -> str:
    kind = "tn-number" if column in NUMBERS else "tn-whole" if column == "share" else ""
    kind = f' class="{kind}"' if kind else ""
    return f"<{tag}{kind}>{inside}</{tag}>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a text as a paragraph of a kind, which is a class of the style."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"
