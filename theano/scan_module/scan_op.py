"""The ``Scan`` op: PyTensor's, with a gradient that computes no forward value again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytensor import tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Variable

from theano.configdefaults import config
from theano.gof.test_values import tests_only_results
from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.pytensor_base.scan import ScanInfo
from theano.scan_module.gradient.backward_loop import loop_pullback
from theano.scan_module.gradient.forward_loops import extend_loop
from theano.scan_module.gradient.one_trace import with_one_trace
from theano.scan_module.gradient.step_gradient import is_connected, is_differentiable
from theano.scan_module.gradient.tangents import tangents_of
from theano.scan_module.loop.arguments import (
    Carried,
    Invariant,
    Loop,
    Sequence,
    State,
    Tap,
    Trace,
    fresh_like,
    take_apart,
)
from theano.scan_module.loop.op_of_step import layout, step_graph
from theano.scan_module.loop.rows_without_steps import with_rows_of_no_steps
from theano.scan_module.loop.scan_attributes import ScanAttributes
from theano.scan_module.step.loop_shapes import REMEMBERED, output_shapes

__all__ = ["Scan"]

NOT_PICKLED = (REMEMBERED, "as_written")


class Scan(ScanAttributes):
    """A loop as an operation of a graph.

    The gradient reads forward values from explicit outputs of the forward loop. Those that the
    loop does not return are added to it as further outputs, chosen by a minimum cut (the flag
    ``scan.save``).

    Notes
    -----
    ``extends`` is set on an op that a gradient made by adding outputs to another; see
    ``theano.scan_module.gradient.forward_loops``. ``gradient_policy`` takes the place of ``scan.save`` for
    one loop. ``as_written`` has the step in the variables of the user's function.
    """

    gradient_policy: str | None = None
    as_written: tuple[list[Variable], list[Variable]] | None = None

    def __init__(
        self,
        inputs: list[Variable],
        outputs: list[Variable],
        info: ScanInfo,
        mode: Any = None,
        truncate_gradient: int = -1,
        name: str | None = None,
        profile: str | bool | None = None,
        allow_gc: bool = True,
        strict: bool = True,
    ):
        self.fgraph = step_graph(inputs, outputs)
        self.info = info
        self.mode = mode
        self.truncate_gradient = truncate_gradient
        self.name = name or "scan_fn"
        self.profile = profile
        self.allow_gc = allow_gc
        self.strict = strict
        vars(self).update(layout(info, self.fgraph.outputs))

    @classmethod
    def of_pytensor(cls, op: PyTensorScan) -> Scan:
        """The same operation as one of ours; both share what they consist of."""
        ours = cls.__new__(cls)
        vars(ours).update(vars(op))
        return ours

    def infer_shape(self, fgraph, node, input_shapes):
        """Shapes of the outputs, from those of the inputs; the step is looked at once."""
        return output_shapes(node, input_shapes)

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        """What runs a node in PyTensor's machine."""
        thunk = super().make_thunk(node, storage_map, compute_map, no_recycling, impl)
        return with_rows_of_no_steps(thunk, node, storage_map)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in NOT_PICKLED}

    @with_one_trace
    @tests_only_results
    def pullback(
        self,
        inputs: list[Variable],
        outputs: list[Variable],
        output_cotangents: list[Variable],
    ) -> list[Variable]:
        """Gradients with respect to the node's inputs, by a loop that runs backward."""
        # a state whose type changes in the step would be refused only when the graph is compiled
        self.validate_inner_graph()
        node = outputs[0].owner
        policy = self.gradient_policy or config.scan.save
        return loop_pullback(
            node,
            take_apart(node),
            list(output_cotangents),
            extend=lambda loop, values: extend_loop(self, loop, values, policy),
            policy=policy,
            op_class=type(self),
        )

    @tests_only_results
    def pushforward(
        self, inputs: list[Variable], outputs: list[Variable], tangents: list[Variable]
    ) -> list[Variable]:
        """Directional derivatives of the outputs, by a loop that runs beside the forward one."""
        loop = take_apart(outputs[0].owner)
        # n_steps | sequences | mit-mot | mit-sot | sit-sot | carried | trace lengths | invariants
        given = dict(zip(inputs, tangents, strict=True))
        inner_tangents = {
            variable: fresh_like(variable)
            for variable in loop.inner_inputs
            if is_differentiable(variable)
        }
        beside, tangent_outputs = _tangent_loop(loop, given, inner_tangents)
        built = beside.build(type(self))
        return [
            built.outputs[tangent_outputs[entry]]
            if entry in tangent_outputs
            else disconnected_type()
            for entry in (*loop.ordered_states(), *loop.traces, *loop.carried)
        ]


def _tangent_loop(
    loop: Loop, given: dict[Variable, Variable], inner_tangents: dict[Variable, Variable]
) -> tuple[Loop, dict[State | Trace | Carried, State | Trace]]:
    """A loop that computes each state and trace together with its tangent."""
    sequences = [
        Sequence(_tangent_of(entry.outer, given), inner_tangents[entry.inner])
        for entry in loop.sequences
        if entry.inner in inner_tangents
    ]
    invariants = [
        Invariant(_tangent_of(entry.outer, given), inner_tangents[entry.inner])
        for entry in loop.invariants
        if entry.inner in inner_tangents
    ]
    values = [tap.inner for state in loop.states for tap in state.writes]
    values += [trace.inner for trace in loop.traces]
    values = [value for value in dict.fromkeys(values) if is_differentiable(value)]
    tangents = dict(
        zip(
            values,
            tangents_of(
                values,
                list(inner_tangents),
                list(inner_tangents.values()),
                disconnected_outputs="ignore",
                return_disconnected="zero",
            ),
            strict=True,
        )
    )
    pairs: dict[State | Trace | Carried, State | Trace] = {}
    for state in loop.ordered_states():
        if is_differentiable(state.writes[0].inner):
            pairs[state] = State(
                _tangent_of(state.outer, given),
                tuple(Tap(tap.offset, inner_tangents[tap.inner]) for tap in state.reads),
                tuple(
                    Tap(tap.offset, tangents[tap.inner].astype(tap.inner.type.dtype))
                    for tap in state.writes
                ),
                state.kind,
            )
    for trace in loop.traces:
        if is_differentiable(trace.inner):
            pairs[trace] = Trace(trace.length, tangents[trace.inner])
    beside = replace(
        loop,
        sequences=(*loop.sequences, *sequences),
        states=(*loop.states, *(pairs[s] for s in loop.ordered_states() if s in pairs)),
        traces=(*loop.traces, *(pairs[t] for t in loop.traces if t in pairs)),
        invariants=(*loop.invariants, *invariants),
        settings=replace(
            loop.settings, name=f"rop_of_{loop.settings.name}" if loop.settings.name else None
        ),
    )
    return beside, pairs


def _tangent_of(outer: Variable, given: dict[Variable, Variable]) -> Variable:
    tangent = given[outer]
    return tangent if is_connected(tangent) else pt.zeros_like(outer)
