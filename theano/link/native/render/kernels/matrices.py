"""Products of stacks of integer matrices."""

from __future__ import annotations

from theano.link.native.render.arrays import Array, indices, loops, passes
from theano.link.native.render.polls import declared, unless_empty
from theano.link.native.render.registry import writes_task
from theano.link.native.statements.tasks import MultiplyStacks


@writes_task(MultiplyStacks)
def multiply_stacks(task: MultiplyStacks, polls: int, y: Array, x: Array, z: Array) -> list[str]:
    """Products of integers, which wrap around, or of booleans."""
    names = indices("b", len(y.shape) - 2)
    add, multiply = ("|", "&") if y.dtype == "bool" else ("+", "*")
    working = y.kind if y.dtype == "bool" else "uint64_t"
    left, right = x.at(*names, "i", "k"), z.at(*names, "k", "j")
    term = f"total = total {add} ({working}){left} {multiply} ({working}){right};"
    body = [
        f"{working} total = 0;",
        *passes("k", [x.shape[-1]], [term], polls),
        f"{y.at(*names, 'i', 'j')} = ({y.kind})total;",
    ]
    one = loops("ij", y.shape[-2:], body, polls)
    return [*declared(polls), *unless_empty(y.shape, loops(names, y.shape[:-2], one, polls))]
