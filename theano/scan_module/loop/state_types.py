"""The type of a state has a static length of 1 only where its first value and the step both have it.

`T.zeros((1, n))` has a static length of one row; what a step returns mostly has none.
Theano 1.0 refused such a loop. A state that is not statically of one row is right for both.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.type import TensorType

from theano.compile.rebroadcast import addbroadcast, unbroadcast
from theano.pytensor_internals.graphs.order import order_of
from theano.scan_module.loop.arguments import Loop, State
from theano.scan_module.loop.roles import MIT_SOT, SIT_SOT


def with_states_typed_by_both(loop: Loop) -> Loop:
    """Return the same loop, whose states' types are the same before and after a step.

    Parameters
    ----------
    loop
        A loop that PyTensor's ``scan`` made.

    Returns
    -------
    Loop
        The same loop, where all states agree. Else one whose step is built on states of looser
        types; where an operation of the step needs to know of the length of 1, what the step
        returns is declared to have it.
    """
    if not any(map(_static_alone, loop.states)):
        return loop
    try:
        loop = _loosened(loop)
    except (TypeError, ValueError):
        loop = replace(loop, states=tuple(map(_declared, loop.states)))
    return replace(loop, states=tuple(map(_as_loose_as_read, loop.states)))


def loose_axes(value: Variable, row: Variable) -> list[int]:
    """Return the axes of what a loop is given that are statically of length 1, and in its step are not.

    Parameters
    ----------
    value
        First rows of a state, or all of them, whose last axes are those of a row; or an invariant.
    row
        The value in a step.
    """
    lead = value.type.ndim - row.type.ndim
    return [lead + axis for axis in _ones(value, lead) - _ones(row)]


def _ones(value: Variable, lead: int = 0) -> set[int]:
    """Return the dimensions that are statically of length 1, counted from one of them."""
    return {
        axis - lead for axis, one in enumerate(value.type.broadcastable) if one and axis >= lead
    }


def _static_alone(state: State) -> bool:
    """Return whether lengths of 1 are static before a step and not after it, or the other way round."""
    if state.kind not in (SIT_SOT, MIT_SOT):
        return False
    values = [tap.inner for tap in (*state.reads, *state.writes)]
    tensors = all(isinstance(value.type, TensorType) for value in values)
    if not tensors or len({value.type.ndim for value in values}) > 1:
        return False
    return len({value.type.broadcastable for value in values}) > 1


def _loosened(loop: Loop) -> Loop:
    """Return the loop with a step that is built on looser states, until no type changes any more."""
    while replacements := _looser_reads(loop.states):
        places = [replacements.get(variable, variable) for variable in loop.inner_inputs]
        loop = loop.with_step(places, _rebuilt(loop.inner_outputs, replacements))
    return replace(loop, states=tuple(map(_returned_loosely, loop.states)))


def _looser_reads(states: Iterable[State]) -> dict[Variable, Variable]:
    """Return a looser variable for each that is read with a length of 1 that the step does not return."""
    looser = {}
    for state in filter(_static_alone, states):
        [returned] = [tap.inner for tap in state.writes]
        for tap in state.reads:
            if axes := _ones(tap.inner) - _ones(returned):
                looser[tap.inner] = _with_forgotten(tap.inner, axes)
    return looser


def _with_forgotten(variable: Variable, axes: set[int]) -> Variable:
    """Return a fresh variable like another, whose type has no static lengths of 1 for some axes."""
    shape = [None if axis in axes else size for axis, size in enumerate(variable.type.shape)]
    fresh = variable.type.clone(shape=shape)(name=variable.name)
    fresh.tag = copy.copy(variable.tag)
    return fresh


def _rebuilt(outputs: list[Variable], replacements: dict[Variable, Variable]) -> list[Variable]:
    """Values of a step computed from variables of other types, by nodes that are rebuilt."""
    known = dict(replacements)
    for node in order_of(outputs, known):
        if any(variable in known for variable in node.inputs):
            made = _made_again(node, [known.get(variable, variable) for variable in node.inputs])
            known.update(zip(node.outputs, made.outputs, strict=True))
    return [known.get(output, output) for output in outputs]


def _made_again(node: Apply, inputs: list[Variable]) -> Apply:
    made = node.op.make_node(*inputs)
    made.tag = copy.copy(node.tag)
    for old, new in zip(node.outputs, made.outputs, strict=True):
        new.name, new.tag = old.name, copy.copy(old.tag)
    return made


def _returned_loosely(state: State) -> State:
    """Return the state, whose step has no more static lengths in what it returns than in what it reads."""
    return _with_results(
        state, lambda returned, read: unbroadcast(returned, *(_ones(returned) - _ones(read)))
    )


def _declared(state: State) -> State:
    """Return the state, whose step gives what it returns the static lengths of its first value."""
    return _with_results(
        state, lambda returned, read: addbroadcast(returned, *(_ones(read) - _ones(returned)))
    )


def _with_results(state: State, fitted) -> State:
    if not _static_alone(state):
        return state
    [write] = state.writes
    return replace(state, writes=(replace(write, inner=fitted(write.inner, state.reads[0].inner)),))


def _as_loose_as_read(state: State) -> State:
    """Return the state in memory, with no more static lengths than what the step reads of it."""
    if state.kind not in (SIT_SOT, MIT_SOT):
        return state
    axes = loose_axes(state.outer, state.reads[0].inner)
    return replace(state, outer=unbroadcast(state.outer, *axes)) if axes else state
