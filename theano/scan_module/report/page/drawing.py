"""Shapes of a picture as SVG."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from theano.support.data_classes import dataclass

LETTER = 6.63  # the width of one, of a font of 11 pixels and even width
LINE = 15
PADDING = 8


def wrapped(text: str, width: float) -> list[str]:
    """Return the lines of a text in a box of a width."""
    letters = max(8, int((width - 2 * PADDING) / LETTER))
    return textwrap.wrap(text, letters, break_long_words=True, break_on_hyphens=False) or [""]


def height_of(lines: Sequence[str]) -> float:
    """Return the height of a box with these lines."""
    return LINE * len(lines) + PADDING


@dataclass(frozen=True)
class Box:
    """A box with text, and where it is."""

    x: float
    y: float
    width: float
    lines: tuple[str, ...]
    kind: str
    hint: str = ""

    @property
    def height(self) -> float:
        """From its upper edge to its lower one."""
        return height_of(self.lines)

    @property
    def middle(self) -> float:
        """Half way down."""
        return self.y + self.height / 2

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width

    def svg(self) -> str:
        """Return the box as SVG."""
        hint = f"<title>{escape(self.hint)}</title>" if self.hint else ""
        return f"<g>{hint}{rectangle(self.x, self.y, self.width, self.height, self.kind)}{text(self.x + PADDING, self.y, self.lines)}</g>"


def rectangle(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a rectangle of a kind, which is a class of the style."""
    return f'<rect class="tn-{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'


def text(x: float, y: float, lines: Sequence[str], kind: str = "text") -> str:
    """Lines of text below a height."""
    return "".join(
        f'<text class="tn-{kind}" x="{x:g}" y="{y + LINE * (k + 1):g}" xml:space="preserve">'
        f"{escape(line)}</text>"
        for k, line in enumerate(lines)
    )


def line(x: float, y: float, to_x: float, to_y: float, colour: str) -> str:
    """Return a straight line."""
    return f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{colour}" stroke-width="1.6" fill="none"/>'


def dot(x: float, y: float, colour: str) -> str:
    """Return where a line enters a box."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="3" fill="{colour}"/>'


def arc(source: Box, target: Box, bend: float) -> str:
    """Return an arrow from the right side of a box to that of one below it."""
    x, y, to_y = source.right, source.middle, target.middle
    head = f"M{x:g} {to_y:g}l7 -3.5v7z"
    curve = f"M{x:g} {y:g}C{x + bend:g} {y:g} {x + bend:g} {to_y:g} {x + 6:g} {to_y:g}"
    return f'<path class="tn-arc" d="{curve}"/><path class="tn-head" d="{head}"/>'
