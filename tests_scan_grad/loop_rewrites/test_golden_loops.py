"""The loops of a dozen networks before and after the rewrites, against text that was reviewed.

``--update-golden`` writes the text again; the difference is then there to be read in the diff.

The files of the folder ``before_3_3`` are for PyTensor 3.0, where its rewrites make another step, or
its shapes are longer expressions of the same lengths; a network without one has the same text on both
releases.
"""

import difflib
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import theano
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import python_mode, theano_scan
from tests_scan_grad.loop_rewrites.loop_text import function_text

GOLDEN = Path(__file__).with_name("golden")
OLDER = GOLDEN / "before_3_3"
IS_OLDER = sys.version_info < (3, 12)


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
    "convolutional_lstm": (networks.convolutional_lstm, gradient),
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
    """Return the text that the golden file of a name should hold; ``excluding`` omits rewrites."""
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


def golden_file(name: str) -> Path:
    """The file that holds a network's text with this release of PyTensor."""
    older = OLDER / f"{name}.txt"
    return older if IS_OLDER and older.exists() else GOLDEN / f"{name}.txt"


def update(name: str, text: str) -> None:
    """Write a network's text: for the older release apart where it differs."""
    common, older = GOLDEN / f"{name}.txt", OLDER / f"{name}.txt"
    if not IS_OLDER:
        common.write_text(text)
    elif common.exists() and common.read_text() == text:
        older.unlink(missing_ok=True)
    else:
        older.write_text(text)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_loops_of_a_network_are_as_in_its_golden_file(name, request):
    text = text_of(name)
    if request.config.getoption("--update-golden"):
        update(name, text)
    file = golden_file(name)
    golden = file.read_text()
    difference = difflib.unified_diff(
        golden.splitlines(), text.splitlines(), f"golden/{file.name}", "now", lineterm="", n=1
    )
    assert text == golden, "\n".join(difference)


def test_a_rewrite_that_does_not_run_shows_in_the_text():
    golden = golden_file("gated_rnn").read_text()
    assert text_of("gated_rnn", excluding=("MergeDots",)) != golden


def test_each_golden_file_belongs_to_a_network():
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(FUNCTIONS)
    for file in OLDER.iterdir():
        assert file.read_text() != (GOLDEN / file.name).read_text()
