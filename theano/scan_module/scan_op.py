"""The ``Scan`` op: PyTensor's, with a gradient that computes no forward value again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable

from theano.configdefaults import config
from theano.gof.test_values import tests_only_results
from theano.pytensor_internals.functions.compiling import freeing_what_runs
from theano.pytensor_internals.functions.linking import WrapLinker
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.pytensor_internals.graphs.scan import (
    ScanInfo,
    function_of_step,
    keep_function_of_step,
    unfrozen_step,
)
from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.rewriting.step_profiles import with_own_profile
from theano.scan_module.gradient.backward_loop import loop_pullback
from theano.scan_module.gradient.connections import connection_pattern_of_loop
from theano.scan_module.gradient.forward_loops import extend_loop
from theano.scan_module.gradient.tangent.tangent_loop import loop_pushforward
from theano.scan_module.loop.arguments import NORMAL_STEP, unpack
from theano.scan_module.loop.fitting_inputs import with_fitting_inputs
from theano.scan_module.loop.op_of_step import layout, step_graph
from theano.scan_module.loop.outputs_that_are_taps import (
    outputs_that_are_taps,
    with_copied_outputs,
)
from theano.scan_module.loop.rows_without_steps import with_rows_of_no_steps
from theano.scan_module.loop.scan_attributes import ScanAttributes
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.step.loop_shapes import REMEMBERED, output_shapes
from theano.source_locations.one_trace import with_one_trace

__all__ = ["Scan"]

# where a node's tag keeps it, as PyTensor's op does
CONNECTIONS = "connection_pattern"
NOT_PICKLED = (REMEMBERED, NORMAL_STEP, "as_written")


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

    def make_node(self, *inputs: Variable) -> Apply:
        """Return a loop of these inputs, which may have static lengths of 1 that the step lacks."""
        return super().make_node(*with_fitting_inputs(self, inputs))

    @classmethod
    def of_pytensor(cls, op: PyTensorScan) -> Scan:
        """Return the same operation as one of ours; both share what they consist of."""
        ours = cls.__new__(cls)
        vars(ours).update(vars(op))
        ours.fgraph = unfrozen_step(op)
        return ours

    @shape_rule
    def infer_shape(self, node, input_shapes):
        """Shapes of the outputs, from those of the inputs; the step is looked at once."""
        return output_shapes(node, input_shapes)

    @property
    def fn(self):
        """The function of a step, where PyTensor's machine runs the loop."""
        compiled = function_of_step(self)
        if compiled is not None:
            return compiled
        compiled = super().fn
        positions = outputs_that_are_taps(compiled)
        if positions:
            compiled = with_copied_outputs(self, positions).fn
            keep_function_of_step(self, compiled)
        return freeing_what_runs(with_own_profile(compiled))

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        """Return what runs a node in PyTensor's machine."""
        if _counts_steps(self.mode):
            # C does not say in which step an error was
            impl = "py"
        thunk = super().make_thunk(node, storage_map, compute_map, no_recycling, impl)
        return with_rows_of_no_steps(thunk, node, storage_map)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in NOT_PICKLED}

    def connection_pattern(self, node):
        """For each input, whether each output is connected with it; of a node, worked out once."""
        if not hasattr(node.tag, CONNECTIONS):
            setattr(node.tag, CONNECTIONS, connection_pattern_of_loop(self))
        return getattr(node.tag, CONNECTIONS)

    @with_one_trace
    @tests_only_results
    def pullback(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_cotangents: Sequence[Variable],
    ) -> list[Variable]:
        """Gradients with respect to the node's inputs, by a loop that runs backward."""
        # a state whose type changes in the step would be refused only when the graph is compiled
        self.validate_inner_graph()
        node = outputs[0].owner
        assert node is not None
        policy = self.gradient_policy or config.scan.save
        gradients = loop_pullback(
            node,
            unpack(node),
            list(output_cotangents),
            extend=lambda loop, values: extend_loop(self, loop, values, policy),
            policy=policy,
            op_class=type(self),
        )
        if all(own is given for own, given in zip(node.inputs, inputs, strict=True)):
            return gradients
        # a loop on stacks is differentiated by inputs that are not those of its outputs' node
        places = dict(zip([*node.inputs, *outputs], [*inputs, *outputs], strict=True))
        return copied(gradients, places)

    @tests_only_results
    def pushforward(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        tangents: Sequence[Variable],
    ) -> list[Variable]:
        """Directional derivatives of the outputs, by a loop that runs alongside the forward one."""
        node = outputs[0].owner
        assert node is not None
        return loop_pushforward(node, tangents, type(self))


def _counts_steps(mode: object) -> bool:
    """Return whether a mode calls something for each operation of a step, which may raise an error."""
    linker = getattr(mode, "linker", None)
    return isinstance(linker, WrapLinker) or getattr(linker, "counts_steps", False)
