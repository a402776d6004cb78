"""``theano.scan``: a Python function of one step becomes a loop of the graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pytensor.graph.basic import Apply, Variable

from theano.garbage import rare_collections
from theano.gof.test_values import compute_missing_test_values, no_test_values
from theano.pytensor_base.graphs.scan import scan as pytensor_scan
from theano.scan_module.adopt import read_from_our_loop
from theano.scan_module.call.as_written import StepRecord
from theano.scan_module.call.given_arrays import check_arrays, check_sequences, with_rows_checked
from theano.scan_module.call.number_of_steps import check_steps, check_truncation, constant_steps
from theano.scan_module.call.stand_ins import StandIns
from theano.scan_module.call.step_results import checked, clearer_errors
from theano.scan_module.call.step_test_values import with_test_values
from theano.scan_module.call.updated_outside import with_default_updates
from theano.scan_module.step_modes import step_modes
from theano.updates import OrderedUpdates


def scan(
    fn: Callable,
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: bool | str = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
) -> tuple[Any, OrderedUpdates]:
    """Call a function once per step of a loop, and make the loop part of the graph.

    Parameters
    ----------
    fn
        Builds one step. Its arguments are the slices of ``sequences`` (in the order of their
        taps), the previous values of the outputs with an initial state (in the order of their
        taps), then ``non_sequences``. It returns the outputs of the step, in the order of
        ``outputs_info``; and optionally a dict of updates of shared variables and an ``until``.
    sequences
        Variables, or dicts with keys ``input`` and ``taps``, that are iterated over along their
        first axis.
    outputs_info
        For each output: None if no step reads it; its initial state if each step reads the value
        of the step before; or a dict with ``initial`` and ``taps`` (negative integers).
    non_sequences
        Variables that each step gets unchanged.
    n_steps
        Number of steps, an int or an integer scalar variable; by default the length of the
        shortest sequence.
    truncate_gradient
        Number of steps that the gradient goes back, -1 for all.
    go_backwards
        Whether to go through the sequences from the last element to the first.
    mode
        The mode that compiles the step; by default Theano's default mode.
    name
        Name of the loop in profiles and graphs.
    profile
        Whether to profile the steps.
    allow_gc
        Whether to free the step's intermediate results between steps; by default the flag
        ``scan.allow_gc``.
    strict
        Whether all shared variables that the step uses must be in ``non_sequences``.
    return_list
        Whether to return a list even if there is one output.

    Returns
    -------
    outputs : Variable or list of Variable
        The outputs of all steps, stacked along a new first axis.
    updates : OrderedUpdates
        Updates of shared variables, for ``theano.function``.

    Raises
    ------
    TypeError
        If ``fn`` is no function, or does not take as many arguments as it is called with, or what
        it is given cannot be an array, or ``truncate_gradient`` is no int.
    ValueError
        If ``fn`` does not return as many outputs as ``outputs_info`` has entries, or an initial
        value is known to have too few rows, or ``n_steps`` is no integer, or nothing says how many
        steps there are.
    IndexError
        If ``n_steps`` is a negative constant, or a sequence has no dimension.

    Examples
    --------
    Powers of ``a``, and the gradient of the last one:

    >>> import theano
    >>> import theano.tensor as T
    >>> a = T.vector("a")
    >>> powers, updates = theano.scan(lambda before, a: before * a,
    ...                               outputs_info=T.ones_like(a), non_sequences=a, n_steps=3)
    >>> slope = theano.grad(powers[-1].sum(), a)
    >>> theano.function([a], slope)([1.0, 2.0, 3.0])
    array([ 3., 12., 27.])
    """
    check_arrays(
        dict(
            sequences=sequences,
            outputs_info=outputs_info,
            non_sequences=non_sequences,
            n_steps=n_steps,
        ),
        name,
    )
    check_sequences(sequences, name)
    check_steps(n_steps, sequences, name)
    check_truncation(truncate_gradient, name)
    outputs_info = with_rows_checked(outputs_info, name)
    fn = with_test_values(checked(fn, outputs_info, name), sequences, outputs_info, non_sequences)
    fn = step = StepRecord(with_default_updates(fn), outputs_info)
    if go_backwards:
        sequences = _first_of_one_step(sequences, n_steps)
    stand_ins = StandIns()
    step_mode = step_modes().of_step(mode)
    with (
        _no_remarks(),
        rare_collections(),
        no_test_values(),
        clearer_errors(step, outputs_info, non_sequences, name),
    ):
        outputs, updates = pytensor_scan(
            fn,
            sequences=_arrays_replaced(sequences, "input", stand_ins),
            outputs_info=_arrays_replaced(outputs_info, "initial", stand_ins),
            non_sequences=non_sequences,
            n_steps=n_steps,
            truncate_gradient=truncate_gradient,
            go_backwards=go_backwards,
            mode=None if mode is None else step_mode,
            name=name,
            profile=profile,
            allow_gc=allow_gc,
            strict=strict,
            return_list=True,
            return_updates=True,
        )
    connected = stand_ins.connect([*(outputs or []), *updates.values()])
    outputs = connected[: len(outputs or [])]
    updates = dict(zip(updates, connected[len(outputs) :], strict=True))
    new_outputs, new_updates = _read_from_ours(outputs, updates, step, step_mode)
    if not new_outputs:
        return None, new_updates
    if return_list or len(new_outputs) > 1:
        return new_outputs, new_updates
    return new_outputs[0], new_updates


@contextmanager
def _no_remarks() -> Iterator[None]:
    """PyTensor says nothing of what Theano's scan has and it is going to drop."""
    with warnings.catch_warnings():
        # it is going to stop returning updates; Theano's scan always does
        warnings.filterwarnings("ignore", "Scan return signature will change", DeprecationWarning)
        # and a step's mode
        warnings.filterwarnings("ignore", "The `mode` argument of `scan`", FutureWarning)
        # what it sets itself of the generators that a step draws from
        warnings.filterwarnings("ignore", "Setting default_update", DeprecationWarning)
        yield


def _read_from_ours(
    outputs: list[Variable], updates: dict[Variable, Variable], step: StepRecord, step_mode: Any
) -> tuple[list[Variable], OrderedUpdates]:
    """What PyTensor's loop computes, read from a loop of ours, which has the step as written."""
    adopted: dict[Apply, Apply] = {}
    with rare_collections(), no_test_values():
        new_outputs = [read_from_our_loop(v, adopted, step_mode, step.of_loop) for v in outputs]
        new_updates = OrderedUpdates(
            (shared, read_from_our_loop(value, adopted, step_mode, step.of_loop))
            for shared, value in updates.items()
        )
    for node in adopted.values():
        step.attach(node.op)
    compute_missing_test_values([*new_outputs, *new_updates.values()])
    return new_outputs, new_updates


def _first_of_one_step(sequences: Any, n_steps: Any) -> Any:
    """Sequences of which the one step of a backward loop takes the last element.

    A loop known to have one step is no loop in the graph, and PyTensor then reads the first
    element of the sequences whatever their direction.
    """
    if sequences is None or constant_steps(n_steps) != 1:
        return sequences
    entries = sequences if isinstance(sequences, list | tuple) else [sequences]
    return [
        {**entry, "input": entry["input"][::-1], "taps": [-tap for tap in _taps(entry)]}
        if isinstance(entry, dict)
        else entry[::-1]
        for entry in entries
    ]


def _arrays_replaced(entries: Any, key: str, stand_ins: StandIns) -> Any:
    """Sequences or initial states, with stand-ins for the variables."""
    if isinstance(entries, list | tuple):
        return [_arrays_replaced(entry, key, stand_ins) for entry in entries]
    if isinstance(entries, dict):
        return {k: stand_ins.stand_in(v) if k == key else v for k, v in entries.items()}
    return stand_ins.stand_in(entries)


def _taps(sequence: dict[str, Any]) -> list[int]:
    taps = sequence.get("taps", 0)
    return list(taps) if isinstance(taps, list | tuple) else [taps]
