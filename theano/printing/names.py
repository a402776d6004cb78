"""Theano 1.0's spelling of operations, types and variables that PyTensor writes in another way.

Operations are described by their node, because PyTensor's keep less: an index does not know the
types of what it is given.
"""

from collections.abc import Callable, Iterator

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.type import Type
from pytensor.scalar.basic import Cast, Composite, Identity, ScalarOp
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import All, Dot, Max, Min, Prod, Sum
from pytensor.tensor.math import Any as AnyOf
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.special import Softmax
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorConstant

from theano.pytensor_internals.functions.compiling import TypeCastingOp
from theano.pytensor_internals.graphs.scan import Scan

__all__ = ["function_name", "inner_name", "operation_name", "type_name", "variable_name"]

LONGEST_CONSTANT = 20

_NAMES_OF_PATTERNS = {
    (): "scalar",
    (False,): "vector",
    (False, False): "matrix",
    (True, False): "row",
    (False, True): "col",
}

# PyTensor's names of scalar operations, in small letters, and Theano's.
_SCALAR_NAMES = {
    "abs": "abs_",
    "and": "and_",
    "or": "or_",
    "reciprocal": "inv",
    "roundhalfawayfromzero": "round_half_away_from_zero",
    "roundhalftoeven": "round_half_to_even",
    "sign": "sgn",
}

# Elementwise operations that have their own name.
_NAMED_ALONE = ("sigmoid", "softplus")


def type_name(kind: Type) -> str:
    """Return a type as Theano 1.0 writes it: ``TensorType(float64, matrix)``."""
    if type(kind) is not TensorType:
        return str(kind)
    pattern = tuple(bool(one) for one in kind.broadcastable)
    name = _NAMES_OF_PATTERNS.get(pattern)
    if name is None:
        name = str(pattern) if any(pattern) else f"{len(pattern)}D"
    return f"TensorType({kind.dtype}, {name})"


def variable_name(variable: Variable) -> str:
    """Return a variable as Theano 1.0 writes it: its name, its value, its operation or its type."""
    if variable.name is not None:
        return variable.name
    if isinstance(variable, Constant):
        return _constant_name(variable)
    if variable.owner is not None:
        name, node = operation_name(variable.owner), variable.owner
        output = node.op.default_output if len(node.outputs) > 1 else 0
        position = node.outputs.index(variable)
        return f"{name}.out" if position == output else f"{name}.{position}"
    return f"<{type_name(variable.type)}>"


def operation_name(node: Apply) -> str:
    """Return the operation of a node as Theano 1.0 writes it: ``Elemwise{add,no_inplace}``."""
    for kind in type(node.op).__mro__:
        if kind in _RULES:
            return _RULES[kind](node)
    return str(node.op)


def function_name(node: Apply) -> str:
    """Return the operation of a node as Theano 1.0 writes it in a formula: ``log``."""
    named = isinstance(node.op, Elemwise) and not isinstance(node.op.scalar_op, Cast | Composite)
    if named and not node.op.inplace_pattern:
        return _scalar_name(node.op.scalar_op)
    return operation_name(node)


def inner_name(
    variable: Variable, outer: Variable, node: Apply, named: Callable[[Variable], str | None]
) -> str | None:
    """Return the name of an input of a loop's step, made from that of what it stands for.

    Parameters
    ----------
    variable, outer
        The input, and the input of the loop that gives its value.
    node
        The loop.
    named
        The name of a variable where the loop is.
    """
    for inner, ending in _inner_inputs(node.op):
        if inner is variable:
            base = _initial_value(outer) if ending == "[t-1]" else outer
            name = _name_of_whole(base, named) if ending != "_copy" else named(base)
            if name is not None:
                return f"{name}{ending}"
    return variable.name


def _inner_inputs(scan: Scan) -> Iterator[tuple[Variable, str]]:
    """Yield the inputs of a step that Theano names, and how their names end."""
    inputs = scan.inner_inputs
    for kind, ending in (
        (scan.inner_seqs, "[t]"),
        (scan.inner_sitsot, "[t-1]"),
        (scan.inner_non_seqs, "_copy"),
    ):
        for inner in kind(inputs):
            yield inner, ending


def _initial_value(variable: Variable) -> Variable:
    """Return what a state begins with: it is written into memory for all steps, with one dimension more."""
    while variable.owner is not None:
        node = variable.owner
        if isinstance(node.op, IncSubtensor):
            variable = node.inputs[1]
        elif isinstance(node.op, DimShuffle | TypeCastingOp):
            variable = node.inputs[0]
        else:
            break
    return variable


def _name_of_whole(variable: Variable, named: Callable[[Variable], str | None]) -> str | None:
    """Return the name of what a slice is of; the slice that begins at 0 has its own name."""
    if variable.name is None and variable.owner is not None:
        node = variable.owner
        if isinstance(node.op, Subtensor):
            variable = node.inputs[0]
    name = named(variable)
    return None if name is None else name.removesuffix("[0:]")


def _constant_name(constant: Constant) -> str:
    if not isinstance(constant, TensorConstant):
        return f"Constant{{{_shortened(str(constant.data))}}}"
    data = np.asarray(constant.data)
    if data.ndim and data.size and (data == data.flat[0]).all():
        text = f"{data.shape} of {data.flat[0]}"
    else:
        text = _shortened(str(data))
    return f"TensorConstant{{{text}}}"


def _shortened(text: str) -> str:
    if len(text) > LONGEST_CONSTANT:
        text = f"{text[:10]}..{text[-10:]}"
    return text.replace("\n", "")


def _scalar_name(op: ScalarOp) -> str:
    name = (getattr(op, "name", None) or type(op).__name__).lower()
    return _SCALAR_NAMES.get(name, name)


# What writes a variable as a formula, which is made from names: the name of a fused operation has some.
_formulas: list[Callable[[Variable], str]] = []


def use_formulas(write: Callable[[Variable], str]) -> None:
    """Set what writes a variable as a formula."""
    _formulas[:] = [write]


def _fused_name(op: Cast | Composite) -> str:
    if not isinstance(op, Composite):
        return str(op)
    [formula] = _formulas
    return f"Composite{{{', '.join(map(formula, op.fgraph.outputs))}}}"


def _elemwise(node: Apply) -> str:
    scalar, pattern = node.op.scalar_op, node.op.inplace_pattern
    whole = isinstance(scalar, Cast | Composite)
    name = _fused_name(scalar) if whole else _scalar_name(scalar)
    if pattern:
        return f"Elemwise{{{name}}}{sorted(pattern.items())}"
    if name in _NAMED_ALONE:
        return name
    plain = whole or isinstance(scalar, Identity)
    return f"Elemwise{{{name}}}" if plain else f"Elemwise{{{name},no_inplace}}"


def _dimshuffle(node: Apply) -> str:
    return f"InplaceDimShuffle{{{','.join(map(str, node.op.new_order))}}}"


def _axis(op: CAReduce) -> list[int] | None:
    return None if op.axis is None else list(op.axis)


def _sum(node: Apply) -> str:
    axis = "" if node.op.axis is None else f"axis={_axis(node.op)}, "
    return f"Sum{{{axis}acc_dtype={node.op.acc_dtype}}}"


def _prod(node: Apply) -> str:
    op = node.op
    return f"Prod{{axis={op.axis}, dtype={op.dtype!r}, acc_dtype={op.acc_dtype!r}}}"


def _reduction(name: str) -> Callable[[Apply], str]:
    def described(node: Apply) -> str:
        axes = _axis(node.op)
        return name if axes is None else f"{name}{{{', '.join(map(str, axes))}}}"

    return described


def _indices(node: Apply, given: list[Variable]) -> str:
    """Return an index with the types of what it is given: ``int64:int32:, ::``."""
    scalars = [_scalar_type(variable) for variable in given]

    def part(end: object) -> str:
        return "" if end is None else scalars[end] if isinstance(end, int) else str(end)

    def entry(index: object) -> str:
        if not isinstance(index, slice):
            return part(index)
        return f"{part(index.start)}:{part(index.stop)}:{part(index.step)}"

    return ", ".join(entry(index) for index in node.op.idx_list)


def _scalar_type(variable: Variable) -> str:
    return getattr(variable.type, "dtype", str(variable.type))


def _subtensor(node: Apply) -> str:
    return f"Subtensor{{{_indices(node, node.inputs[1:])}}}"


def _inc_subtensor(node: Apply) -> str:
    way = ("Inplace" if node.op.inplace else "") + ("Set" if node.op.set_instead_of_inc else "Inc")
    return f"IncSubtensor{{{way};{_indices(node, node.inputs[2:])}}}"


def _takes_rows(node: Apply, indices: list[Variable]) -> bool:
    return node.op.idx_list == (0,) and indices[0].type.ndim == 1 and _is_integer(indices[0])


def _is_integer(variable: Variable) -> bool:
    return variable.type.dtype != "bool"


def _advanced_subtensor(node: Apply) -> str:
    indices = node.inputs[1:]
    if _takes_rows(node, indices):
        return "AdvancedSubtensor1"
    return "AdvancedSubtensor" if all(map(_is_integer, indices)) else "AdvancedBooleanSubtensor"


def _advanced_inc_subtensor(node: Apply) -> str:
    op, indices = node.op, node.inputs[2:]
    if _takes_rows(node, indices):
        place = "inplace" if op.inplace else "no_inplace"
        return f"AdvancedIncSubtensor1{{{place},{'set' if op.set_instead_of_inc else 'inc'}}}"
    kind = "" if all(map(_is_integer, indices)) else "Boolean"
    flags = f"inplace={op.inplace},  set_instead_of_inc={op.set_instead_of_inc}"
    return f"Advanced{kind}IncSubtensor{{{flags}}}"


def _scan(node: Apply) -> str:
    op, destroyed = node.op, sorted(node.op.destroy_map)
    kind = "do_while" if op.info.as_while else "for"
    states = op.info.n_mit_mot + op.info.n_mit_sot + op.info.n_sit_sot
    if not destroyed:
        return f"{kind}{{cpu,{op.name}}}"
    if destroyed == list(range(states)):
        return f"{kind}all_inplace,cpu,{op.name}}}"
    places = "".join(f"{place}," for place in destroyed)
    return f"{kind}{{inplace{{{places}}},cpu,{op.name}}}"


_RULES: dict[type, Callable[[Apply], str]] = {
    AdvancedIncSubtensor: _advanced_inc_subtensor,
    AdvancedSubtensor: _advanced_subtensor,
    All: _reduction("All"),
    AnyOf: _reduction("Any"),
    ArgSortOp: lambda node: f"ArgSortOp{{{node.op.kind}, None}}",
    Blockwise: lambda node: str(node.op.core_op),
    Composite: lambda node: _fused_name(node.op),
    CumOp: lambda node: f"CumOp{{{node.op.axis}, {node.op.mode}}}",
    DimShuffle: _dimshuffle,
    Dot: lambda node: "dot",
    Elemwise: _elemwise,
    IncSubtensor: _inc_subtensor,
    Max: _reduction("Reduce{maximum}"),
    Min: _reduction("Reduce{minimum}"),
    Prod: _prod,
    Scan: _scan,
    Softmax: lambda node: "Softmax",
    SortOp: lambda node: f"SortOp{{{node.op.kind}, None}}",
    Subtensor: _subtensor,
    Sum: _sum,
}
