"""How many rows the buffers of a loop have before the first step's."""

from __future__ import annotations

from pytensor.graph.basic import Apply

from theano.pytensor_base.scan import Scan


def rows_of_states(op: Scan) -> list[int]:
    """For each mit-sot and sit-sot: as many rows as its steps read back."""
    info = op.info
    return [-min(taps) for taps in (*info.mit_sot_in_slices, *info.sit_sot_in_slices)]


def initial_rows(node: Apply) -> list[int]:
    """For each output of a loop; none where it is not the buffer of such a state."""
    op: Scan = node.op  # type: ignore[assignment]
    before, states = op.info.n_mit_mot, rows_of_states(op)
    return [0] * before + states + [0] * (len(node.outputs) - before - len(states))
