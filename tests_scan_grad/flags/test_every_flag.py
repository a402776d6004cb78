"""Each flag that a program may set, with each value, alone: equal results, or the error that is meant."""

import os

import pytest

import theano
from tests_scan_grad.flags.agreement import Expected, assert_as_without, here, in_fresh_process
from tests_scan_grad.flags.settings import SLOW, VALUES, settings, values_of
from theano.flags.flag import Flag
from theano.flags.kinds import Text

MUTABLE = [each for each in settings() if theano.config.flags[each[0]].mutable]
# what would stop the tests to ask, or prints when they end
OF_A_PROCESS = [(name, value) for name, value in MUTABLE if value == "pdb" or "profile" in name]
IN_PLACE = [
    each
    for each in MUTABLE
    if each not in OF_A_PROCESS and not theano.config.flags[each[0]].no_effect
]


def named(chosen) -> str:
    return f"{chosen[0]}={chosen[1]}"


@pytest.fixture(scope="module")
def expected():
    return Expected()


@pytest.mark.parametrize("chosen", [each for each in IN_PLACE if each not in SLOW], ids=named)
def test_a_flag_alone_changes_no_result(chosen, expected):
    assert_as_without(here(chosen), expected, chosen)


@pytest.mark.all_flags
@pytest.mark.parametrize("chosen", [each for each in IN_PLACE if each in SLOW], ids=named)
def test_a_mode_that_runs_slowly_changes_no_result(chosen, expected):
    assert_as_without(here(chosen), expected, chosen)


def test_flags_without_effect_change_no_result(expected):
    without = {name: value for name, value in MUTABLE if theano.config.flags[name].no_effect}
    assert len(without) > 50
    with pytest.warns(theano.configparser.TheanoConfigWarning):
        found = here(*without.items())
    assert_as_without(found, expected)


@pytest.mark.parametrize("chosen", OF_A_PROCESS, ids=named)
def test_a_flag_that_prints_or_asks_changes_no_result(chosen, expected, tmp_path):
    quiet = [] if chosen[1] == "pdb" else [("profiling.destination", os.devnull)]
    found = in_fresh_process(chosen, *quiet, folder=tmp_path)
    assert_as_without(found, expected, chosen)


@pytest.mark.all_flags
@pytest.mark.parametrize("chosen", [each for each in IN_PLACE if each not in SLOW], ids=named)
def test_a_flag_of_the_environment_changes_no_result(chosen, expected, tmp_path):
    assert_as_without(in_fresh_process(chosen, folder=tmp_path), expected, chosen)


def test_a_new_flag_of_text_needs_values_to_be_tried():
    with pytest.raises(KeyError, match="say in .* which values are to be tried"):
        values_of(Flag("new", "", Text(), "A flag that nobody has listed."))
    assert set(VALUES) <= set(theano.config.flags)
