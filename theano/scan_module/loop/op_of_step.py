"""What a ``Scan`` op knows of its step, worked out from a copy that is made once.

PyTensor's constructor copies the step twice, replaces its inputs one by one, and makes it
comparable whether anything compares it or not. A rewrite of loops makes an op for each that it
changes: a tenth of the compilation of a stack of recurrent layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytensor.configdefaults import config
from pytensor.graph.basic import NominalVariable, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.type import Type
from pytensor.tensor.type import TensorType

from theano.pytensor_base.graph import InconsistencyError
from theano.pytensor_base.scan import ScanInfo
from theano.scan_module.loop.step_copy import copied


def step_graph(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FunctionGraph:
    """A copy of a step around inputs that are told apart by their positions alone.

    Raises
    ------
    MissingInputError
        When the step reads what is neither an input nor a constant.
    InconsistencyError
        When an operation of the step overwrites what it reads.
    """
    places = [NominalVariable(k, variable.type) for k, variable in enumerate(inputs)]
    own = copied(outputs, dict(zip(inputs, places, strict=True)))
    graph = FunctionGraph(places, own, clone=False)
    if any(node.op.destroy_map for node in graph.apply_nodes):
        raise InconsistencyError("Inner-graphs must not contain in-place operations.")
    return graph


def layout(info: ScanInfo, outputs: Sequence[Variable]) -> dict[str, Any]:
    """The attributes of an op that follow from the numbers of its arguments and their taps.

    Parameters
    ----------
    info
        Numbers and taps.
    outputs
        What the step computes: mit-mot | mit-sot | sit-sot | traces | carried [| condition].
    """
    states = info.n_mit_mot + info.n_mit_sot + info.n_sit_sot
    # n_steps | sequences | mit-mot | mit-sot | sit-sot | carried | trace lengths | invariants
    first_carried = 1 + info.n_seqs + states
    found = {
        "output_types": list(_output_types(info, outputs)),
        "mintaps": [*(min(taps) for taps in info.tap_array), *[0] * info.n_nit_sot],
        "seqs_arg_offset": 1 + info.n_seqs,
        "untraced_sit_sot_arg_offset": first_carried,
        "nit_sot_arg_offset": first_carried + info.n_untraced_sit_sot,
        "n_tap_outs": states,
        "mitmots_preallocated": tuple(_written_where_read(info)),
        "n_outer_inputs": info.n_outer_inputs,
        "n_outer_outputs": info.n_outer_outputs,
    }
    if info.n_untraced_sit_sot:
        # a loop without steps returns what it was given
        found["view_map"] = {
            states + info.n_nit_sot + k: [first_carried + k] for k in range(info.n_untraced_sit_sot)
        }
    return found


def _output_types(info: ScanInfo, outputs: Sequence[Variable]) -> Iterator[Type]:
    """A row for each step where a row is kept; of a mit-mot, the rows are its first output's."""
    position = 0
    for taps in info.mit_mot_out_slices:
        yield _rows_of(outputs[position])
        position += len(taps)
    kept = info.n_mit_sot + info.n_sit_sot + info.n_nit_sot
    for output in outputs[position : position + kept]:
        yield _rows_of(output)
    position += kept
    for output in outputs[position : position + info.n_untraced_sit_sot]:
        yield output.type


def _rows_of(row: Variable) -> TensorType:
    return TensorType(dtype=row.type.dtype, shape=(None, *row.type.shape))


def _written_where_read(info: ScanInfo) -> Iterator[bool]:
    """For each output of a mit-mot, whether PyTensor's machine may have it overwrite its input."""
    slices = zip(info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True)
    for reads, writes in slices:
        for tap in writes:
            yield config.scan__allow_output_prealloc and tap in reads
