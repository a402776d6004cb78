"""Draws the products of the steps of loops: what each computes, and which waits for which."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from pytensor.graph.basic import Apply
from pytensor.graph.traversal import ancestors, io_toposort

from theano.scan_module.loop.arguments import Loop
from theano.scan_module.report.describe import describe_product, input_names
from theano.scan_module.step.products import is_product

WIDTH, HEIGHT, GAP_X, GAP_Y, HEADING = 200, 30, 46, 12, 34
LONGEST = 25
COLOURS = {
    "forward": "#d8e8f6",
    "again": "#f6cfc4",
    "backward": "#dcefd8",
    "outside": "#e8e4da",
}
MEANING = {
    "forward": "of the forward step",
    "again": "of the forward step, computed again",
    "backward": "of the backward step",
    "outside": "of all steps at once",
}


@dataclass(frozen=True)
class Product:
    """A product of a step.

    Attributes
    ----------
    label
        What it computes.
    kind
        A key of ``COLOURS``.
    waits_for
        Positions, in the list of the step's products, of those whose results it needs.
    """

    label: str
    kind: str
    waits_for: tuple[int, ...]

    def column(self, products: list[Product]) -> int:
        """How many products, one after the other, come before it."""
        return max((1 + products[k].column(products) for k in self.waits_for), default=0)


def products_of_step(loop: Loop, backward: bool, shorter: dict[str, str]) -> list[Product]:
    """The products of a loop's step, by label.

    Parameters
    ----------
    loop
        The loop, compiled or not.
    backward
        Whether it belongs to a gradient; then what does not depend on its states is computed again.
    shorter
        What to write in place of patterns in labels.
    """
    states = {tap.inner for state in loop.states for tap in state.reads}
    names = input_names(loop)
    found = []
    for node in io_toposort([], loop.inner_outputs):
        if is_product(node.op):
            on_states = states.intersection(ancestors(node.inputs))
            kind = ("backward" if on_states else "again") if backward else "forward"
            found.append((node, _label(describe_product(node, names), shorter), kind))
    return _with_order(found)


def products_outside(nodes: Iterable[Apply], shorter: dict[str, str]) -> list[Product]:
    """The products among nodes outside of loops."""
    products = [node for node in nodes if is_product(node.op)]
    return _with_order([(n, _label(describe_product(n), shorter), "outside") for n in products])


def _label(text: str, shorter: dict[str, str]) -> str:
    for pattern, short in shorter.items():
        text = re.sub(pattern, short, text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _with_order(found: list[tuple[Apply, str, str]]) -> list[Product]:
    """The products by label, so that the picture is the same each time."""
    found = sorted(found, key=lambda entry: entry[1])
    products = []
    for node, label, kind in found:
        before = set(ancestors(node.inputs))
        waits = tuple(k for k, (other, *_) in enumerate(found) if before & set(other.outputs))
        products.append(Product(label, kind, waits))
    return products


def draw_loops(loops: dict[str, list[Product]]) -> str:
    """An SVG picture of the products of several loops, below each other."""
    parts: list[str] = []
    top = 0
    columns = 1
    for heading, products in loops.items():
        parts.append(_text(4, top + 22, f"{heading}: {len(products)} products", "heading"))
        top += HEADING
        places = _places(products, top)
        parts += [
            _arrow(places[k], places[i])
            for i, p in enumerate(products)
            for k in _nearest(p, products)
        ]
        parts += [_box(*places[i], product) for i, product in enumerate(products)]
        top = max(y for _, y in places) + HEIGHT + GAP_Y
        columns = max(columns, *(1 + p.column(products) for p in products))
    kinds = dict.fromkeys(p.kind for products in loops.values() for p in products)
    for kind in COLOURS:
        if kind in kinds:
            parts.append(
                f'<rect x="4" y="{top + 4}" width="18" height="14" fill="{COLOURS[kind]}"/>'
            )
            parts.append(_text(28, top + 16, MEANING[kind], "label"))
            top += 22
    width = columns * WIDTH + (columns - 1) * GAP_X + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + 8}" width="{width}">\n'
        "<style>text{font-family:sans-serif;fill:#222}.heading{font-size:16px;font-weight:bold}"
        ".label{font-size:13px}.product{font-family:monospace;font-size:12px}</style>\n"
        f'<rect width="{width}" height="{top + 8}" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _places(products: list[Product], top: int) -> list[tuple[int, int]]:
    """Where each box is: products that wait for none on the left."""
    filled: dict[int, int] = {}
    places = []
    for product in products:
        column = product.column(products)
        row = filled[column] = filled.get(column, -1) + 1
        places.append((4 + column * (WIDTH + GAP_X), top + row * (HEIGHT + GAP_Y)))
    return places


def _nearest(product: Product, products: list[Product]) -> list[int]:
    """Of the products that one waits for, those that no other of them waits for."""
    implied = {k for i in product.waits_for for k in products[i].waits_for}
    return [k for k in product.waits_for if k not in implied]


def _box(x: int, y: int, product: Product) -> str:
    fill = COLOURS[product.kind]
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="{fill}"/>'
        + _text(x + 8, y + 20, product.label, "product")
    )


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    x, y = start[0] + WIDTH, start[1] + HEIGHT // 2
    to_x, to_y = end[0], end[1] + HEIGHT // 2
    middle = to_x - GAP_X // 2
    return (
        f'<path d="M{x} {y} C{middle} {y} {middle} {to_y} {to_x - 6} {to_y}" fill="none" '
        f'stroke="#888"/><path d="M{to_x} {to_y} l-7 -4 v8 z" fill="#888"/>'
    )


def _text(x: int, y: int, text: str, style: str) -> str:
    return f'<text x="{x}" y="{y}" class="{style}">{escape(text)}</text>'
