"""Kernels under the sanitizers of threads and of addresses: lanes and blocks wait where they have to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests_scan_grad.cuda.functions import arrays_of_node, kernel_of_blocks, loops_of
from tests_scan_grad.cuda.host import needs_compiler, run_sanitized
from tests_scan_grad.cuda.test_kernels_on_the_host import REFUSED, function_of
from tests_scan_grad.loop_rewrites.test_golden_loops import FUNCTIONS

pytestmark = needs_compiler
# which one stops by itself depends on its values
NETWORKS = [name for name in FUNCTIONS if name not in (*REFUSED, "stopping")]


def sanitize(name: str, sanitizer: str, flags: Sequence[str] = ()) -> None:
    """Run the kernels of a network with a sanitizer, and more flags of the compiler."""
    for node, inputs in loops_of(*function_of(name)):
        kernel = kernel_of_blocks(node, inputs)
        arrays = arrays_of_node(node, kernel, inputs)
        rows = [a.shape[0] if a.ndim else 1 for a in arrays]
        run_sanitized(kernel, arrays, rows, int(inputs[0]), sanitizer, flags)


def test_a_gated_network_has_no_races():
    sanitize("gated_rnn", "thread")


@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name, sanitizer, with_sanitizers):
    sanitize(name, sanitizer)


def test_barriers_that_order_nothing_are_found():
    with pytest.raises(AssertionError, match="data race"):
        sanitize("gated_rnn", "thread", ["-DTK_ORDERED=0"])
