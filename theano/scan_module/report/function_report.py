"""Reports on the loops of a function, to be read, shown and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from pytensor.graph.fg import FunctionGraph

from theano.scan_module.report.loop_reports import LoopReport
from theano.scan_module.report.memory_use import MemoryUse
from theano.scan_module.report.page.graph import graph_page
from theano.scan_module.report.page.page import report_part, whole_page
from theano.scan_module.report.page.picture import loops_picture
from theano.scan_module.report.text import NOT_RECORDED, loop_lines, title_of
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class ScanReport:
    """A report on the loops of a compiled function.

    ``str`` gives it as text, a notebook shows it as a page, and `write` makes files of it.

    Attributes
    ----------
    function
        The function's name.
    recorded
        Whether the loops were recorded when the function was compiled, which Theano's modes do if
        they rewrite graphs. Without a record nothing is known of the loops before, as for a
        function that PyTensor compiled and for a copy of a function.
    loops
        The loops, nested ones after those around them.
    products_outside
        How many products the compiled function computes outside its loops.
    memory
        The memory of a call, if sizes were given and the engine knows it; with PyTensor's engines
        and XLA's it is None.
    graph
        The compiled graph; it is no part of what makes two reports equal.
    """

    function: str
    recorded: bool
    loops: tuple[LoopReport, ...]
    products_outside: int
    memory: MemoryUse | None = field(default=None, compare=False)
    graph: FunctionGraph | None = field(default=None, repr=False, compare=False)

    @property
    def title(self) -> str:
        """Return how many loops and products the function has."""
        return title_of(self.function, self.loops, self.products_outside)

    @property
    def notes(self) -> str:
        """Return what is to be known of the whole report; may be empty."""
        return "" if self.recorded or not self.loops else NOT_RECORDED

    def __str__(self) -> str:
        lines = [self.title, *filter(None, [self.notes])]
        for loop in self.loops:
            lines += ["", *loop_lines(loop)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return report_part(self.title, self.loops, self.notes, memory=_memory_lines(self))

    def write(self, path: str | Path) -> None:
        """Write the report to a file.

        Parameters
        ----------
        path
            A name that ends in ``.html``, for a page, in ``.svg``, for the pictures of the loops
            alone, or in ``.txt``. Next to a page, where pydot and graphviz are installed, lies
            another with the whole graph, by `theano.d3viz`, to which it leads.

        Raises
        ------
        ValueError
            For any other ending.
        """
        path = Path(path)
        if path.suffix not in _WRITERS:
            raise ValueError(
                f"scan_report: expected a file name that ends in {', '.join(_WRITERS)}; got {path}"
            )
        path.write_text(_WRITERS[path.suffix](self, path), encoding="utf-8")


def _page(report: ScanReport, path: Path) -> str:
    graph = graph_page(report.graph, path) if report.loops else ""
    part = report_part(report.title, report.loops, report.notes, graph, _memory_lines(report))
    return whole_page(report.title, part)


def _memory_lines(report: ScanReport) -> str:
    return "" if report.memory is None else str(report.memory)


_WRITERS: dict[str, Callable[[ScanReport, Path], str]] = {
    ".html": _page,
    ".svg": lambda report, path: loops_picture(report.loops),
    ".txt": lambda report, path: f"{report}\n",
}
