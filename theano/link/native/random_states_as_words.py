"""random_states_as_words: loops that draw from NumPy's `RandomState` get its words instead.

    state -> loop   =>   state -> words -> the loop on words -> state

C cannot draw from an object of Python's. The words are read before the loop and a generator is made
of them after it, so that a step touches an array only. It is legal because the draws from the words
are those of the generator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort

from theano.link.native.build.compile_ahead import TAG
from theano.link.native.lowering.operations.draws.random_state_draws import why_no_code
from theano.pytensor_base.graphs.rewriting import GraphRewriter
from theano.pytensor_base.graphs.scan import Scan
from theano.rewriting.database import optdb
from theano.scan_module.loop.arguments import Loop, unpack
from theano.scan_module.scan_opt.loop_rewriter import loops_of, replace_values
from theano.tensor.numpy_draws.random_function import RandomFunction, RandomStateType
from theano.tensor.numpy_draws.random_state_words import (
    DrawFromWords,
    random_state_of_words,
    words_of_random_state,
    words_type,
)


class RandomStatesAsWords(GraphRewriter):
    """Gives loops the words of the generators that they draw from."""

    def apply(self, fgraph: FunctionGraph) -> None:
        """Visit each loop."""
        for node in list(loops_of(fgraph)):
            if node in fgraph.apply_nodes and why_not_words(node) == "":
                replace_values(fgraph, on_words(node), "random_states_as_words")


def why_not_words(node: Apply) -> str | None:
    """Why a loop cannot draw from words; None if it draws from no `RandomState`."""
    inner = node.op.fgraph
    if not any(map(_is_state, [*inner.inputs, *inner.outputs])):
        return None
    for each in inner.toposort():
        reason: str | None = None
        if isinstance(each.op, RandomFunction):
            reason = why_no_code(each.op, each.inputs[2:])
        elif isinstance(each.op, Scan):
            reason = why_not_words(each)
        elif any(map(_is_state, [*each.inputs, *each.outputs])):
            reason = f"{each.op} has a generator among its inputs or outputs"
        if reason:
            return reason
    return ""


def on_words(node: Apply) -> Mapping[Variable, Variable]:
    """Return what takes the place of the outputs of a loop."""
    loop = unpack(node)
    built = _with_words(loop, _words_outside).build(type(node.op))
    return {
        old: random_state_of_words.make_node(new).outputs[0] if _is_state(old) else new
        for old, new in zip(node.outputs, built.node.outputs, strict=True)
    }


def _is_state(variable: Variable) -> bool:
    return isinstance(variable.type, RandomStateType)


def _words_outside(variable: Variable) -> Variable:
    if not _is_state(variable):
        return variable
    return words_of_random_state.make_node(variable).outputs[0]


def _with_words(loop: Loop, outside: Callable[[Variable], Variable]) -> Loop:
    """The loop on words; ``outside`` says what stands for what it is given."""
    known: dict[Variable, Variable] = {
        variable: words_type(name=variable.name)
        for variable in loop.inner_inputs
        if _is_state(variable)
    }
    for node in toposort(loop.inner_outputs):
        if any(variable in known for variable in node.inputs):
            known.update(zip(node.outputs, _made_anew(node, known), strict=True))
    read = [known.get(variable, variable) for variable in loop.inner_inputs]
    computed = [known.get(variable, variable) for variable in loop.inner_outputs]
    stepped = loop.with_step(read, computed)
    return replace(
        stepped,
        n_steps=outside(loop.n_steps),
        sequences=tuple(replace(each, outer=outside(each.outer)) for each in stepped.sequences),
        states=tuple(replace(each, outer=outside(each.outer)) for each in stepped.states),
        traces=tuple(replace(each, length=outside(each.length)) for each in stepped.traces),
        untraced=tuple(replace(each, outer=outside(each.outer)) for each in stepped.untraced),
        invariants=tuple(replace(each, outer=outside(each.outer)) for each in stepped.invariants),
    )


def _made_anew(node: Apply, known: Mapping[Variable, Variable]) -> list[Variable]:
    """The outputs of a node of a step, given what stands for its inputs."""

    def given(variable: Variable) -> Variable:
        return known.get(variable, variable)

    inputs = [given(variable) for variable in node.inputs]
    if isinstance(node.op, RandomFunction):
        return DrawFromWords(node.op).make_node(*inputs).outputs
    if isinstance(node.op, Scan):
        return _with_words(unpack(node), given).build(type(node.op)).node.outputs
    return node.clone_with_new_inputs(inputs).outputs


# before the compiler is started ahead for loops
optdb.register("random_states_as_words", RandomStatesAsWords(), TAG, position=0.0805)
