"""Graphs, and the orders in which walks visit them; as a program, it prints these.

It uses Theano's names only, and no module of these tests, so that Theano 1.0.5 runs it, too:
`walked_graphs.json` is what it printed there, on Python 3.8.
"""
# ruff: noqa: UP031 -- as programs of its time were written

import json
from collections import OrderedDict, deque

import numpy

import theano
import theano.tensor as T
from theano.gof import graph as walks


class Both(theano.Op):
    """The sum and the difference of two vectors: an operation with two results."""

    __props__ = ()

    def make_node(self, x, y):
        return theano.Apply(self, [x, y], [x.type(), x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + inputs[1]
        output_storage[1][0] = inputs[0] - inputs[1]


def random_graph(seed):
    """Vectors, of which each is made from earlier ones; all have names."""
    rng = numpy.random.RandomState(seed)
    found = [T.dvector("x%d" % k) for k in range(rng.randint(1, 6))]
    inputs = list(found)
    for k in range(rng.randint(1, 14)):
        picked = [found[rng.randint(len(found))] for _ in range(3)]
        kind = rng.randint(5)
        if kind == 0:
            made = [T.tanh(picked[0])]
        elif kind == 1:
            made = [picked[0] + picked[1]]
        elif kind == 2:
            made = [T.mul(picked[0], picked[1], picked[2])]
        elif kind == 3:
            made = [T.switch(picked[0], picked[1], picked[2])]
        else:
            made = Both()(picked[0], picked[1])
        for number, variable in enumerate(made):
            variable.name = "v%d_%d" % (k, number)
        found.extend(made)
    outputs = [found[rng.randint(len(found))] for _ in range(rng.randint(1, 4))]
    inside = [found[rng.randint(len(found))] for _ in range(rng.randint(0, 3))]
    return inputs, outputs, inside


def names(found):
    """The names of variables; an application goes by that of its first result."""
    return [getattr(one, "name", None) or one.outputs[0].name for one in found]


def orders_of(inputs, outputs, inside):
    """Return the names that each walk gives for a graph."""
    between, others = walks.variables_and_orphans(inputs[:1] + inside, outputs)
    clients = OrderedDict()
    # given one of two results, Theano's does not end
    single = [v for v in inside if v.owner is None or len(v.owner.outputs) == 1]

    def before(variable):
        return [] if variable.owner is None else list(variable.owner.inputs)

    given = OrderedDict([
        ("inputs", walks.inputs(outputs)),
        ("inputs behind", walks.inputs(outputs, inside)),
        ("ancestors", walks.ancestors(outputs)),
        ("ancestors behind", walks.ancestors(outputs, inside)),
        ("variables", walks.variables(inputs, outputs)),
        ("variables_and_orphans", between + others),
        ("orphans", walks.orphans(inputs[:1], outputs)),
        ("ops", sorted(walks.ops(inputs, outputs), key=lambda node: node.outputs[0].name)),
        ("io_toposort", walks.io_toposort(inputs, outputs)),
        ("io_toposort inside", walks.io_toposort(inputs + single, outputs)),
        ("io_toposort with clients", walks.io_toposort(inputs, outputs, clients=clients)),
        ("general_toposort", walks.general_toposort(outputs, before)),
        ("stack_search, dfs", walks.stack_search(deque(outputs), before, "dfs")),
        ("stack_search, bfs", walks.stack_search(deque(outputs), before)),
    ])  # fmt: skip
    order = given["io_toposort"]
    if len(order) > 2:
        last = {order[-1]: [order[0]], order[1]: []}
        given["io_toposort with orderings"] = walks.io_toposort(inputs, outputs, last)
    made = [variable for variable in outputs if variable.owner is not None]
    given["list_of_nodes"] = walks.list_of_nodes(inputs, made)
    return OrderedDict((name, " ".join(names(found))) for name, found in given.items())


def parameter(name, *shape):
    return theano.shared(numpy.ones(shape), name)


def perceptron():
    x, y = T.matrix("x"), T.vector("y")
    for k in range(3):
        W, b = parameter("W%d" % k, 4, 4), parameter("b%d" % k, 4)
        x = T.nnet.sigmoid(T.dot(x, W) + b)
    v = parameter("v", 4)
    return T.mean((T.dot(x, v) - y) ** 2) + 0.01 * (W**2).sum()


def normalized():
    """Batch normalization: four parameters of one shape to a layer."""
    x = T.matrix("x")
    for k in range(2):
        x = T.dot(x, parameter("W%d" % k, 4, 4))
        mean, std = parameter("mean%d" % k, 4), parameter("std%d" % k, 4)
        gamma, beta = parameter("gamma%d" % k, 4), parameter("beta%d" % k, 4)
        x = T.nnet.relu((x - mean) * (gamma / std) + beta)
    return T.nnet.softmax(x)


def operator_of_batch_normalization():
    x = T.matrix("x")
    given = [parameter(name, 4) for name in ("gamma", "beta", "mean", "std")]
    return T.nnet.bn.batch_normalization(x, *given)


def normalized_by_operators():
    """A layer that is trained, and one with fixed averages: rows broadcast over the batch."""
    x = T.matrix("x")
    names = ("gamma%d", "beta%d", "mean%d", "var%d")
    rows = [[T.shape_padleft(parameter(name % k, 4)) for name in names] for k in range(2)]
    trained = T.nnet.bn.batch_normalization_train(
        x, rows[0][0], rows[0][1], running_mean=rows[0][2], running_var=rows[0][3]
    )
    return T.nnet.bn.batch_normalization_test(trained[0], *rows[1])


def convolutional():
    x = T.tensor4("x")
    for k in range(2):
        x = T.nnet.conv2d(x, parameter("F%d" % k, 2, 2, 3, 3))
        x = T.tanh(x + parameter("b%d" % k, 2).dimshuffle("x", 0, "x", "x"))
    return T.dot(x.flatten(2), parameter("W", 4, 4)) + parameter("c", 4)


def embedding():
    words = T.lmatrix("words")
    E, W, b = parameter("E", 10, 4), parameter("W", 4, 4), parameter("b", 4)
    return T.concatenate([T.dot(E[words.flatten()], W), E[words[:, 0]] + b], axis=0)


def recurrent():
    """The step's parameters are named as arguments."""
    x, h0 = T.tensor3("x"), parameter("h0", 2, 4)
    W, U, b = parameter("W", 4, 4), parameter("U", 4, 4), parameter("b", 4)

    def step(x_t, h, W, U, b):
        return T.tanh(T.dot(x_t, W) + T.dot(h, U) + b)

    h, _ = theano.scan(step, sequences=x, outputs_info=h0, non_sequences=[W, U, b])
    return T.dot(h[-1], parameter("V", 4, 4))


def recurrent_with_closure():
    """The step takes its parameters from around it."""
    x = T.tensor3("x")
    W, U, b = parameter("W", 4, 4), parameter("U", 4, 4), parameter("b", 4)
    z, V = parameter("z", 4, 4), parameter("V", 4, 4)

    def step(x_t, h):
        gate = T.nnet.sigmoid(T.dot(x_t, z) + b)
        return gate * T.tanh(T.dot(h, U) + T.dot(x_t, W)) + (1 - gate) * h

    h, _ = theano.scan(step, sequences=[x], outputs_info=[T.zeros((2, 4))])
    return T.dot(h[-1], V)


def bidirectional():
    x = T.tensor3("x")
    both = []
    for side in ("forward", "backward"):
        W, U = parameter("W_" + side, 4, 4), parameter("U_" + side, 4, 4)

        def step(x_t, h, W=W, U=U):
            return T.tanh(T.dot(x_t, W) + T.dot(h, U))

        h, _ = theano.scan(
            step, sequences=x, outputs_info=T.zeros((2, 4)), go_backwards=side == "backward"
        )
        both.append(h[-1])
    return T.dot(T.concatenate(both, axis=1), parameter("V", 8, 1))


NETWORKS = [
    perceptron,
    normalized,
    operator_of_batch_normalization,
    normalized_by_operators,
    convolutional,
    embedding,
    recurrent,
    recurrent_with_closure,
    bidirectional,
]


def parameters(cost):
    """The parameters of a network as libraries collect them, and in the order of its nodes."""
    found = walks.inputs([cost])
    of_nodes = OrderedDict(
        (variable, None)
        for node in walks.io_toposort(walks.inputs([cost]), [cost])
        for variable in node.inputs
        if variable.name
    )
    given = [v for v in found if v.name and not isinstance(v, theano.compile.SharedVariable)]
    function = theano.function(given, cost, mode="FAST_COMPILE", on_unused_input="ignore")
    return OrderedDict([
        ("inputs", " ".join(v.name for v in found if v.name)),
        ("nodes", " ".join(v.name for v in of_nodes)),
        ("get_shared", " ".join(v.name for v in function.get_shared())),
    ])  # fmt: skip


def measured(seeds):
    """All orders, as text."""
    orders = OrderedDict(("random %d" % seed, orders_of(*random_graph(seed))) for seed in seeds)
    for network in NETWORKS:
        orders[network.__name__] = parameters(network())
    return orders


if __name__ == "__main__":
    print(json.dumps(measured(range(40)), indent=0))
