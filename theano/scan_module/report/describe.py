"""Short readable expressions for values of a graph, for reports and notes of decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from pytensor.graph.basic import Apply, Constant, NominalVariable, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import (
    Add,
    Cast,
    Composite,
    IntDiv,
    Mul,
    Neg,
    Pow,
    Second,
    Sqr,
    Sub,
    TrueDiv,
)
from pytensor.tensor.basic import Alloc, Join, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.functions.compiling import TypeCastingOp
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.pytensor_internals.operations.axes import axis_apart
from theano.pytensor_internals.operations.tensor import (
    BatchedDot,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
    get_idx_list,
)
from theano.scan_module.loop.arguments import MIT_MOT, Loop, State
from theano.tensor.nnet.correlation.filtering import Filtering

Names = Mapping[Variable, str]

DEEPEST = 4
LONGEST = 72
ELLIPSIS = "…"

# How tightly an expression holds together: a weaker one inside a stronger one is put in brackets.
_SUM, _PRODUCT, _NEGATION, _POWER, _ATOM = range(5)
_INFIX = {
    Add: ("+", _SUM),
    Sub: ("-", _SUM),
    Mul: ("*", _PRODUCT),
    TrueDiv: ("/", _PRODUCT),
    IntDiv: ("//", _PRODUCT),
    Pow: ("**", _POWER),
}
# Operations that change neither the values nor anything a reader asks for.
_SILENT = (Reshape, SpecifyShape, CheckAndRaise, ScalarFromTensor, TensorFromScalar)
# What only selects or rearranges does not count as depth.
_VIEWS = (Subtensor, DimShuffle, Shape, Shape_i, PyTensorScan)


def describe(variable: Variable, names: Names | Loop | None = None) -> str:
    """Return a short expression for a value, such as ``tanh(x[t] + h.dot(U))``.

    Parameters
    ----------
    variable
        The value.
    names
        Names of variables, or the loop to whose step the value belongs. A variable with a name of
        its own needs none.

    Returns
    -------
    str
        At most about 70 characters long; what lies deeper is left out as ``…``.
    """
    names = input_names(names) if isinstance(names, Loop) else names or {}
    for depth in range(DEEPEST, 0, -1):
        text, _ = _expression(variable, names, depth)
        if len(text) <= LONGEST:
            return text
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + ELLIPSIS


def describe_product(node: Apply, names: Names | None = None) -> str:
    """Return a short expression for the product that a node computes, whatever else it computes."""
    names = names or {}
    left, right = (_operand(operand, names) for operand in operands_of(node))
    if is_a(node.op, Filtering):
        return f"{_op_name(node.op)}({left}, {right})"
    return f"outer({left}, {right})" if is_a(node.op, Ger) else f"{left}.dot({right})"


def operands_of(node: Apply) -> tuple[Variable, Variable]:
    """Return the two operands of a product or a correlation."""
    for op_class, (left, right) in _OPERANDS.items():
        if isinstance(node.op, op_class):
            return node.inputs[left], node.inputs[right]
    return node.inputs[0], node.inputs[1]


_OPERANDS = {Gemm: (2, 3), Gemv: (2, 3), Ger: (2, 3)}


class NamesOfInputs(Mapping[Variable, str]):
    """The names of the inputs of a loop's step; each name is made when it is read.

    Parameters
    ----------
    makers
        What makes the name of each input.
    """

    def __init__(self, makers: Mapping[Variable, Callable[[], str]]):
        self._makers = makers
        self._made: dict[Variable, str] = {}

    def __getitem__(self, variable: Variable) -> str:
        if variable not in self._made:
            self._made[variable] = self._makers[variable]()
        return self._made[variable]

    def __contains__(self, variable: object) -> bool:
        return variable in self._makers

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def input_names(loop: Loop, outer: Names | None = None) -> NamesOfInputs:
    """Return what to call the inputs of a loop's step, from the names of what the loop is given.

    Parameters
    ----------
    loop
        The loop.
    outer
        Names of variables of the graph that the loop is in.
    """
    outer = outer or {}
    makers: dict[Variable, Callable[[], str]] = {}
    for entry in loop.sequences:
        makers[entry.inner] = partial(_element_name, entry.outer, outer)
    for position, state in enumerate(loop.ordered_states()):
        for tap in state.reads:
            makers[tap.inner] = partial(_state_name, state, position, tap.offset, outer)
    for position, untraced in enumerate(loop.untraced):
        makers[untraced.inner_input] = partial(_untraced_name, untraced.outer, position, outer)
    for invariant in loop.invariants:
        makers[invariant.inner] = partial(_short, invariant.outer, outer)
    return NamesOfInputs(makers)


def _state_name(state: State, position: int, offset: int, names: Names) -> str:
    """Return the name of what a step reads of a state."""
    name = f"state({_initial_name(state, position, names)})"
    base = 0 if state.kind == MIT_MOT else state.span
    return f"{name}[t{offset - base:+d}]" if offset != base else name


def _untraced_name(variable: Variable, position: int, names: Names) -> str:
    return names.get(variable) or variable.name or f"untraced({position})"


def _short(variable: Variable, names: Names) -> str:
    text, _ = _expression(variable, names, 2)
    return text if len(text) <= LONGEST // 2 else _expression(variable, names, 1)[0]


def _element_name(variable: Variable, names: Names) -> str:
    """Return the name of one step's element of a sequence; where the iteration ends is left out."""
    while _is_head(variable):
        variable = variable.owner.inputs[0]
    index, last = "t", _read_backwards_from(variable)
    if last is not None:
        variable, index = variable.owner.inputs[0], f"{last}-t"
    return f"{_short(variable, names)}[{index}]"


def _read_backwards_from(variable: Variable) -> int | None:
    """Return the place, counted from the end, of the first row of ``x[place::-1]``; None of others."""
    node = variable.owner
    if node is None or variable.name or not is_a(node.op, Subtensor):
        return None
    indices = get_idx_list(node.inputs, node.op.idx_list)
    if len(indices) != 1 or not isinstance(indices[0], slice) or _number(indices[0].step) != -1:
        return None
    last = -1 if indices[0].start is None else _number(indices[0].start)
    return last if last is not None and last < 0 else None


def _is_head(variable: Variable) -> bool:
    """Return whether a value is the beginning of another one, ``x[:n]``."""
    node = variable.owner
    # PyTensor names slices after what they are slices of
    named = variable.name is not None and not variable.name.endswith("]")
    if node is None or named or not is_a(node.op, Subtensor):
        return False
    [first, *others] = get_idx_list(node.inputs, node.op.idx_list)
    if others or not isinstance(first, slice):
        return False
    return all(
        part is None or _number(part) == value
        for part, value in ((first.start, 0), (first.step, 1))
    )


def _number(value: Variable | int | None) -> int | None:
    """Return the integer that a part of an index is, None if it is not known."""
    while isinstance(value, Variable) and not is_a(value, Constant):
        if value.owner is None or not _is_conversion(value.owner.op):
            return None
        value = value.owner.inputs[0]
    return int(value.data) if is_a(value, Constant) else value


def _is_conversion(op) -> bool:
    scalar_op = op.scalar_op if is_a(op, Elemwise) else op
    return isinstance(scalar_op, Cast | ScalarFromTensor | TensorFromScalar)


def _initial_name(state: State, position: int, names: Names) -> str:
    """Return the name of a state's initial value, or the state's position."""
    variable = state.outer
    while variable not in names and not variable.name:
        node = variable.owner
        if node is None:
            break
        if is_a(node.op, IncSubtensor) and node.op.set_instead_of_inc:
            variable = node.inputs[1]
        elif isinstance(
            node.op, DimShuffle | Subtensor | SpecifyShape | CheckAndRaise | TypeCastingOp
        ):
            variable = node.inputs[0]
        else:
            break
    return names.get(variable) or variable.name or str(position)


def _expression(variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    """Return the expression and how tightly it holds together."""
    if variable in names:
        return names[variable], _ATOM
    if variable.name:
        # a sequence as scan names it, of which every element is read
        return variable.name.removesuffix("[0:]"), _ATOM
    if is_a(variable, Constant):
        return _constant(variable), _ATOM
    if is_a(variable, NominalVariable):
        return f"input {variable.id}", _ATOM
    node = variable.owner
    if node is None:
        return f"<{variable.type}>", _ATOM
    if isinstance(node.op, _SILENT):
        return _expression(node.inputs[0], names, depth)
    if depth == 0 and not isinstance(node.op, _VIEWS):
        return ELLIPSIS, _ATOM
    rule = next((_RULES[base] for base in type(node.op).__mro__ if base in _RULES), None)
    if rule is not None:
        return rule(node, variable, names, depth)
    return _call(_op_name(node.op), node.inputs, names, depth)


def _constant(variable: Constant) -> str:
    data = variable.data
    if getattr(data, "ndim", None) == 0:
        return f"{data.item():g}" if data.dtype.kind == "f" else str(data.item())
    if isinstance(variable.type, TensorType):
        return f"constant{tuple(data.shape)}"
    return str(data)


def _op_name(op) -> str:
    name = getattr(op, "name", None) or type(op).__name__
    return name if name.islower() else name[:1].lower() + name[1:]


def _call(name: str, arguments, names: Names, depth: int) -> tuple[str, int]:
    parts = [_expression(argument, names, depth - 1)[0] for argument in arguments]
    if len(parts) > 3 or all(part == ELLIPSIS for part in parts):
        parts = [ELLIPSIS]
    return f"{name}({', '.join(parts)})", _ATOM


def _inside(argument: Variable, names: Names, depth: int, binding: int) -> str:
    text, own = _expression(argument, names, depth - 1)
    return f"({text})" if own < binding else text


def _operand(operand: Variable, names: Names) -> str:
    text, binding = _expression(operand, names, 2)
    if len(text) > LONGEST // 2:
        text, binding = _expression(operand, names, 1)
    return text if binding == _ATOM else f"({text})"


def _elemwise(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    scalar_op = node.op.scalar_op
    for op_class, (symbol, binding) in _INFIX.items():
        if isinstance(scalar_op, op_class):
            first, *others = node.inputs
            # a difference or quotient groups to the left
            inner = binding if op_class in (Add, Mul) else binding + 1
            parts = [_inside(first, names, depth, binding)]
            parts += [_inside(other, names, depth, inner) for other in others]
            return f" {symbol} ".join(parts), binding
    match scalar_op:
        case Neg():
            return f"-{_inside(node.inputs[0], names, depth, _NEGATION)}", _NEGATION
        case Sqr():
            return f"{_inside(node.inputs[0], names, depth, _ATOM)} ** 2", _POWER
        case Second():
            return _expression(node.inputs[1], names, depth)
        case Cast():
            return _expression(node.inputs[0], names, depth)
        case Composite():
            return _call("elementwise", node.inputs, names, depth)
    return _call(_op_name(scalar_op), node.inputs, names, depth)


def _dimshuffle(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    kept = [axis for axis in node.op.new_order if axis != "x"]
    if kept == sorted(kept):
        return _expression(node.inputs[0], names, depth)
    base = _inside(node.inputs[0], names, depth + 1, _ATOM)
    order = tuple(node.op.new_order)
    return (f"{base}.T" if order == (1, 0) else f"{base}.dimshuffle{order}"), _ATOM


def _index(value, names: Names) -> str:
    if isinstance(value, slice):
        parts = [value.start, value.stop, value.step]
        start, stop, step = ("" if part is None else _index(part, names) for part in parts)
        return f"{start}:{stop}:{step}" if step not in ("", "1") else f"{start}:{stop}"
    if isinstance(value, Variable):
        number = _number(value)
        return str(number) if number is not None else _expression(value, names, 1)[0]
    return str(value)


def _subtensor(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    indices = get_idx_list(node.inputs, node.op.idx_list)
    base = _inside(node.inputs[0], names, depth + 1, _ATOM)
    return f"{base}[{', '.join(_index(index, names) for index in indices)}]", _ATOM


def _product(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    left, right = operands_of(node)
    left_text = _inside(left, names, depth, _ATOM)
    return f"{left_text}.dot({_expression(right, names, depth - 1)[0]})", _ATOM


def _blockwise(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    if is_a(node.op.core_op, Dot):
        return _product(node, variable, names, depth)
    return _call(_op_name(node.op.core_op), node.inputs, names, depth)


def _filtering(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    return _call(_op_name(node.op), node.inputs[:2], names, depth)


def _gemm(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    product, _ = _product(node, variable, names, depth)
    return f"{_inside(node.inputs[0], names, depth, _SUM)} + {product}", _SUM


def _reduction(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    inner = _expression(node.inputs[0], names, depth - 1)[0]
    name = _op_name(node.op)
    if node.op.axis is None or len(node.op.axis) == node.inputs[0].type.ndim:
        return f"{name}({inner})", _ATOM
    axes = node.op.axis[0] if len(node.op.axis) == 1 else tuple(node.op.axis)
    return f"{name}({inner}, axis={axes})", _ATOM


def _join(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    parts = [_expression(part, names, depth - 1)[0] for part in axis_apart(node, node.inputs)[1]]
    return f"[{' '.join(parts)}]", _ATOM


def _alloc(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    return _expression(node.inputs[0], names, depth)


def _shape(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    return f"{_inside(node.inputs[0], names, depth + 1, _ATOM)}.shape", _ATOM


def _length(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    return f"{_inside(node.inputs[0], names, depth + 1, _ATOM)}.shape[{node.op.i}]", _ATOM


def _loop_output(node: Apply, variable: Variable, names: Names, depth: int) -> tuple[str, int]:
    return f"{node.op.name or 'scan'}.{node.outputs.index(variable)}", _ATOM


_RULES: dict[type, Callable[[Apply, Variable, Names, int], tuple[str, int]]] = {
    Elemwise: _elemwise,
    DimShuffle: _dimshuffle,
    Subtensor: _subtensor,
    Gemm: _gemm,
    Gemv: _gemm,
    Ger: _gemm,
    Dot: _product,
    Dot22: _product,
    Dot22Scalar: _product,
    BatchedDot: _product,
    Blockwise: _blockwise,
    Filtering: _filtering,
    CAReduce: _reduction,
    Join: _join,
    Alloc: _alloc,
    Shape: _shape,
    Shape_i: _length,
    PyTensorScan: _loop_output,
}
