"""Facts about the step of a ``Scan`` op, worked out from a copy that is made once.

PyTensor's constructor copies the step twice, replaces its inputs one by one, and makes it
comparable whether anything compares it or not. A rewrite of loops makes an op for each that it
changes: a tenth of the compilation of a stack of recurrent layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from pytensor.configdefaults import config
from pytensor.graph.basic import NominalVariable, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.type import Type
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.graph import InconsistencyError
from theano.pytensor_internals.graphs.scan import ScanInfo, step_of
from theano.scan_module.loop.roles import Roles
from theano.scan_module.loop.step_copy import copied


def step_graph(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FunctionGraph:
    """Return a copy of a step around inputs that are distinguished by their positions alone.

    Raises
    ------
    MissingInputError
        When the step reads what is neither an input nor a constant.
    InconsistencyError
        When an operation of the step overwrites what it reads.
    """
    places = [NominalVariable(k, variable.type) for k, variable in enumerate(inputs)]
    own = copied(outputs, dict(zip(inputs, places, strict=True)))
    graph = step_of(places, own)
    if any(node.op.destroy_map for node in graph.apply_nodes):
        raise InconsistencyError("Inner-graphs must not contain in-place operations.")
    return graph


def layout(info: ScanInfo, outputs: Sequence[Variable]) -> dict[str, Any]:
    """Return the attributes of an op that follow from the numbers of its arguments and their taps.

    Parameters
    ----------
    info
        Numbers and taps.
    outputs
        What the step computes.
    """
    roles = Roles.of_info(info)
    given, given_by = roles.outer_inputs(count()), roles.outer_outputs(count())
    first_state = 1 + roles.sequences
    first_untraced = first_state + len(roles.states)
    found = {
        "output_types": list(_output_types(roles, outputs)),
        "mintaps": [*(min(taps.reads) for taps in roles.states), *[0] * roles.traces],
        "seqs_arg_offset": first_state,
        "untraced_sit_sot_arg_offset": first_untraced,
        "nit_sot_arg_offset": first_untraced + roles.untraced,
        "n_tap_outs": len(roles.states),
        "mitmots_preallocated": tuple(_written_where_read(roles)),
        "n_outer_inputs": len(given.in_order()),
        "n_outer_outputs": len(given_by.in_order()),
    }
    if roles.untraced:
        # a loop without steps returns what it was given
        pairs = zip(given_by.untraced, given.untraced, strict=True)
        found["view_map"] = {output: [given] for output, given in pairs}
    return found


def _output_types(roles: Roles, outputs: Sequence[Variable]) -> Iterator[Type]:
    """Yield a row for each step where a row is kept; of a mit-mot, the rows are its first output's."""
    computed = roles.inner_outputs(outputs)
    yield from (_rows_of(writes[0]) for writes in computed.states)
    yield from (_rows_of(output) for output in computed.traces)
    yield from (output.type for output in computed.untraced)


def _rows_of(row: Variable) -> TensorType:
    return TensorType(dtype=row.type.dtype, shape=(None, *row.type.shape))


def _written_where_read(roles: Roles) -> Iterator[bool]:
    """For each output of a mit-mot, whether PyTensor's machine may have it overwrite its input."""
    for state in roles.states[: roles.mit_mots]:
        for tap in state.writes:
            yield config.scan__allow_output_prealloc and tap in state.reads
