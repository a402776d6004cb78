"""Each flag that is set before the program starts, with each value: equal results, or its error."""

import pytest

import theano
from tests_scan_grad.flags.agreement import Expected, assert_as_without, in_fresh_process
from tests_scan_grad.flags.settings import SLOW, settings

FIXED = [each for each in settings() if not theano.config.flags[each[0]].mutable]


@pytest.fixture(scope="module")
def expected():
    return Expected()


def named(chosen) -> str:
    return f"{chosen[0]}={chosen[1]}"


@pytest.mark.parametrize("chosen", [each for each in FIXED if each not in SLOW], ids=named)
def test_a_flag_alone_changes_no_result(chosen, expected, tmp_path):
    assert_as_without(in_fresh_process(chosen, folder=tmp_path), expected, chosen)


@pytest.mark.all_flags
@pytest.mark.parametrize("chosen", [each for each in FIXED if each in SLOW], ids=named)
def test_a_flag_with_which_much_is_compiled_changes_no_result(chosen, expected, tmp_path):
    assert_as_without(in_fresh_process(chosen, folder=tmp_path), expected, chosen)
