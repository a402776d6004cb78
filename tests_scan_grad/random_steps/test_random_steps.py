"""Loops of random steps compute what the same steps do when they are written out.

Values, gradients, directional derivatives and second gradients of steps with indices, writes into
parts, masks, all kinds of dtypes, images, sparse matrices, loops, lazy choices, derivatives, the
user's operators and more.
"""

import pytest

from tests_scan_grad.random_steps.agreement import wrong
from tests_scan_grad.random_steps.programs import RULES, draw

MODES = ("FAST_RUN", "FAST_COMPILE")


@pytest.mark.parametrize("mode", MODES)
def test_loops_of_random_steps(mode):
    compare(range(4), mode)


@pytest.mark.heavy
@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("mode", MODES)
def test_more_loops_of_random_steps(mode, part):
    compare(range(1000 + 30 * part, 1030 + 30 * part), mode)


def compare(seeds, mode):
    found = {seed: wrong(seed, mode) for seed in seeds}
    told = [what for what in found.values() if what is not None]
    assert not told, "\n\n".join(told)


@pytest.mark.heavy
def test_every_rule_is_drawn():
    used = {one.rule for seed in range(1000) for one in draw(seed).instructions}
    assert {rule.name for rule in RULES} == used
