"""Functions that share variables compute, return and change what they should, and nothing else.

Views, swaps, updates by parts, arguments that may be overwritten, results that are overwritten by
the caller, copies of functions, arguments that a shared variable lies in.
"""

import pytest

from tests_scan_grad.shared_memory.agreement import wrong
from tests_scan_grad.shared_memory.rules import RULES

MODES = ("FAST_RUN", "FAST_COMPILE")


@pytest.mark.parametrize("mode", MODES)
def test_functions_that_share_variables(mode):
    compare(range(15), mode)


@pytest.mark.heavy
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("mode", MODES)
def test_more_functions_that_share_variables(mode, part):
    compare(range(1000 + 150 * part, 1150 + 150 * part), mode)


def compare(seeds, mode):
    found = {seed: wrong(seed, mode) for seed in seeds}
    told = [f"seed {seed}, {what}" for seed, what in found.items() if what is not None]
    assert not told, "\n\n".join(told)


def test_the_rules_have_names_of_their_own():
    named = [(rule.name, rule.takes) for rule in RULES]
    assert len(set(named)) == len(named)
