"""``theano.scan``: a Python function of one step becomes a loop of the graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.basic import shape_padleft
from pytensor.tensor.type import TensorType

from theano.configdefaults import config
from theano.gof.test_values import compute_missing_test_values, no_test_values
from theano.rewriting.step_modes import step_modes
from theano.scan_module.call.arguments_by_role import Given
from theano.scan_module.call.checked_arrays import check_arrays, check_sequences, with_rows_checked
from theano.scan_module.call.last_values import warn_of_last_values
from theano.scan_module.call.loop_of_step import results_of_loop
from theano.scan_module.call.number_of_steps import check_steps, check_truncation, constant_steps
from theano.scan_module.call.step_results import checked, clearer_errors
from theano.scan_module.call.step_test_values import with_test_values
from theano.scan_module.call.updated_outside import with_default_updates
from theano.scan_module.call.written_step import WrittenStep
from theano.scan_module.loop.arguments import LoopSettings
from theano.source_locations.one_trace import traced_as_one
from theano.support.garbage_collection import rare_collections
from theano.support.views_as_lists import as_list
from theano.updates import OrderedUpdates


def scan(
    fn: Callable,
    sequences: object = None,
    outputs_info: object = None,
    non_sequences: object = None,
    n_steps: object = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: object = None,
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
        Variables of one dimension or more and any dtype, or dicts with keys ``input`` and ``taps``,
        that are iterated over along their first axis.
    outputs_info
        For each output: None if no step reads it; its initial state if each step reads the value
        of the step before, of the shape and dtype that a step returns; or a dict with ``initial``,
        whose first axis has a row for each step back, and ``taps`` (negative integers).
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
        The outputs of all steps, stacked along a new first axis: of shape
        ``(n_steps, ...)``. Of a state that is no array, such as a typed list, the last value only; a
        warning says so, but not for a random generator.
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
    sequences, outputs_info = as_list(sequences), as_list(outputs_info)
    non_sequences = as_list(non_sequences)
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
    given = Given.of(sequences, outputs_info, non_sequences)
    warn_of_last_values(given, name)
    written, fn = fn, with_test_values(checked(fn, outputs_info, name), given)
    step = WrittenStep()
    with _no_warnings(), rare_collections(), clearer_errors(written, step, outputs_info, name):
        if constant_steps(n_steps) == 1:
            outputs, updates = _results_of_one_step(fn, given, step, go_backwards)
        else:
            settings = LoopSettings(
                name=name,
                mode=step_modes().of_step(mode),
                truncate_gradient=truncate_gradient,
                profile=profile,
                allow_gc=config.scan.allow_gc if allow_gc is None else allow_gc,
                strict=strict,
            )
            outputs, updates = _results_of_loop(fn, given, step, n_steps, go_backwards, settings)
    compute_missing_test_values([*outputs, *updates.values()])
    found = OrderedUpdates(updates.items())
    if not outputs:
        return None, found
    return (outputs if return_list or len(outputs) > 1 else outputs[0]), found


@contextmanager
def _no_warnings() -> Iterator[None]:
    """PyTensor says nothing of what Theano's scan has and it is going to drop."""
    with warnings.catch_warnings():
        # what it sets itself of the generators that a step draws from
        warnings.filterwarnings("ignore", "Setting default_update", DeprecationWarning)
        yield


def _results_of_one_step(
    fn: Callable, given: Given, step: WrittenStep, backwards: bool
) -> tuple[list[Variable], dict[Any, Variable]]:
    """Return what a loop that is known to have one step gives: the step, without a loop around it.

    Default updates stay with their shared variables: functions make those that they read.
    """

    def arguments() -> list[Variable]:
        return given.arguments_of_one_step(backwards)

    step.call(fn, [*traced_as_one(arguments, given.variables), *given.invariants])
    outputs = [
        shape_padleft(output) if isinstance(output.type, TensorType) else output
        for output in step.outputs
    ]
    return outputs, step.updates


def _results_of_loop(
    fn: Callable,
    given: Given,
    step: WrittenStep,
    n_steps: object,
    backwards: bool,
    settings: LoopSettings,
) -> tuple[list[Variable], dict[Any, Variable]]:
    """Return what a loop gives."""
    with no_test_values():
        arguments = [*traced_as_one(given.arguments, []), *given.invariants]
    step.call(with_default_updates(fn), arguments)
    step.leave_updates_to_loop()
    changed: list[Any] = []

    def made() -> list[Variable]:
        outputs, updates = results_of_loop(given, step, n_steps, backwards, settings)
        changed.extend(updates)
        return [*outputs, *updates.values()]

    with no_test_values():
        # what the loop is given is not walked through, the number of steps neither
        ends = [*given.variables, *step.shared, *step.read_from_outside]
        results = traced_as_one(made, ends + [n for n in [n_steps] if isinstance(n, Variable)])
    count = len(step.outputs)
    return results[:count], dict(zip(changed, results[count:], strict=True))
