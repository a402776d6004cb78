"""Facts about the step of a loop that the legality checks of several rewrites ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import order_of
from theano.scan_module.loop.arguments import Loop, Sequence
from theano.scan_module.step.fixed_shapes import FixedShapes
from theano.support.data_classes import dataclass
from theano.tensor.nnet.correlation.filtering import Filtering

# signs and values
SignedTerms = tuple[tuple[int, Variable], ...]


class StepAnalysis:
    """Values of a step that change from step to step, and whether their shapes do.

    Parameters
    ----------
    loop
        The loop; its step is not changed.
    """

    def __init__(self, loop: Loop):
        self.loop = loop
        self.invariant_inputs = {entry.inner for entry in loop.invariants}
        self.varying_inputs = set(loop.inner_inputs) - self.invariant_inputs
        self.state_inputs = self.varying_inputs - {entry.inner for entry in loop.sequences}
        self._outer_values = {entry.inner: entry.outer for entry in loop.invariants}
        found = loop.once("facts", lambda: _found_in_step(loop))
        self._shapes, self._varying = found.shapes, found.varying
        self._reached, self._bits = found.reached, found.bits
        self._sums, self._terms_of = found.sums, found.terms_of
        # what `sum_terms` found: whether a value holds a product
        self.with_product: dict[Variable, bool] = {}
        self._bits_of_states = sum(self._bits[leaf] for leaf in self.state_inputs)

    def varies(self, variable: Variable) -> bool:
        """Return whether the value can differ between steps."""
        if variable in self._varying:
            return self._varying[variable]
        if variable.owner is not None:
            self._learn_what_varies(variable)
            return self._varying[variable]
        return variable in self.varying_inputs

    def depends_on(self, variables: Iterable[Variable], leaf: Variable) -> bool:
        """Return whether any of the variables is computed from ``leaf``."""
        bit = self._bits[leaf]
        return any(self._inputs_of(variable) & bit for variable in variables)

    def follows_from_sequences(self, variable: Variable) -> bool:
        """Return whether the value needs no state, so that all steps' values can be had at once."""
        return not self._inputs_of(variable) & self._bits_of_states

    def rank_of_sequences(self, variable: Variable) -> int:
        """Return the largest rank of the sequences' elements that a value follows from; 0 with a state."""
        reached = self._inputs_of(variable)
        if reached & self._bits_of_states:
            return 0
        ranks = (entry.inner.type.ndim for entry in self._sequences_among(reached))
        return max(ranks, default=0)

    def shape_is_fixed(self, variable: Variable) -> bool:
        """Return whether the value has the same shape in every step, as far as is known."""
        if variable in self._terms_of and None in variable.type.shape:
            return all(self.shape_is_fixed(term) for _, term in self._terms_of[variable])
        return self._shapes.includes(variable)

    def outer_value(self, variable: Variable) -> Variable:
        """Return an invariant value of the step in terms of the outer graph.

        Only the step's own nodes are made again; the outer graph is read as it is.
        """
        for node in order_of([variable], self._outer_values):
            if variable in self._outer_values:
                break
            arguments = [self._outer_values.get(a, a) for a in node.inputs]
            outputs = node.clone_with_new_inputs(arguments).outputs
            self._outer_values.update(zip(node.outputs, outputs, strict=True))
        return self._outer_values.get(variable, variable)

    def outer_shape(self, variable: Variable) -> list[Variable]:
        """Return the shape of a value whose shape is fixed, in terms of the outer graph."""
        loop = self.loop
        rows = {entry.inner: entry.outer for entry in loop.sequences}
        rows |= {tap.inner: state.outer for state in loop.states for tap in state.reads}
        if variable in rows:
            return [rows[variable].shape[k + 1] for k in range(variable.type.ndim)]
        whole = {entry.inner_input: entry.outer for entry in loop.untraced}
        lengths = self._shapes.shape(variable)
        assert lengths is not None, f"{variable} has a fixed shape"
        shape = list(lengths)
        replacements = dict(self._outer_values)
        for node in order_of(shape, set(loop.inner_inputs)):
            if is_a(node.op, Shape_i) and node.inputs[0] in rows:
                replacements[node.outputs[0]] = rows[node.inputs[0]].shape[node.op.i + 1]
            elif is_a(node.op, Shape_i) and node.inputs[0] in whole:
                place = known_tensor(whole[node.inputs[0]])
                replacements[node.outputs[0]] = place.shape[node.op.i]
        for node in order_of(shape, replacements):
            arguments = [replacements.get(a, a) for a in node.inputs]
            outputs = node.clone_with_new_inputs(arguments).outputs
            replacements.update(zip(node.outputs, outputs, strict=True))
        return [replacements.get(length, length) for length in shape]

    def _inputs_of(self, variable: Variable) -> int:
        """Return the inputs of the step that a value is computed from, as bits."""
        for node in order_of([variable], self._reached):
            found = 0
            for argument in node.inputs:
                found |= self._reached.get(argument, 0)
            self._reached.update(dict.fromkeys(node.outputs, found))
        return self._reached.get(variable, 0)

    def _sequences_among(self, bits: int) -> Iterator[Sequence]:
        return (entry for entry in self.loop.sequences if bits & self._bits[entry.inner])

    def _learn_what_varies(self, variable: Variable) -> None:
        """Of a value that is no node of the step, such as a length."""
        for node in order_of([variable], self._varying):
            varies = any(self.varies(argument) for argument in node.inputs)
            self._varying.update(dict.fromkeys(node.outputs, varies))

    def sum_of(self, terms: SignedTerms, dtype: str) -> Variable:
        """Return the sum of signed values of the step, added in a dtype; the same one for the same terms."""
        if terms not in self._sums:
            total: TensorVariable | None = None
            for sign, term in terms:
                tensor = known_tensor(term)
                wide = tensor if term.type.dtype == dtype else tensor.astype(dtype)
                if total is None:
                    total = wide if sign > 0 else -wide
                else:
                    total = total + wide if sign > 0 else total - wide
            assert total is not None
            self._terms_of[total] = terms
            self._sums[terms] = total
        return self._sums[terms]


@dataclass(frozen=True, eq=False)
class _Found:
    """Facts about the values of a step so far, which are the same in equal steps.

    Attributes
    ----------
    varying
        Whether a value can differ between steps.
    bits, reached
        The inputs of the step, and those that a value is computed from, as bits.
    sums, terms_of
        Sums that were made from terms, and the terms of each.
    """

    shapes: FixedShapes
    varying: dict[Variable, bool]
    bits: dict[Variable, int]
    reached: dict[Variable, int]
    sums: dict[SignedTerms, Variable] = field(default_factory=dict)
    terms_of: dict[Variable, SignedTerms] = field(default_factory=dict)


def _found_in_step(loop: Loop) -> _Found:
    invariants = {entry.inner for entry in loop.invariants}
    varying = {leaf: leaf not in invariants for leaf in loop.inner_inputs}
    for node in order_of(loop.inner_outputs):
        varies = any(varying.get(argument, False) for argument in node.inputs)
        varying.update(dict.fromkeys(node.outputs, varies))
    bits = {leaf: 1 << k for k, leaf in enumerate(loop.inner_inputs)}
    return _Found(FixedShapes(loop), varying, bits, dict(bits))


def product_of(variable: Variable) -> tuple[Variable, Variable] | None:
    """Return the operands, if the variable is a product of two matrices."""
    node = variable.owner
    return tuple(node.inputs) if node is not None and is_a(node.op, Dot) else None


def correlation_of(variable: Variable) -> Apply | None:
    """Return the node, if the variable is a correlation, a convolution, or a gradient of one."""
    node = variable.owner
    return node if node is not None and is_a(node.op, Filtering) else None


def batched_product_of(variable: Variable) -> tuple[Variable, Variable] | None:
    """Return the operands, if the variable is a product of two stacks of matrices."""
    node = variable.owner
    if node is None or not is_a(node.op, Blockwise) or not is_a(node.op.core_op, Dot):
        return None
    return tuple(node.inputs)
