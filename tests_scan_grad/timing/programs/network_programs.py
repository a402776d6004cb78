"""A training step compiled by each library: one call gives the cost and changes the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests_scan_grad.timing.programs.networks import LEARNING_RATE, Network

# takes the inputs' arrays; returns the cost
Step = Callable[[dict[str, np.ndarray]], Any]


def graph_operations(
    scan: Callable, tensor: Any, sigmoid: Callable, softmax: Callable
) -> SimpleNamespace:
    """Return the operations of Theano or PyTensor."""

    def loop(step, sequences, states, weights, name):
        outputs = scan(
            partial(step, operations),
            sequences=sequences,
            outputs_info=states,
            non_sequences=weights,
            name=name,
        )
        return outputs if isinstance(outputs, list) else [outputs]

    def cross_entropy(logits, labels):
        return -tensor.log(softmax(logits)[tensor.arange(labels.shape[0]), labels]).mean()

    operations = SimpleNamespace(
        dot=tensor.dot,
        sigmoid=sigmoid,
        tanh=tensor.tanh,
        exp=tensor.exp,
        log=tensor.log,
        sqrt=tensor.sqrt,
        concatenate=lambda parts, axis: tensor.concatenate(parts, axis=axis),
        greatest=lambda rows: rows.max(axis=0),
        reverse=lambda rows: rows[::-1],
        stack=lambda states: states,
        cross_entropy=cross_entropy,
        scan=loop,
    )
    return operations


def graph_step(library: Any, operations: SimpleNamespace, network: Network, **options) -> Step:
    """Compile a training step with Theano or PyTensor."""
    kept = {name: library.shared(value, name) for name, value in network.initial().items()}
    inputs = {
        name: library.tensor.TensorType(network.dtype(name), (None,) * len(shape))(name)
        for name, shape in network.inputs.items()
    }
    parameters = {name: kept[name] for name in network.shapes}
    rows = {table: kept[table][inputs[name]] for table, name in network.by_rows.items()}
    parameters |= rows
    cost = network.cost(operations, parameters, inputs)
    gradients = dict(zip(parameters, library.grad(cost, list(parameters.values())), strict=True))
    downhill = {table: -LEARNING_RATE * gradients.pop(table) for table in rows}
    changed = network.train(operations, kept, gradients)
    changed |= {name: library.tensor.inc_subtensor(rows[name], downhill[name]) for name in rows}
    function = library.function(
        list(inputs.values()),
        cost,
        updates=[(kept[name], value.astype("float32")) for name, value in changed.items()],
        **options,
    )
    return lambda arrays: function(*arrays.values())


def ours(network: Network, more: Mapping[str, Any] | None = None, **options) -> Step:
    """Compile with Theano as this project gives it, in its default mode; `more` are operations."""
    import theano
    import theano.tensor.nnet

    def scan(*args, **kwargs):
        return theano.scan(*args, **kwargs)[0]

    nnet = theano.tensor.nnet
    operations = graph_operations(scan, theano.tensor, nnet.sigmoid, nnet.softmax)
    vars(operations).update(more or {})
    return graph_step(theano, operations, network, **options)


def pytensor_step(network: Network, **options) -> Step:
    """Compile with plain PyTensor."""
    import pytensor
    import pytensor.tensor.special

    scan = partial(pytensor.scan, return_updates=False)
    tensor = pytensor.tensor
    softmax = partial(tensor.special.softmax, axis=-1)
    operations = graph_operations(scan, tensor, tensor.sigmoid, softmax)
    return graph_step(pytensor, operations, network, **options)


def jax_step(
    network: Network,
    more: Mapping[str, Any] | None = None,
    ready_for: dict[str, Any] | None = None,
) -> Step:
    """Compile with JAX: ``jit(grad(...))``.

    Parameters
    ----------
    more
        Operations.
    ready_for
        Arrays of the shapes for which to compile now: it is at the first call with them otherwise.
    """
    import jax
    from jax import numpy

    def loop(step, sequences, states, weights, name):
        def body(carried, slices):
            changed = step(operations, *slices, *carried, *weights)
            return changed, changed

        return jax.lax.scan(body, list(states), list(sequences))[1]

    def cross_entropy(logits, labels):
        logarithms = jax.nn.log_softmax(logits)
        return -logarithms[numpy.arange(labels.shape[0]), labels].mean()

    operations = SimpleNamespace(
        dot=numpy.dot,
        sigmoid=jax.nn.sigmoid,
        tanh=numpy.tanh,
        exp=numpy.exp,
        log=numpy.log,
        sqrt=numpy.sqrt,
        concatenate=numpy.concatenate,
        greatest=lambda rows: rows.max(axis=0),
        reverse=lambda rows: rows[::-1],
        stack=lambda states: states,
        cross_entropy=cross_entropy,
        scan=loop,
    )
    vars(operations).update(more or {})
    kept = {name: jax.device_put(value) for name, value in network.initial().items()}

    def in_order(values):
        # JAX sorts the names of what it traces
        return {name: values[name] for name in network.shapes}

    def cost_of(parameters, inputs):
        return network.cost(operations, in_order(parameters), inputs)

    def change(kept, inputs):
        rows = {table: kept[table][inputs[name]] for table, name in network.by_rows.items()}
        cost, found = jax.value_and_grad(cost_of)(in_order({**kept, **rows}), inputs)
        gradients = in_order(found)
        downhill = {table: -LEARNING_RATE * gradients.pop(table) for table in rows}
        changed = network.train(operations, kept, gradients)
        for table, name in network.by_rows.items():
            changed[table] = kept[table].at[inputs[name]].add(downhill[table])
        return cost, changed

    # what it is given is what it changes, as a shared variable is
    program = jax.jit(change, donate_argnums=0)
    if ready_for is not None:
        program.lower(kept, ready_for).compile()

    def call(arrays):
        cost, changed = program(kept, arrays)
        kept.update(changed)
        return jax.block_until_ready(cost)

    return call
