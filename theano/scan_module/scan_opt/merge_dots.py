"""MergeDots: products of a step that share an operand, or a sum, become one.

    h.dot(U), h.dot(V)       ->  columns of h.dot([U V])        U, V invariant
    a.dot(P) + b.dot(Q)      ->  [a b].dot([P; Q])              P, Q invariant

The invariant matrices are joined once, before the loop. It is legal because a column of a product
depends on that column of the second operand alone, and because a sum of products is a product
over the joined inner dimension.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Add
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import SpecifyShape
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace
from theano.scan_module.loop.arguments import Invariant, Loop
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import MERGED
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.scan_module.step.normal_form import normal_form
from theano.scan_module.step.step_analysis import StepAnalysis, product_of
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class SharedOperand:
    """Products of one varying value with several invariant matrices."""

    left: Variable
    products: tuple[Variable, ...]


@dataclass(frozen=True)
class SumOfProducts:
    """A sum with several products of varying values with invariant matrices."""

    total: Variable
    products: tuple[Variable, ...]
    others: tuple[Variable, ...]


class MergeDots(LoopRewriter):
    """Make products of a step one where they share an operand or are summed."""

    name = "MergeDots"
    heading = MERGED

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return which products share an operand or a sum; they are merged in a copy of the step."""
        loop = normal_form(node)
        step, inner = _looked_at(loop)
        if not find_sums(inner, step) and not find_shared_operands(inner, step):
            return None
        loop = loop.with_step_copied()
        step, inner = _looked_at(loop)
        new_invariants: list[Invariant] = []
        findings: list[Finding] = []
        for summed in find_sums(inner, step):
            new_invariants += merge_sum(inner, step, summed)
            subject = " + ".join(describe(product, loop) for product in summed.products)
            findings.append(Finding(subject, True, "one product over the joined inner dimension"))
        for shared in find_shared_operands(inner, step):
            new_invariants += merge_shared(inner, step, shared)
            subject = ", ".join(describe(product, loop) for product in shared.products)
            findings.append(Finding(subject, True, "one product with the joined matrices"))
        merged = replace(
            loop.with_inner_outputs(list(inner.outputs)),
            invariants=(*loop.invariants, *new_invariants),
        ).without_unused_inputs()
        return Checked(findings, lambda: merged.build(type(node.op)).replacements())


def _looked_at(loop: Loop) -> tuple[StepAnalysis, FunctionGraph]:
    return StepAnalysis(loop), FunctionGraph(loop.inner_inputs, loop.inner_outputs, clone=False)


def without_shape_check(variable: Variable) -> Variable:
    """Return what a value is, apart from a statement of its shape."""
    while variable.owner is not None and is_a(variable.owner.op, SpecifyShape):
        variable = variable.owner.inputs[0]
    return variable


def _mergeable(variable: Variable, step: StepAnalysis) -> bool:
    """Return whether a value is the product of a varying matrix with an invariant one."""
    operands = product_of(without_shape_check(variable))
    return (
        operands is not None
        and step.varies(operands[0])
        and not step.varies(operands[1])
        # an outer product has nothing to join
        and operands[1].type.shape[0] != 1
    )


def _operands_of(product: Variable) -> tuple[Variable, Variable]:
    """Return the operands of what is a product, apart from a statement of its shape."""
    operands = product_of(without_shape_check(product))
    assert operands is not None
    return operands


def find_shared_operands(inner: FunctionGraph, step: StepAnalysis) -> list[SharedOperand]:
    """Return groups of products that share their varying operand."""
    groups: dict[Variable, list[Variable]] = {}
    for node in in_order(inner):
        for variable in node.outputs:
            if product_of(variable) is not None and _mergeable(variable, step):
                groups.setdefault(node.inputs[0], []).append(variable)
    return [
        SharedOperand(left, tuple(group))
        for left, products in groups.items()
        for group in _by_dtype(products)
        if len(group) > 1
    ]


def find_sums(inner: FunctionGraph, step: StepAnalysis) -> list[SumOfProducts]:
    """Return sums of products that nothing else reads."""
    found: list[SumOfProducts] = []
    taken: set[Variable] = set()
    for node in reversed(in_order(inner)):
        total = node.outputs[0]
        if not _is_sum(node) or total in taken:
            continue
        terms = _single_use_terms(inner, total, taken)
        products = [
            term
            for term in terms
            if _mergeable(term, step)
            and len(inner.clients[term]) == 1
            and terms.count(term) == 1
            and _is_added_as_it_is(term, total)
        ]
        for group in _by_dtype(products):
            if len(group) > 1:
                others = tuple(term for term in terms if term not in group)
                found.append(SumOfProducts(total, tuple(group), others))
                break
    return found


def _is_added_as_it_is(term: Variable, total: Variable) -> bool:
    """Return whether a term is neither stretched nor widened before it is added."""
    return (
        term.type.broadcastable == total.type.broadcastable and term.type.dtype == total.type.dtype
    )


def _is_sum(node: Apply) -> bool:
    return is_a(node.op, Elemwise) and is_a(node.op.scalar_op, Add)


def _single_use_terms(
    inner: FunctionGraph, total: Variable, taken: set[Variable]
) -> list[Variable]:
    """Return the terms of a sum, looking into sums that are read nowhere else."""
    terms = []
    assert total.owner is not None
    for argument in total.owner.inputs:
        value = without_shape_check(argument)
        nested = (
            value.owner is not None
            and _is_sum(value.owner)
            and len(inner.clients[argument]) == len(inner.clients[value]) == 1
            and _is_added_as_it_is(value, total)
        )
        if nested:
            taken.add(value)
            terms += _single_use_terms(inner, value, taken)
        else:
            terms.append(argument)
    return terms


def _by_dtype(products: list[Variable]) -> list[list[Variable]]:
    groups: dict[tuple, list[Variable]] = {}
    for product in products:
        dtypes = tuple(operand.type.dtype for operand in _operands_of(product))
        groups.setdefault(dtypes, []).append(product)
    return list(groups.values())


def merge_shared(inner: FunctionGraph, step: StepAnalysis, found: SharedOperand) -> list[Invariant]:
    """Replace the products by columns of one; returns the new invariants of the loop."""
    matrices = [
        known_tensor(step.outer_value(_operands_of(product)[1])) for product in found.products
    ]
    joined, invariants = _new_invariant(inner, pt.join(1, *matrices), "joined")
    product = pt.dot(found.left, joined)
    copy_stack_trace(list(found.products), product)
    start: TensorVariable | int = 0
    end: TensorVariable | int = 0
    for old, matrix in zip(found.products, matrices, strict=True):
        width, added = _width(inner, matrix)
        invariants += added
        end = end + width
        columns = old.type.filter_variable(product[:, start:end])
        copy_stack_trace(old, columns)
        inner.replace(old, columns, reason="MergeDots")
        start = end
    return invariants


def _width(
    inner: FunctionGraph, matrix: TensorVariable
) -> tuple[TensorVariable | int, list[Invariant]]:
    if matrix.type.shape[1] is not None:
        return matrix.type.shape[1], []
    width, invariants = _new_invariant(inner, matrix.shape[1], "width")
    return known_tensor(width), invariants


def merge_sum(inner: FunctionGraph, step: StepAnalysis, found: SumOfProducts) -> list[Invariant]:
    """Replace the sum by one with one product; returns the new invariants of the loop."""
    operands = [_operands_of(product) for product in found.products]
    matrices = [step.outer_value(matrix) for _, matrix in operands]
    joined, invariants = _new_invariant(inner, pt.join(0, *matrices), "joined")
    product = pt.dot(pt.join(1, *(left for left, _ in operands)), joined)
    copy_stack_trace([without_shape_check(old) for old in found.products], product)
    total = pt.add(product, *found.others) if found.others else product
    new = found.total.type.filter_variable(total)
    copy_stack_trace(found.total, new)
    inner.replace(found.total, new, reason="MergeDots")
    return invariants


def _new_invariant(
    inner: FunctionGraph, outer: Variable, name: str
) -> tuple[Variable, list[Invariant]]:
    variable = outer.type(name=name)
    inner.add_input(variable)
    return variable, [Invariant(outer, variable)]
