"""Arrays that are given by a few numbers."""

from __future__ import annotations

from pytensor.tensor.basic import ARange, Eye

from theano.link.native.ir.ir import CannotLower, Scalar, Size, Value, View
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.sizes import SLICE_LENGTH
from theano.link.native.ir.symbolic import AsDouble, Call, compared, maximum
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import WriteEye, WriteRange


@lowers(Eye)
def eye(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Ones on a diagonal, which may be another in every step."""
    shape = [step.size(size, "a size of Eye") for size in inputs[:2]]
    for size in shape:
        step.sizes.check(compared(size, ">=", 0), "a size of Eye that is not negative")
    offset = inputs[2]
    assert isinstance(offset, Scalar)
    out = step.temporary(node.op.dtype, shape)
    step.append(Kernel([View.of(out)], [], WriteEye(), [offset.signed]), out)
    return [View.of(out)]


@lowers(ARange)
def arange(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Numbers at equal distances; how many of them is known before the loop."""
    start, stop, distance = inputs
    if not all(isinstance(value, Scalar) and value.invariant for value in inputs):
        raise CannotLower("a range whose length may differ between steps")
    assert isinstance(start, Scalar) and isinstance(stop, Scalar) and isinstance(distance, Scalar)
    length = _length(step, start, stop, distance)
    out = step.temporary(node.op.dtype, (length,))
    numbers = [start.symbol, distance.symbol]
    step.append(Kernel([View.of(out)], [], WriteRange(), numbers), out)
    return [View.of(out)]


def _length(step: Step, start: Scalar, stop: Scalar, distance: Scalar) -> Size:
    known = [value.literal for value in (start, stop, distance)]
    if all(value is not None for value in known) and start.dtype not in FLOATS:
        try:
            return len(range(*(int(value) for value in known)))
        except (OverflowError, ValueError) as error:
            raise CannotLower(f"a range that cannot be: {error}") from None
    step.sizes.check(compared(distance.symbol, "!=", 0), "a range whose distance is not zero")
    if {start.dtype, stop.dtype, distance.dtype} & set(FLOATS):
        bounds = tuple(AsDouble(value.symbol) for value in (start, stop, distance))
        return step.sizes.name(Call("range_length", bounds))
    if known == [0, None, 1]:
        length = step.size(stop, "a range")
        return step.sizes.name(maximum(length, 0))
    signed_bounds = tuple(value.signed for value in (start, stop, distance))
    return step.sizes.name(Call(SLICE_LENGTH, signed_bounds))
