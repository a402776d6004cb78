"""After a step is lowered: what is stored, with which strides, and whether the types are right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from theano.link.native.ir.ir import Argument, Buffer, CannotLower, Compute, Value
from theano.link.native.ir.symbolic import Name
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Statement
from theano.link.native.statements.map import Map


def check_types(step: Step, node: Any, results: list[Value]) -> None:
    """Hold the results of a lowering against the types of the graph."""
    for variable, value in zip(node.outputs, results, strict=True):
        ndim = getattr(variable.type, "ndim", 0)
        if value.ndim != ndim or value.dtype != variable.type.dtype:
            raise CannotLower(
                f"{node.op} as {value.dtype} with {value.ndim} dimensions instead of "
                f"{variable.type}"
            )
        for d, size in enumerate(getattr(variable.type, "shape", ())):
            if size is not None:
                step.sizes.equal(value.shape[d], size, f"a static size of {node.op}")


def mark_stored(statements: Iterable[Statement]) -> None:
    """Results of maps that anything reads from memory, or that are stored for the caller."""
    for statement in statements:
        for view in statement.views():
            _store(view.buffer)
        if isinstance(statement, Map):
            for compute in statement.body:
                if compute.buffer is not None and compute.buffer.place is not None:
                    compute.stored = True


def _store(buffer: Buffer | None) -> None:
    while buffer is not None:
        if isinstance(buffer.compute, Compute):
            buffer.compute.stored = True
        buffer = buffer.source.buffer if buffer.source is not None else None


def choose_strides(arguments: Iterable[Argument], step: Step) -> None:
    """Invariants that only products read may have any strides; others are in C order."""
    buffers: dict[str, Buffer] = {}
    strict: set[str] = set()
    for statement in step.statements:
        free = statement.free_views()
        for view in statement.views():
            root = view.buffer.root()
            if root.role == "invariant":
                buffers[root.name] = root
                if not (view.buffer is root and any(view is one for one in free)):
                    strict.add(root.name)
    for view in step.packed:
        buffers[view.buffer.root().name] = view.buffer.root()
    for argument in arguments:
        root = buffers.get(argument.name)  # type: ignore[assignment]
        if root is None or root.packed or argument.name in strict:
            continue
        if argument.constant is None:
            argument.free_strides = True
            root.strides = tuple(Name(f"{argument.name}_s{d}") for d in range(len(root.shape)))
