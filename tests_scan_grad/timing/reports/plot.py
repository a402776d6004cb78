"""A picture of a run: a bar for each method, split into its parts; a line for each peer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests_scan_grad.timing.experiment import TimingError
from tests_scan_grad.timing.reports.report import SHARES


def require_matplotlib() -> None:
    """Raise TimingError if there is nothing to draw with."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise TimingError(
            "--plot needs matplotlib, which is not installed: pip install 'theano-scan[bench]'"
        ) from error


def draw_problem(axes: Any, problem: dict[str, Any]) -> None:
    """Draw one problem's methods and peers."""
    methods = [row for row in problem["rows"] if row["kind"] == "method"]
    peers = [row for row in problem["rows"] if row["kind"] == "peer"]
    names = [row["name"] for row in methods]
    bottom = [0.0] * len(methods)
    for number, (share, key) in enumerate(SHARES.items()):
        # The profiled call is slower than the fastest one: draw its proportions.
        heights = []
        for row in methods:
            total = sum(row["profile"][each] for each in SHARES.values())
            heights.append(1000 * row["seconds"] * row["profile"][key] / total)
        axes.bar(names, heights, bottom=bottom, label=share, color=f"C{number}", width=0.6)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    for number, row in enumerate(peers, start=len(SHARES)):
        axes.axhline(1000 * row["seconds"], label=row["name"], color=f"C{number}", linestyle="--")
    axes.set_title(problem["label"], fontsize=9)
    axes.set_ylabel("ms")
    axes.set_ylim(bottom=0)


def plot(run: dict[str, Any], path: Path) -> None:
    """Draw a run into a file whose ending says its format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    problems = run["problems"]
    columns = min(4, len(problems))
    rows = -(-len(problems) // columns)
    figure = Figure(figsize=(max(6.4, 3.4 * columns), 4.0 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(problems) :]:
        axes.set_axis_off()
    for axes, problem in zip(grid.flat, problems, strict=False):
        draw_problem(axes, problem)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=8)
    figure.suptitle(f"{run['experiment']} ({run['machine']['processor']})")
    figure.savefig(path)
