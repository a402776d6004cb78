"""Graphs, rewritten by one rewrite or by a mode, each change compared with what it replaced."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytensor
from pytensor.graph.basic import Variable
from pytensor.graph.destroyhandler import DestroyHandler
from pytensor.graph.features import Feature
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import NodeRewriter, OpToRewriterTracker
from pytensor.printing import pprint
from pytensor.tensor.basic import cast

from tests_scan_grad.rewrites.compare import LOST_ERROR, difference, precision_of, scale_of
from tests_scan_grad.rewrites.interpret import Failed, Interpreter, run_in_order
from tests_scan_grad.rewrites.listed import modes, name_of, rewrites
from theano.compile.mode import Supervisor
from theano.pytensor_internals.operations.tensor_rewrites import ShapeOptimizer
from theano.rewriting.arranged import arranged

CRASH = "the rewrite raises"
OF_ALL = "all of them together"


@dataclass(frozen=True)
class Finding:
    """A change after which something is not as it was."""

    rewrite: str
    kind: str
    where: str
    details: str


@dataclass
class Record:
    """Observations on graphs: how often each rewrite changed something, and what then differed."""

    changes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def compare(
        self,
        name: str,
        where: str,
        old: Variable,
        new: Variable,
        at: Interpreter,
        precision: float | None = None,
    ) -> None:
        """Note a change from one variable to another, whose value was computed in some precision."""
        before, after = at.value(old), at.value(new)
        read = old.owner.inputs if old.owner is not None else []
        scale = scale_of([at.value(v) for v in read])
        computed_in = precision_of([old]) if precision is None else precision
        kind = difference(before, after, scale, computed_in)
        if kind == LOST_ERROR and before.node is not old.owner:
            # of what a result does not need
            kind = None
        if kind is not None:
            details = f"{described(old)} = {before} of {old.type}\nbecame {described(new)} = {after} of {new.type}"
            self.findings.append(Finding(name, kind, where, details))


def described(variable: Variable) -> str:
    """A variable as an expression."""
    return pprint(variable)[:1000]


@dataclass(frozen=True)
class Made:
    """A graph that a recipe made, with values for its inputs."""

    outputs: list[Variable]
    values: dict[Variable, Any]

    def graph(self) -> tuple[FunctionGraph, Interpreter]:
        """A copy to be rewritten, and what knows the values of its variables."""
        copied = FunctionGraph(list(self.values), self.outputs, clone=True)
        given = dict(zip(copied.inputs, self.values.values(), strict=True))
        return copied, Interpreter(given)


class Watch(Feature):
    """Compares each variable that takes another's place with it.

    Values of variables are those before any rewrite, in the precision that the graph then had.
    """

    def __init__(self, record: Record, where: str, at: Interpreter, precision: float):
        self.record, self.where, self.at, self.precision = record, where, at, precision
        self.seen: set[tuple[Variable, Variable]] = set()

    def on_change_input(self, fgraph, node, i, old, new, reason=None) -> None:
        """Note a change, once for all nodes that read the variable."""
        # a tuple is the reason of what is taken back
        if (old, new) in self.seen or old is new or isinstance(reason, tuple):
            return
        self.seen.add((old, new))
        self.record.changes[name_of(reason)] += 1
        if reason == "explicit_casts":
            # the node that reads it converts it
            wide = np.promote_types(old.type.dtype, new.type.dtype).name
            old, new = cast(old, wide), cast(new, wide)
        self.record.compare(name_of(reason), self.where, old, new, self.at, self.precision)


@cache
def _trackers() -> OpToRewriterTracker:
    tracker = OpToRewriterTracker()
    for same_name in rewrites().values():
        for rewriter in same_name:
            if isinstance(rewriter, NodeRewriter):
                tracker.add_tracker(rewriter)
    return tracker


def check_alone(made: Made, record: Record) -> None:
    """Ask each rewrite of nodes for what it would put in place of each node."""
    graph, at = made.graph()
    arranged(ShapeOptimizer()).apply(graph)
    # which those ask that overwrite
    graph.attach_feature(DestroyHandler())
    for node in graph.toposort():
        for rewriter in dict.fromkeys(_trackers().get_trackers(node.op)):
            name = name_of(rewriter)
            try:
                replaced = rewriter.transform(graph, node)
            except Exception as error:
                record.findings.append(Finding(name, CRASH, "alone", f"{node}: {error!r}"))
                continue
            pairs = list(_pairs(node.outputs, replaced))
            if pairs:
                record.changes[name] += 1
            for old, new in pairs:
                record.compare(name, "alone", old, new, at)


def _pairs(outputs: list[Variable], replaced: Any) -> Iterator[tuple[Variable, Variable]]:
    if isinstance(replaced, dict):
        replacements = [(old, new) for old, new in replaced.items() if isinstance(old, Variable)]
    else:
        replacements = list(zip(outputs, replaced or [], strict=False))
    yield from ((old, new) for old, new in replacements if new is not None and new is not old)


class _Messages(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
        message = record.getMessage()
        if not message.startswith(("node:", "TRACEBACK", "Traceback")):
            self.said.append(message)


@contextmanager
def complaints() -> Iterator[list[str]]:
    """Collect what is logged about rewrites that fail, which modes skip."""
    handler = _Messages()
    loggers = [logging.getLogger(name) for name in ("pytensor", "theano")]
    kept = [list(logger.handlers) for logger in loggers]
    for logger in loggers:
        logger.handlers = [handler]
        logger.propagate = False
    try:
        with pytensor.config.change_flags(on_opt_error="warn"):
            yield handler.said
    finally:
        for logger, handlers in zip(loggers, kept, strict=True):
            logger.handlers = handlers
            logger.propagate = True


def check_mode(made: Made, name: str, record: Record) -> None:
    """Rewrite a graph as a mode does, and compare each change, and the outputs."""
    graph, at = made.graph()
    before, precision = [at.value(v) for v in graph.outputs], precision_of(graph.outputs)
    graph.attach_feature(Supervisor(graph.inputs))
    watch = Watch(record, name, at, precision)
    graph.attach_feature(watch)
    with complaints() as said:
        try:
            modes()[name].optimizer.rewrite(graph)
        except AssertionError as error:
            # which PyTensor raises whatever the flag says
            record.findings.append(Finding(OF_ALL, CRASH, name, repr(error)))
            return
    for message in said:
        rewrite = message.splitlines()[0].removeprefix("Rewrite failure due to: ")[:60]
        record.findings.append(Finding(rewrite, CRASH, name, message))
    scale = scale_of([v for v in at.values.values() if not isinstance(v, Failed)])
    after = run_in_order(graph, [at.value(v) for v in graph.inputs])
    for old, new in zip(before, after, strict=True):
        kind = difference(old, new, scale, precision)
        if kind is not None and kind != LOST_ERROR:
            record.findings.append(Finding(OF_ALL, kind, name, f"{old}\nbecame {new}"))
