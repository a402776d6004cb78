"""After a step is lowered: what is stored, and with which strides."""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, Compute
from theano.link.native.ir.symbolic import Name
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment


def mark_materialized(lowered: Loop | Segment) -> None:
    """Results of maps that anything reads from memory, or that are stored for the caller."""
    for statement in lowered.step.statements:
        for view in statement.views():
            _store(view.buffer)
        for compute in statement.elementwise():
            if compute.buffer is not None and compute.buffer.place is not None:
                compute.materialized = True


def _store(buffer: Buffer | None) -> None:
    while buffer is not None:
        if isinstance(buffer.compute, Compute):
            buffer.compute.materialized = True
        buffer = buffer.source.buffer if buffer.source is not None else None


def choose_strides(lowered: Loop | Segment) -> None:
    """Invariants that only products read may have any strides; others are in C order."""
    step = lowered.step
    buffers: dict[str, Buffer] = {}
    strict: set[str] = set()
    for statement in step.statements:
        for view in statement.views():
            root = view.buffer.root()
            if root.role == "invariant":
                buffers[root.name] = root
                if view.buffer is not root:
                    strict.add(root.name)
        strict.update(view.buffer.root().name for view in statement.strict_views())
    for view in step.packed:
        buffers[view.buffer.root().name] = view.buffer.root()
    for argument in lowered.passed:
        root = buffers.get(argument.name)  # type: ignore[assignment]
        if root is None or root.packed or argument.name in strict:
            continue
        if argument.constant is None:
            argument.free_strides = True
            strides = tuple(Name(f"{argument.name}_s{d}") for d in range(len(root.shape)))
            root.strides = strides[::-1] if argument.in_columns else strides
