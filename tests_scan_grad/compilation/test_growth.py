"""The work to compile a program grows with the program, and not with its square.

What is counted are calls of Python functions, by all that takes part: no time is measured. They are
counted in a process of their own, since a process keeps what earlier programs made, or has to make it
again: after a few thousand tests some 100,000 calls more were counted.
"""

import sys
from pathlib import Path

import pytensor
import pytest

import theano
from tests_scan_grad.compilation import growing_programs
from tests_scan_grad.fresh_process import printed_by

PACKAGES = tuple(str(Path(package.__file__).parent) for package in (pytensor, theano))
# who waits for the C compiler looks as often as time allows
WAITS = str(Path(theano.__file__).parent / "link" / "native" / "build")

# of a program, its smallest size, and how much more work twice the growth may take: of long steps,
# PyTensor makes one sum of all nested ones, each with as many terms as there were before it
PROGRAMS = {
    "states": (8, 2.6),
    "parameters": (8, 2.6),
    "long_step": (8, 3.2),
    "loops": (3, 2.6),
    "outputs": (8, 2.6),
    "taps": (6, 2.6),
}


def calls_to_compile(name, size, mode):
    """Count the calls of Python functions that compiling a program and its gradient takes."""
    count = 0

    def on_event(frame, event, argument):
        nonlocal count
        if event == "call":
            file = frame.f_code.co_filename
            count += file.startswith(PACKAGES) and not file.startswith(WAITS)

    sys.setprofile(on_event)
    try:
        x, cost, weights = getattr(growing_programs, name)(size)
        function = theano.function([x], [cost, *theano.grad(cost, weights)], mode=mode)
    finally:
        sys.setprofile(None)
    assert function.maker.fgraph.apply_nodes
    return count


def print_calls(name):
    """Print the calls for a program of its smallest size, of twice and of four times that."""
    size, _ = PROGRAMS[name]
    with theano.config.change_flags(cache_optimizations=False):
        # what is done once in a process
        calls_to_compile(name, size, "NATIVE")
        for k in (1, 2, 4):
            print(calls_to_compile(name, size * k, "NATIVE"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_grow_with_the_program(name):
    code = f"from {__name__} import print_calls; print_calls({name!r})"
    calls = [int(line) for line in printed_by(code)]
    assert calls[2] - calls[1] <= PROGRAMS[name][1] * (calls[1] - calls[0]), calls
