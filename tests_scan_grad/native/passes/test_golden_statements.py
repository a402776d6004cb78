"""The statements of a dozen networks' loops after lowering, after fusion and with their partition, as reviewed text.

``--update-golden`` writes the text again; the difference is then there to be read in the diff. The
files are of PyTensor 3.3, whose rewrites make other steps than those of 3.0.
"""

import difflib
from itertools import count
from pathlib import Path

import pytest

import theano
from tests_scan_grad.loop_counts import python_mode, theano_scan
from tests_scan_grad.loop_rewrites.test_golden_loops import FUNCTIONS, IS_OLDER
from tests_scan_grad.native.passes.statements import loops_after_passes

GOLDEN = Path(__file__).with_name("golden")
# after which passes the statements are shown
SHOWN = {"the lowering": "lowered", "fuse_maps": "fused", "partition_work": "partitioned"}

pytestmark = pytest.mark.skipif(IS_OLDER, reason="the files are of PyTensor 3.3")


def text_of(name):
    """Return what the golden file of a network should hold."""
    build, results = FUNCTIONS[name]
    numbers = count(1)

    def scan(*args, **options):
        return theano_scan(*args, name=f"loop{next(numbers)}", **options)

    network = build(scan)
    function = theano.function(
        network.inputs, results(network), mode=python_mode(), on_unused_input="ignore"
    )
    lines = []
    for loop, passes in loops_after_passes(function).items():
        shown = {title: passes[after] for after, title in SHOWN.items()}
        for title, statements in shown.items():
            lines += ["", f"{loop}, {title}:", *(f"    {line}" for line in statements)]
    return "\n".join(lines[1:]) + "\n"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_statements_of_a_network_are_as_in_its_golden_file(name, request):
    text, file = text_of(name), GOLDEN / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    golden = file.read_text()
    difference = difflib.unified_diff(
        golden.splitlines(), text.splitlines(), f"golden/{file.name}", "now", lineterm="", n=1
    )
    assert text == golden, "\n".join(difference)
