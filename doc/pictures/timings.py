"""Draws the tables of times of performance.md; needs matplotlib.

python doc/pictures/timings.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

PAGE = Path(__file__).parent.parent / "performance.md"
# the same file for the same numbers
matplotlib.rcParams["svg.hashsalt"] = "theano-scan"
matplotlib.rcParams["svg.fonttype"] = "none"


def table(first_heading: str, second_heading: str) -> tuple[list[str], list[list[str]]]:
    """The headings and rows of the table of performance.md that begins with these headings."""
    lines = PAGE.read_text().splitlines()
    start = next(
        number
        for number, line in enumerate(lines)
        if line.startswith(f"| {first_heading} | {second_heading} |")
    )
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[0], rows[2:]


def dots(axes, names: list[str], columns: dict[str, list[float | None]]) -> None:
    """A dot for each number, in a line for each name; none where there is no number."""
    for label, values in columns.items():
        found = [(value, k) for k, value in enumerate(values) if value is not None]
        axes.plot(*zip(*found, strict=True), "o", label=label)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)


def draw_loops(path: Path) -> None:
    """The time of loops relative to each peer's."""
    headings, rows = table("loop", "to PyTorch")
    peers = {
        name.removeprefix("to "): [float(row[k]) for row in rows]
        for k, name in enumerate(headings)
        if name.startswith("to ")
    }
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.add_subplot()
    dots(axes, [row[0] for row in rows], peers)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("time relative to the peer's (left of 1: faster)")
    figure.savefig(path, metadata={"Date": None})


def draw_compile(path: Path) -> None:
    """Seconds from graph to first result, with empty caches and with full ones."""
    headings, rows = table("training step", "cold")
    figure = Figure(figsize=(9, 6), layout="constrained")
    for place, first in enumerate(("cold", "warm")):
        start = headings.index(first)
        places = {"theano-scan": start, "JAX": headings.index("JAX", start)}
        columns = {
            name: [float(row[k]) / 1000 if row[k] else None for row in rows]
            for name, k in places.items()
        }
        axes = figure.add_subplot(2, 1, place + 1)
        dots(axes, [row[0] for row in rows], columns)
        axes.set_xlabel(f"seconds to the first result, {first}")
    figure.savefig(path, metadata={"Date": None})


def main(folder: Path) -> None:
    """Write both pictures."""
    draw_loops(folder / "timings_loops.svg")
    draw_compile(folder / "timings_compile.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
