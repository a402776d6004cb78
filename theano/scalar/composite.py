"""Several operators on single numbers as one."""

from collections.abc import Sequence

from pytensor.graph.basic import Variable
from pytensor.scalar import basic

from theano.gof.instances import including_instances_of


@including_instances_of(basic.Composite)
class Composite(basic.Composite):
    """An operator that computes a graph of operators on single numbers.

    Parameters
    ----------
    inputs : sequence of scalar variables
    outputs : sequence of scalar variables
        None of them an input. Where the only one is that of another such operator, what that one
        computes becomes part of this one.
    name : str
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], name: str = "Composite"
    ):
        outputs = list(outputs)
        while len(outputs) == 1 and isinstance(outputs[0].owner.op, basic.Composite):
            node = outputs[0].owner
            position = node.outputs.index(outputs[0])
            inner = node.op.fgraph
            given = dict(zip(inner.inputs, node.inputs, strict=True))
            outputs = [inner.bind(given)[position]]
        super().__init__(inputs, outputs, name)
