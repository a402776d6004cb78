"""Walks over graphs go in the orders of Theano 1.0.5: `walked_graphs.json` was printed by it."""

import json
from pathlib import Path

import pytest

import theano.tensor as T
from tests_scan_grad.old_programs import walked_graphs
from theano.gof import graph as walks

THEANOS = json.loads((Path(__file__).parent / "walked_graphs.json").read_text())
RANDOM = [name for name in THEANOS if name.startswith("random")]
NETWORKS = {network.__name__: network for network in walked_graphs.NETWORKS}

# Graphs that hold other applications here, so that their order is another one, too.
OTHER_NODES = {
    "perceptron": "the product with a vector is one of matrices, with a dimension added",
}


@pytest.mark.parametrize("graph", RANDOM)
def test_random_graphs(graph):
    _, seed = graph.split()
    assert dict(walked_graphs.orders_of(*walked_graphs.random_graph(int(seed)))) == THEANOS[graph]


def test_all_networks_were_measured():
    assert [*RANDOM, *NETWORKS] == list(THEANOS)


@pytest.mark.filterwarnings("ignore:theano.tensor.nnet.conv.conv2d is deprecated")
@pytest.mark.parametrize("network", NETWORKS)
def test_parameters_of_networks(network):
    found, measured = walked_graphs.parameters(NETWORKS[network]()), THEANOS[network]
    if network in OTHER_NODES:
        assert found.pop("nodes") != measured.pop("nodes"), "it is the same now"
    assert dict(found) == measured


def test_the_last_of_a_list_comes_first():
    x, y, z = T.vectors("x", "y", "z")
    assert walks.inputs([x, y]) == [y, x]
    assert walks.inputs([x + y, z]) == [z, x, y]
    assert walks.ancestors([z, x]) == [x, z] and walks.ancestors([]) == []
    assert walks.orphans([x], [x + y]) == [y]


def test_searches_say_what_they_follow_and_refuse_other_modes():
    after = {1: [2, 3], 2: [4], 3: [4], 4: None}
    # programs take the queue from here
    found, followed = walks.stack_search(walks.deque([1]), after.get, "dfs", build_inv=True)
    assert found == [1, 3, 4, 2] and followed == {2: [1], 3: [1], 4: [3, 2]}
    with pytest.raises(ValueError, match="bfs or dfs"):
        walks.stack_search(walks.deque([1]), after.get, "sideways")


def test_sorts_refuse_cycles_and_sets():
    with pytest.raises(ValueError, match="cycles"):
        walks.general_toposort([1], {1: [2], 2: [1]}.get)
    with pytest.raises(TypeError, match="set"):
        walks.general_toposort([1], {1: {2}}.get)


def test_one_of_two_results_given():
    """Theano 1.0.5 does not end here."""
    x, y = T.dvectors("x", "y")
    total, difference = walked_graphs.Both()(x, y)
    result = total * difference
    nodes = [difference.owner, result.owner]
    assert walks.io_toposort([total, x, y], [result]) == nodes
    assert walks.io_toposort([total], [total]) == []
    assert walks.is_in_ancestors(result.owner, total.owner)
    assert not walks.is_in_ancestors(total.owner, result.owner)


def test_deep_graphs_are_walked():
    x = T.vector("x")
    y = x
    for _ in range(5000):
        y = T.tanh(y)
    assert len(walks.io_toposort([x], [y])) == 5000 and walks.inputs([y]) == [x]
