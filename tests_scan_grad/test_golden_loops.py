"""The loops of a dozen networks before and after the rewrites, against text that was reviewed.

``--update-golden`` writes the text anew; the difference is then there to be read in the diff.
"""

import difflib
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import theano
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import python_mode, theano_scan
from tests_scan_grad.loop_text import function_text

GOLDEN = Path(__file__).with_name("golden")


def gradient(network: networks.Network) -> list:
    """The cost of a network and its gradients."""
    return [network.cost, *theano.grad(network.cost, network.weights)]


def hessian_vector_product(network: networks.Network) -> list:
    """The derivative of a network's gradient along a direction."""
    [weight, *_] = network.weights
    direction = weight.type("direction")
    network.inputs.append(direction)
    return [theano.grad((theano.grad(network.cost, weight) * direction).sum(), weight)]


# name of the file: the network, what is computed
FUNCTIONS: dict[str, tuple[Callable, Callable]] = {
    "plain_rnn": (networks.plain_rnn, gradient),
    "gated_rnn": (networks.gated_rnn, gradient),
    "lstm": (networks.lstm, gradient),
    "stacked_lstm": (networks.stacked_lstm, gradient),
    "bidirectional": (networks.bidirectional, gradient),
    "attention": (networks.attention, gradient),
    "encoder_decoder": (networks.encoder_decoder, gradient),
    "nested": (networks.nested, gradient),
    "stopping": (networks.stopping, gradient),
    "truncated": (networks.truncated, gradient),
    "taps": (networks.taps, gradient),
    "runge_kutta": (networks.runge_kutta, gradient),
    "hessian_vector_product": (networks.plain_rnn, hessian_vector_product),
}


def text_of(name: str, **rewrites: tuple[str, ...]) -> str:
    """What the golden file of that name should hold; ``excluding`` leaves rewrites out."""
    build, results = FUNCTIONS[name]
    numbers = count(1)

    def scan(*args, **options):
        return theano_scan(*args, name=f"loop{next(numbers)}", **options)

    network = build(scan)
    wanted = results(network)
    function = theano.function(
        network.inputs, wanted, mode=python_mode(**rewrites), name=name, on_unused_input="ignore"
    )
    return function_text(function)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_loops_of_a_network_are_as_in_its_golden_file(name, request):
    file, text = GOLDEN / f"{name}.txt", text_of(name)
    if request.config.getoption("--update-golden"):
        file.write_text(text)
    golden = file.read_text()
    difference = difflib.unified_diff(
        golden.splitlines(), text.splitlines(), f"golden/{file.name}", "now", lineterm="", n=1
    )
    assert text == golden, "\n".join(difference)


def test_a_rewrite_that_does_not_run_shows_in_the_text():
    golden = (GOLDEN / "gated_rnn.txt").read_text()
    assert text_of("gated_rnn", excluding=("MergeDots",)) != golden


def test_each_golden_file_belongs_to_a_network():
    assert {file.stem for file in GOLDEN.iterdir()} == set(FUNCTIONS)
