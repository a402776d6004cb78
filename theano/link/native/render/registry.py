"""The functions that write each kind of statement as C: statements know nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from theano.link.native.ir.partitions import ONE, Partition, Share
from theano.link.native.render.loop_nests import nest_in_c
from theano.link.native.render.writer import Writer
from theano.link.native.schedule.accumulate import in_vectors
from theano.link.native.schedule.registry import is_by_every_thread, nest_of, schedule_of
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.reduce import Reduce
from theano.support.data_classes import dataclass

# takes the statement, what it is written with, and which part of it one of several threads does
Renderer = Callable[[Any, Writer, Any], list[str]]


@dataclass(frozen=True)
class Rendering:
    """The rendering of a kind of statement in C.

    Attributes
    ----------
    lines
        The statement in C: all of it, or a thread's share.
    by_every_thread
        Whether it is given the partition of it among threads, and says itself what those do that have
        no part; else it is given a share, or nothing.
    about
        The comment that stands before it.
    libraries
        The files besides the prelude that it needs: 'vectors', or those of an `Expression`.
    """

    lines: Renderer
    by_every_thread: bool
    about: Callable[[Any], str]
    libraries: Callable[[Any], Set[str]]


RENDERERS: dict[type, Rendering] = {}

# takes the name of a kind's class, and imports what registers its function
_import_renderer: list[Callable[[str], None]] = []


def import_renderers_by(function: Callable[[str], None]) -> None:
    """Register what imports the function of a kind of statement that is used for the first time."""
    _import_renderer[:] = [function]


def renders(
    *kinds: type,
    by_every_thread: bool = False,
    about: Callable[[Any], str] = lambda statement: "",
    libraries: Callable[[Any], Set[str]] = lambda statement: frozenset(),
) -> Callable[[Renderer], Renderer]:
    """Register a function as what writes statements of these kinds; see `Rendering`."""

    def register(function: Renderer) -> Renderer:
        for kind in kinds:
            RENDERERS[kind] = Rendering(function, by_every_thread, about, libraries)
        return function

    return register


def rendering_of(statement: Statement) -> Rendering:
    """Return how a statement is written.

    Raises
    ------
    TypeError
        Where nothing writes its kind.
    """
    kind = type(statement)
    if kind not in RENDERERS and schedule_of(kind) is not None:
        RENDERERS[kind] = Rendering(_nest, is_by_every_thread(kind), _results, _libraries)
    if kind not in RENDERERS:
        _import_renderer[0](kind.__name__)
        known = next((one for one in kind.__mro__ if one in RENDERERS), None)
        if known is None:
            raise TypeError(
                f"nothing writes {kind.__name__} as C: register a function with `renders`"
            )
        RENDERERS[kind] = RENDERERS[known]
    return RENDERERS[kind]


def _nest(statement: Statement, writer: Writer, share: Any) -> list[str]:
    """Return a statement that becomes a loop nest."""
    return nest_in_c(nest_of(statement, writer.sizes, writer.polls, share), writer)


def _results(statement: Statement) -> str:
    """Return the names of what such a statement computes and stores."""
    parts = statement.in_order()
    computed = [one for part in parts for one in part.elementwise()]
    names = dict.fromkeys(
        one.buffer.root().name for one in computed if one.materialized and one.buffer
    )
    return "row by row: " * (len(parts) > 1) + ", ".join(names)


def _libraries(statement: Statement) -> Set[str]:
    """Return what the computations and the reductions of such a statement need."""
    found: set[str] = set()
    for part in statement.in_order():
        computed = [one.operation.library for one in part.elementwise()]
        reduction = as_kind(part, Reduce)
        if computed or (reduction is not None and in_vectors(reduction)):
            found |= {"vectors", *computed}
    return found


def lines_of(statement: Statement, writer: Writer, share: Share | None) -> list[str]:
    """Return a statement in C: all of it, or what one of several threads does of it."""
    return rendering_of(statement).lines(statement, writer, share)


def lines_of_a_thread(
    statement: Statement, writer: Writer, partition: Partition | None
) -> list[str]:
    """Return what one of several threads does of a statement, if it does anything."""
    rendering = rendering_of(statement)
    if rendering.by_every_thread:
        return rendering.lines(statement, writer, partition)
    lines = rendering.lines(statement, writer, partition if isinstance(partition, Share) else None)
    return ["if (!thread) {", *lines, "}"] if partition == ONE else lines


def about(statement: Statement) -> str:
    """Return the comment that stands before a statement."""
    return rendering_of(statement).about(statement)


def libraries(statement: Statement) -> Set[str]:
    """Return the files besides the prelude that a statement needs."""
    return rendering_of(statement).libraries(statement)


# ---- tasks of kernels ----

# takes the task, how many elements there are between polls, the arrays, how the numbers read, and
# what ends the step, where it may fail
TaskWriter = Callable[..., list[str]]

# by the class of the task, and whether it is only checked
TASKS: dict[tuple[type, bool], TaskWriter] = {}


def writes_task(*tasks: type, checks: bool = False) -> Callable[[TaskWriter], TaskWriter]:
    """Register a function as what writes the loops of these tasks, or only what may fail in them."""

    def register(function: TaskWriter) -> TaskWriter:
        for task in tasks:
            TASKS[task, checks] = function
        return function

    return register


def writer_of_task(task: object, checks: bool) -> TaskWriter:
    """Return the function that writes a task.

    Raises
    ------
    TypeError
        Where there is none.
    """
    kind = type(task)
    if (kind, checks) not in TASKS:
        _import_renderer[0](kind.__name__)
    if (kind, checks) not in TASKS:
        what = f"what may fail in {kind.__name__}" if checks else kind.__name__
        raise TypeError(f"nothing writes {what} as C: register a function with `writes_task`")
    return TASKS[kind, checks]
