"""Stand-ins for initial values of static lengths, while a loop is shortened.

PyTensor makes the buffer of each state again, and copies and folds all that its initial value is
computed from to find how long that is: for the states of a backward loop, the forward loop with
all of its states.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.subtensor import IncSubtensor

from theano.pytensor_internals.graphs.kinds import is_a


class StandIns:
    """Variables that nothing computes, in the places of a loop's initial values.

    Parameters
    ----------
    node
        The loop. It reads them from `__enter__` to `__exit__`.
    """

    def __init__(self, node: Apply):
        self._node = node
        self._inputs: list[Variable] = []
        self._stood_for: dict[Variable, Variable] = {}

    def __enter__(self) -> StandIns:
        """Put them in place."""
        self._inputs = list(self._node.inputs)
        for place, buffer in enumerate(self._inputs):
            writer = buffer.owner
            if writer is None or not is_a(writer.op, IncSubtensor):
                continue
            memory, value, *index = writer.inputs
            if value.owner is None or None in value.type.shape:
                continue
            stand_in = value.type()
            copy = writer.clone_with_new_inputs([memory, stand_in, *index], strict=False)
            self._node.inputs[place] = copy.outputs[0]
            self._stood_for |= {stand_in: value, copy.outputs[0]: buffer}
        return self

    def __exit__(self, *_: object) -> None:
        """Have the loop read what it did before."""
        self._node.inputs[:] = self._inputs

    def put_back(self, made: Iterable[Variable], graph: Container[Apply]) -> None:
        """Have what was made from them read what they stood for.

        Parameters
        ----------
        made
            New variables.
        graph
            The nodes that were there before, which do not read them.
        """
        if not self._stood_for:
            return
        seen: set[Apply] = set()
        waiting = [variable.owner for variable in made]
        while waiting:
            node = waiting.pop()
            if node is None or node in graph or node in seen:
                continue
            seen.add(node)
            for place, variable in enumerate(node.inputs):
                if variable in self._stood_for:
                    node.inputs[place] = self._stood_for[variable]
                else:
                    waiting.append(variable.owner)
