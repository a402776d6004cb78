"""Random pairs of flags: equal results, or the error that is meant."""

import numpy as np

import theano
from tests_scan_grad.flags.agreement import Expected, assert_as_without, here
from tests_scan_grad.flags.settings import SLOW, settings


def pairs(number: int, seed: int) -> list:
    """Return random pairs of settings of different flags that a program may set."""
    usable = [
        each
        for each in settings()
        if theano.config.flags[each[0]].mutable
        and not theano.config.flags[each[0]].no_effect
        and each not in SLOW
        and each[1] != "pdb"
        and "profile" not in each[0]
    ]
    random, found = np.random.default_rng(seed), []
    while len(found) < number:
        first, second = (usable[k] for k in random.integers(len(usable), size=2))
        if first[0] != second[0]:
            found.append((first, second))
    return found


def test_random_pairs_of_flags(request):
    option = request.config.getoption
    expected, wrong = Expected(), []
    for chosen in pairs(option("--flag-pairs"), option("--differential-seed")):
        try:
            assert_as_without(here(*chosen), expected, *chosen)
        except AssertionError as error:
            wrong.append(f"{chosen}: {error}")
    assert not wrong, "\n".join(wrong)
