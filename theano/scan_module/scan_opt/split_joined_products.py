"""SplitJoinedProducts: a product of what a step joins becomes products of the parts.

    [x h].dot(M)              ->  x.dot(M[:n]) + h.dot(M[n:])            M invariant
    M.dot([x; h])             ->  M[:, :n].dot(x) + M[:, n:].dot(h)
    d.dot(M)[:, n:]           ->  d.dot(M[:, n:])                        as gradients read it

The product of a part that follows from sequences leaves the loop, and nothing is joined for the
gradient. It is legal because a product is the sum of the products of columns with rows, and each of
its columns depends on that column of the second operand alone.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.basic import Split
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor, only_result
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace
from theano.pytensor_internals.operations.axes import axis_apart
from theano.rewriting.lengths import static_length
from theano.scan_module.loop.arguments import Invariant, Loop
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import SPLIT
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.scan_module.scan_opt.push_out.all_steps_at_once import AllSteps
from theano.scan_module.scan_opt.push_out.rows_of_sequences import all_rows
from theano.scan_module.step.joined import MOST_PARTS, parts_along
from theano.scan_module.step.normal_form import normal_form
from theano.scan_module.step.step_analysis import StepAnalysis, product_of
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class JoinedOperand:
    """A product of an invariant matrix with joined parts, one of which needs no earlier step.

    Attributes
    ----------
    product
        The product.
    parts
        The parts.
    matrix
        The invariant matrix.
    joined_left
        Whether the joined operand is the first one.
    """

    product: Variable
    parts: list[Variable]
    matrix: Variable
    joined_left: bool

    def places(self, step: StepAnalysis) -> list[slice]:
        """Return where the rows, or the columns, of the matrix are that each part is multiplied by."""
        axis = -1 if self.joined_left else 0
        lengths = [step.outer_shape(part)[axis] for part in self.parts]
        places: list[slice] = []
        start: TensorVariable | int = 0
        for length in lengths[:-1]:
            known = static_length(length)
            end = start + (known_tensor(length) if known is None else known)
            places.append(slice(start, end))
            start = end
        return [*places, slice(start, None)]

    def of_part(self, part: Variable, matrix: Variable) -> Variable:
        """Return the product of a part with its rows or columns of the matrix."""
        operands = (part, matrix) if self.joined_left else (matrix, part)
        assert self.product.owner is not None
        return only_result(self.product.owner.op(*operands))


@dataclass(frozen=True)
class SplitResult:
    """A product with an invariant matrix that is split, and parts that are wanted for themselves.

    Attributes
    ----------
    node
        What splits it.
    product
        The product; what is split may be a view of it.
    matrix_left
        Whether the matrix is the first operand.
    sizes
        The lengths of the parts.
    """

    node: Apply
    product: Variable
    matrix_left: bool
    sizes: Variable

    @property
    def matrix(self) -> Variable:
        """The invariant matrix."""
        return self.product.owner.inputs[0 if self.matrix_left else 1]  # type: ignore[union-attr]

    def of_part(self, matrix: Variable) -> Variable:
        """Return what is split, of the product with some rows or columns of the matrix."""
        node = self.product.owner
        left, right = node.inputs  # type: ignore[union-attr]
        operands = (matrix, right) if self.matrix_left else (left, matrix)
        product = node.op(*operands)  # type: ignore[union-attr]
        copy_stack_trace(self.product, product)
        _, (value, _) = axis_apart(self.node, self.node.inputs)
        return product if value is self.product else value.owner.op(product)


@dataclass(frozen=True)
class Refused:
    """A product with a joined operand that stays as it is, and why."""

    product: Variable
    reason: str


class SplitJoinedProducts(LoopRewriter):
    """Make of products of joined operands products of their parts, where one may leave the loop."""

    name = "SplitJoinedProducts"
    heading = SPLIT

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return which products have a joined operand, or are split; the step is edited in a copy."""
        loop = normal_form(node)
        found = _found(loop, StepAnalysis(loop))
        refused = [
            Finding(f"product {describe(one.product, loop)}", False, one.reason)
            for one in found
            if isinstance(one, Refused)
        ]
        if len(refused) == len(found):
            return Checked(refused) if refused else None
        loop = loop.with_step_copied()
        step = StepAnalysis(loop)
        inner = FunctionGraph(loop.inner_inputs, loop.inner_outputs, clone=False)
        invariants: list[Invariant] = []
        findings: list[Finding] = []
        # the last one first: what is joined in another's part is split after it
        for one in reversed(_found(loop, step)):
            if isinstance(one, JoinedOperand):
                detail = "a sum of products of the parts"
                subject = describe(one.product, loop)
                invariants += _split_operand(inner, step, one)
            elif isinstance(one, SplitResult):
                detail = "a product for each of its parts"
                subject = describe(one.product, loop)
                invariants += _split_result(inner, step, one)
            else:
                continue
            findings.insert(0, Finding(f"product {subject}", True, detail))
        edited = replace(
            loop.with_inner_outputs(list(inner.outputs)),
            invariants=(*loop.invariants, *invariants),
        ).without_unused_inputs()
        return Checked([*findings, *refused], lambda: edited.build(type(node.op)).replacements())


# ---- what there is ----


def _found(loop: Loop, step: StepAnalysis) -> list[JoinedOperand | SplitResult | Refused]:
    inner = FunctionGraph(loop.inner_inputs, loop.inner_outputs, clone=False)
    found: list[JoinedOperand | SplitResult | Refused] = []
    for node in in_order(inner):
        one: JoinedOperand | SplitResult | Refused | None
        if is_a(node.op, Split):
            one = _split_product(node, inner, loop, step)
        else:
            joined = _joined_operand(node, step)
            one = None if joined is None else _if_it_gains(joined, step)
        if one is not None:
            found.append(one)
    return found


def _joined_operand(node: Apply, step: StepAnalysis) -> JoinedOperand | None:
    """Return the product of an invariant matrix with something that is joined along the summed dimension."""
    [product, *_] = node.outputs
    operands = product_of(product)
    if operands is None:
        return None
    left, right = operands
    joined_left = step.varies(left)
    joined, matrix = (left, right) if joined_left else (right, left)
    if step.varies(matrix) or matrix.type.ndim != 2 or not step.varies(joined):
        return None
    parts = parts_along(joined, joined.type.ndim - 1 if joined_left else 0)
    if parts is None or len(parts) < 2:
        return None
    return JoinedOperand(product, parts, matrix, joined_left)


def _if_it_gains(joined: JoinedOperand, step: StepAnalysis) -> JoinedOperand | Refused | None:
    """Return the product, if some of its parts leave the loop; None if all of it does."""
    if len(joined.parts) > MOST_PARTS:
        return Refused(joined.product, f"it would be a sum of {len(joined.parts)} products")
    if len({part.type.dtype for part in joined.parts}) > 1:
        return Refused(joined.product, "the parts have several dtypes")
    if not all(step.shape_is_fixed(part) for part in joined.parts):
        return Refused(joined.product, "the shape of a part may change between steps")
    known = {entry.inner: all_rows(entry, step.loop) for entry in step.loop.sequences}
    all_steps = AllSteps(step, known)
    leaving = [_may_leave(part, step, all_steps) for part in joined.parts]
    if all(leaving):
        return None
    if any(leaving):
        return joined
    if step.loop.condition is not None:
        return Refused(joined.product, "the loop may stop early")
    return Refused(joined.product, "no part of it can be had for all steps before the loop")


def _may_leave(part: Variable, step: StepAnalysis, all_steps: AllSteps) -> bool:
    """Return whether the product of a part with an invariant matrix is computed before the loop."""
    if not step.varies(part):
        return True
    if step.loop.condition is not None or not step.follows_from_sequences(part):
        return False
    return all_steps.value(part) is not None


def _split_product(
    node: Apply, inner: FunctionGraph, loop: Loop, step: StepAnalysis
) -> SplitResult | None:
    """Return a product that only a split reads, of whose parts some are not read, or not by the steps."""
    axis, (value, sizes) = axis_apart(node, node.inputs)
    if isinstance(axis, Variable):
        if not is_a(axis, Constant):
            return None
        axis = int(axis.data)
    product, axis = _without_dimshuffle(value, axis % value.type.ndim)
    operands = product_of(product)
    if operands is None or len(inner.clients[product]) > 1 or len(inner.clients[value]) > 1:
        return None
    if step.varies(sizes) or len(node.outputs) > MOST_PARTS:
        return None
    matrix_left = not step.varies(operands[0])
    matrix = operands[0 if matrix_left else 1]
    along = 0 if matrix_left else product.type.ndim - 1
    if step.varies(matrix) or matrix.type.ndim != 2 or axis != along:
        return None
    read = set(ancestors(_read_by_steps(loop)))
    return None if read.issuperset(node.outputs) else SplitResult(node, product, matrix_left, sizes)


def _without_dimshuffle(value: Variable, axis: int) -> tuple[Variable, int]:
    """Return what a value is, but for the order of its axes, and where an axis of the value is in it."""
    node = value.owner
    if node is None or not is_a(node.op, DimShuffle):
        return value, axis
    before = node.op.new_order[axis]
    return (value, axis) if isinstance(before, str) else (node.inputs[0], before)


def _read_by_steps(loop: Loop) -> list[Variable]:
    """Return what a step computes for later ones, or to end the loop."""
    found = [tap.inner for state in loop.states for tap in state.writes]
    found += [entry.inner_output for entry in loop.untraced]
    return found if loop.condition is None else [*found, loop.condition]


# ---- what it becomes ----


def _split_operand(
    inner: FunctionGraph, step: StepAnalysis, found: JoinedOperand
) -> list[Invariant]:
    """Replace a product by a sum of products; returns the new invariants of the loop."""
    matrix = known_tensor(step.outer_value(found.matrix))
    axis = 0 if found.joined_left else 1
    invariants = [_as_invariant(_part_of(matrix, place, axis)) for place in found.places(step)]
    terms = [
        found.of_part(part, entry.inner)
        for part, entry in zip(found.parts, invariants, strict=True)
    ]
    for term in terms:
        copy_stack_trace(found.product, term)
    total = pt.add(*terms)
    copy_stack_trace(found.product, total)
    _replace(inner, found.product, total, invariants)
    return invariants


def _split_result(inner: FunctionGraph, step: StepAnalysis, found: SplitResult) -> list[Invariant]:
    """Replace the parts of a product by products; returns the new invariants of the loop."""
    matrix, sizes = step.outer_value(found.matrix), step.outer_value(found.sizes)
    parts = found.node.outputs
    # it complains about the sizes of which the step's would
    matrices = pt.split(matrix, sizes, n_splits=len(parts), axis=0 if found.matrix_left else 1)
    invariants = []
    for part, part_matrix in zip(parts, matrices, strict=True):
        if inner.clients[part]:
            entry = _as_invariant(part_matrix)
            _replace(inner, part, found.of_part(entry.inner), [entry])
            invariants.append(entry)
    return invariants


def _part_of(matrix: TensorVariable, place: slice, axis: int) -> TensorVariable:
    return matrix[place] if axis == 0 else matrix[:, place]


def _as_invariant(outer: Variable) -> Invariant:
    return Invariant(outer, outer.type(name="part"))


def _replace(
    inner: FunctionGraph, old: Variable, new: Variable, invariants: list[Invariant]
) -> None:
    for entry in invariants:
        inner.add_input(entry.inner)
    inner.replace(old, old.type.filter_variable(new), reason=SplitJoinedProducts.name)
