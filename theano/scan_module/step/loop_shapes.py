"""Shapes of a loop's outputs: of its buffers, and of what one step computes.

A state's output is as long and wide as its buffer. Only a trace needs the step: its shape is
inferred once from symbols that stand for the lengths of the step's inputs, and every node of
the same op puts its own lengths in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.shape import Shape as ShapeOp
from pytensor.tensor.shape import Shape_i

from theano.pytensor_internals.graphs.annotations import only_result
from theano.pytensor_internals.graphs.graph import frozen_graph_inside
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.not_negative import symbol_of_length
from theano.pytensor_internals.graphs.order import order_of
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.pytensor_internals.operations.tensor import broadcast_assert
from theano.pytensor_internals.operations.tensor_rewrites import infer_shape
from theano.scan_module.loop.roles import InnerInputs, OuterInputs, Roles, given_by, given_to
from theano.support.data_classes import dataclass

Shape = tuple[Variable, ...] | None
Pattern = tuple[tuple[tuple[str, int], ...] | None, ...]


@dataclass(frozen=True)
class StepShapes:
    """Shapes of the values that a step stores, as expressions of the leaves.

    The leaves are the symbols, one for each different length of the step's inputs, and the
    step's invariants. A length that depends on anything else is None.
    """

    leaves: tuple[Variable, ...]
    traces: tuple[tuple[Variable | None, ...] | None, ...]


def output_shapes(node: Apply, input_shapes: Sequence[Shape]) -> list[Shape]:
    """Return the shape of each output of a loop.

    Parameters
    ----------
    node
        An apply node of a ``Scan`` op.
    input_shapes
        Shapes of the node's inputs; None for an input that has none, such as a generator.
    """
    roles, given = Roles.of(node.op), given_to(node)
    known = roles.outer_inputs(input_shapes)
    shapes, traces = list(known.states), []
    if roles.traces:
        pattern, different = _pattern(_inner_shapes(roles, known))
        step = _shapes_of_step(node.op, pattern)
        lengths = dict(zip(step.leaves, (*different, *given.invariants), strict=True))
        traces = [
            None if shape is None else (steps, *_lengths(shape, lengths, output))
            for steps, shape, output in zip(
                given.trace_lengths, step.traces, given_by(node).traces, strict=True
            )
        ]
    shapes += traces
    if roles.may_stop:
        # only the loop itself knows how many steps it makes
        shapes = [
            None if shape is None else (only_result(Shape_i(0)(output)), *shape[1:])
            for shape, output in zip(shapes, node.outputs, strict=False)
        ]
    return shapes + known.untraced


def _inner_shapes(roles: Roles, given: OuterInputs[Shape]) -> list[Shape]:
    """Shapes of the step's inputs: a slice of what the loop is given, or all of it."""
    return InnerInputs(
        sequences=[_of_a_slice(shape) for shape in given.sequences],
        states=[
            [_of_a_slice(shape)] * len(taps.reads)
            for shape, taps in zip(given.states, roles.states, strict=True)
        ],
        untraced=given.untraced,
        invariants=given.invariants,
    ).in_order()


def _of_a_slice(shape: Shape) -> Shape:
    return None if shape is None else shape[1:]


def _pattern(shapes: Iterable[Shape]) -> tuple[Pattern, tuple[Variable, ...]]:
    """Return which lengths are constant and which are the same, and the different ones in order."""
    different: dict[Variable, int] = {}
    pattern = tuple(
        None
        if shape is None
        else tuple(
            ("constant", int(length.data))
            if is_a(length, Constant)
            else ("symbol", different.setdefault(length, len(different)))
            for length in shape
        )
        for shape in shapes
    )
    return pattern, tuple(different)


def _shapes_of_step(op: PyTensorScan, pattern: Pattern) -> StepShapes:
    """Return what the step's traces are, remembered by the op for inputs of the same pattern.

    Equal steps, such as those of a network's layers, are looked at once: what is found is said
    of the leaves, which are in the same order.
    """
    remembered = vars(op).setdefault(REMEMBERED, {})
    if pattern not in remembered:
        # interned by PyTensor, so that it is quickly compared
        key = op.info, frozen_graph_inside(op), pattern
        if key not in _of_equal_steps:
            forget_the_first(_of_equal_steps, STEPS_KEPT)
            _of_equal_steps[key] = _infer(op, pattern)
        remembered[pattern] = _of_equal_steps[key]
    return remembered[pattern]


def forget_the_first(kept: dict, most: int) -> None:
    """Make room for one more among so many."""
    while len(kept) >= most:
        kept.pop(next(iter(kept)), None)


# a step may ask for the shape of what it made from a length that it had asked for
READS_BEHIND_READS = 4
REMEMBERED = "shapes_of_step"
# Those looked at last; each keeps its step in memory.
STEPS_KEPT = 32
_of_equal_steps: dict[tuple, StepShapes] = {}


def _infer(op: PyTensorScan, pattern: Pattern) -> StepShapes:
    roles = Roles.of(op)
    used = {number for shape in pattern for kind, number in shape or () if kind == "symbol"}
    symbols = tuple(symbol_of_length() for _ in used)
    shapes = [
        None
        if shape is None
        else tuple(
            pt.constant(number, dtype="int64") if kind == "constant" else symbols[number]
            for kind, number in shape
        )
        for shape in pattern
    ]

    def shapes_of(variables: Sequence[Variable]) -> list[Shape]:
        return infer_shape(variables, op.inner_inputs, shapes)

    inferred = shapes_of(roles.inner_outputs(op.inner_outputs).traces)
    invariants = roles.inner_inputs(op.inner_inputs).invariants
    varying = set(op.inner_inputs) - set(invariants)
    return StepShapes(
        leaves=(*symbols, *invariants),
        traces=tuple(
            None
            if shape is None
            else tuple(
                _known_outside(_without_reads(length, shapes_of), varying) for length in shape
            )
            for shape in inferred
        ),
    )


def _without_reads(
    length: Variable, shapes_of: Callable[[list[Variable]], list[Shape]]
) -> Variable:
    """Return a length, with what is known in the places where the step itself asks for shapes."""
    for _ in range(READS_BEHIND_READS):
        nodes = {v.owner for v in ancestors([length]) if v.owner is not None}
        asking = [node for node in nodes if isinstance(node.op, Shape_i | ShapeOp)]
        if not asking:
            break
        known: dict[Variable, Variable] = {}
        for node, shape in zip(asking, shapes_of([n.inputs[0] for n in asking]), strict=True):
            if shape is not None:
                one_axis = is_a(node.op, Shape_i)
                known[node.outputs[0]] = shape[node.op.i] if one_axis else pt.stack(list(shape))
        length = clone_replace(length, {old: new for old, new in known.items() if old is not new})
    return length


def _known_outside(length: Variable, varying: set[Variable]) -> Variable | None:
    """Return a length without what only the loop itself can know, or None."""
    while length.owner is not None and length.owner.op == broadcast_assert:
        # the loop makes the same check when it runs
        length = length.owner.inputs[0]
    return None if any(leaf in varying for leaf in ancestors([length])) else length


def _lengths(
    shape: Iterable[Variable | None], known: dict[Variable, Variable], output: Variable
) -> Iterator[Variable]:
    """Yield the lengths of one step's part of an output; what is computed for them becomes known."""
    for axis, length in enumerate(shape, start=1):
        static = output.type.shape[axis]
        if static is not None:
            yield pt.constant(static, dtype="int64")
        elif length is None:
            yield only_result(Shape_i(axis)(output))
        else:
            yield _substituted(length, known)


def _substituted(length: Variable, known: dict[Variable, Variable]) -> Variable:
    if length not in known and length.owner is not None:
        for node in order_of([length], known):
            inputs = [known.get(variable, variable) for variable in node.inputs]
            made = node.clone_with_new_inputs(inputs, strict=False)
            known.update(zip(node.outputs, made.outputs, strict=True))
    return known.get(length, length)
