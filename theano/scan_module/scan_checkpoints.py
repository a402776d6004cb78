"""``theano.scan_checkpoints``: a loop whose gradient keeps few steps and computes the rest again."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from pytensor import tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.raise_op import Assert
from theano.scan_module.scan import scan
from theano.scan_module.scan_op import Scan
from theano.updates import OrderedUpdates


def scan_checkpoints(
    fn: Callable,
    sequences: object = None,
    outputs_info: object = None,
    non_sequences: object = None,
    name: str = "checkpointscan_fn",
    n_steps: object = None,
    save_every_N: int = 10,
    padding: bool = True,
) -> tuple[Any, OrderedUpdates]:
    """Call a function once per step of a loop, and keep every N-th step only.

    The gradient computes the N steps after each one that was kept again, so that it needs memory
    for the kept steps and for N steps, not for all.

    Parameters
    ----------
    fn, sequences, outputs_info, non_sequences, name, n_steps
        As of `theano.scan`. Sequences are variables, of which ``n_steps`` rows are read; a state
        reads the value of the step before only.
    save_every_N
        How many steps are taken between two that are kept.
    padding
        Whether to fill sequences up to a multiple of ``save_every_N``, which copies them. Without
        it their length must be one.

    Returns
    -------
    outputs : Variable or list of Variable
        The outputs of each N-th step and of the last one.
    updates : OrderedUpdates
        Updates of shared variables, for ``theano.function``.

    Raises
    ------
    RuntimeError
        If a state has taps.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> a = T.vector("a")
    >>> kept, updates = theano.scan_checkpoints(
    ...     lambda before, a: before * a, outputs_info=T.ones_like(a), non_sequences=a,
    ...     n_steps=100, save_every_N=10)
    >>> slope = theano.function([a], theano.grad(kept[-1].sum(), a))
    >>> slope([1.0])
    array([100.])
    """
    sequences, outputs_info, non_sequences = map(_as_list, (sequences, outputs_info, non_sequences))
    if any(isinstance(entry, dict) and "taps" in entry for entry in outputs_info):
        raise RuntimeError(
            f"scan_checkpoints {name!r}: a state reads the value of the step before only, but"
            " outputs_info has an entry with taps; use theano.scan"
        )
    sequences = [pt.as_tensor_variable(sequence) for sequence in sequences]
    sequences, n_steps = _of_one_length(sequences, n_steps, name)
    segments = (n_steps + save_every_N - 1) // save_every_N
    if padding:
        sequences = [_padded(sequence, segments * save_every_N) for sequence in sequences]

    def segment(steps: Variable, *arguments: Variable) -> tuple[list[Variable], OrderedUpdates]:
        # parts of the sequences | states | non-sequences
        parts = arguments[: len(sequences)]
        given = iter(arguments[len(sequences) : len(arguments) - len(non_sequences)])
        states = [None if entry is None else next(given) for entry in outputs_info]
        outputs, updates = scan(
            fn,
            sequences=list(parts),
            outputs_info=states,
            non_sequences=list(arguments[len(arguments) - len(non_sequences) :]),
            n_steps=steps,
            name=f"{name}_inner",
            return_list=True,
        )
        return [output[-1] for output in outputs], updates

    steps_of_segments = pt.minimum(save_every_N, n_steps - save_every_N * pt.arange(segments))
    outputs, updates = scan(
        segment,
        sequences=[steps_of_segments, *(_cut(s, segments, save_every_N) for s in sequences)],
        outputs_info=outputs_info,
        non_sequences=non_sequences,
        n_steps=segments,
        name=f"{name}_outer",
        return_list=True,
    )
    # The gradient must not keep what the segments compute.
    _loop_of(outputs[0]).gradient_policy = "none"
    return (outputs if len(outputs) > 1 else outputs[0]), updates


def _as_list(entries: object) -> list:
    if entries is None:
        return []
    return list(entries) if isinstance(entries, list | tuple) else [entries]


def _of_one_length(
    sequences: list[TensorVariable], n_steps: Any, name: str
) -> tuple[list[TensorVariable], TensorVariable]:
    """Return the rows of the sequences that the steps read, and how many they are."""
    lengths = [sequence.shape[0] for sequence in sequences]
    if n_steps is None:
        steps = reduce(pt.minimum, lengths)
        return [s[:steps] for s in sequences] if len(sequences) > 1 else sequences, steps
    steps = pt.as_tensor_variable(n_steps)
    checked = [
        known_tensor(
            Assert(f"scan_checkpoints {name!r}: sequence {k} has fewer than n_steps rows")(
                sequence, pt.ge(length, steps)
            )
        )
        for k, (sequence, length) in enumerate(zip(sequences, lengths, strict=True))
    ]
    return [sequence[:steps] for sequence in checked], steps


def _padded(sequence: TensorVariable, length: TensorVariable) -> TensorVariable:
    """Return the sequence with zeros after its end, up to the length."""
    missing = (length - sequence.shape[0], *tuple(sequence.shape)[1:])
    return pt.concatenate([sequence, pt.zeros(missing, dtype=sequence.dtype)])


def _cut(sequence: TensorVariable, segments: TensorVariable, length: int) -> TensorVariable:
    """Return the sequence as segments of that length."""
    shape = (segments, length, *tuple(sequence.shape)[1:])
    return sequence.reshape(shape, ndim=sequence.ndim + 1)


def _loop_of(output: Variable) -> Scan:
    """Return the op of the loop that an output, which may be a slice of a buffer, comes from."""
    while not isinstance(output.owner.op, Scan):
        output = output.owner.inputs[0]
    return output.owner.op
