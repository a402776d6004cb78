"""Tasks over arrays with any strides."""

from __future__ import annotations

from theano.link.native.ir.partitions import Share
from theano.link.native.render.arrays import Array
from theano.link.native.render.numbers_in_c import C_TYPES, in_c
from theano.link.native.render.registry import renders, writer_of_task
from theano.link.native.render.writer import Writer
from theano.link.native.schedule.polls import between_polls
from theano.link.native.statements.kernel import Kernel


@renders(Kernel)
def kernel(statement: Kernel, writer: Writer, share: Share | None) -> list[str]:
    """Return the arrays by name, and the loops of the task over them."""
    lines, arrays = ["{"], []
    for k, view in enumerate([*statement.writes, *statement.reads]):
        place = writer.place(view)
        strides = tuple(stride.text for stride in place.strides)
        arrays.append(Array(f"x{k}", view.dtype, writer.shape(view), strides))
        lines.append(f"{C_TYPES[view.dtype]} *const x{k} = {place.pointer};")
    numbers: list[str] = [in_c(writer.size(number)) for number in statement.numbers]
    if statement.failure is not None:
        numbers.append(writer.fails(*statement.failure))
    write = writer_of_task(statement.task, statement.only_checks)
    polls = between_polls() if writer.polls else 0
    return [*lines, *write(statement.task, polls, *arrays, *numbers), "}"]
