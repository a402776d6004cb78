"""Programs of the differential generator: values, gradients, tangents and second gradients.

``--differential-programs N`` runs N of them, ``--differential-seed S`` begins with another one.
``--heavy`` runs those that make them 300.
"""

from __future__ import annotations

import pytest

from tests_scan_grad.differential.agreement import check, unused_operations
from tests_scan_grad.differential.drawing import draw

# shares of the programs in each mode, and where their seeds begin
MODES = {"FAST_RUN": (0.5, 0), "FAST_COMPILE": (0.3, 10_000_000), "XLA": (0.2, 20_000_000)}
PARTS = 4
# with those that always run
ALL = 300


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", MODES)
def test_programs_compute_what_unrolled_numpy_does(mode, part, pytestconfig):
    share, first = MODES[mode]
    count = round(pytestconfig.getoption("--differential-programs") * share)
    first += pytestconfig.getoption("--differential-seed")
    compare(range(first + count * part // PARTS, first + count * (part + 1) // PARTS), mode)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", MODES)
def test_more_programs(mode, part, pytestconfig):
    share, first = MODES[mode]
    begin = round(pytestconfig.getoption("--differential-programs") * share)
    count = max(round(ALL * share) - begin, 0)
    first += begin + pytestconfig.getoption("--differential-seed")
    compare(range(first + count * part // PARTS, first + count * (part + 1) // PARTS), mode)


def compare(seeds: range, mode: str) -> None:
    outcomes = {seed: check(seed, mode) for seed in seeds}
    wrong = {seed: found.detail for seed, found in outcomes.items() if found.verdict == "wrong"}
    assert not wrong, "\n\n".join(f"seed {seed}: {detail}" for seed, detail in wrong.items())
    right = sum(found.verdict == "right" for found in outcomes.values())
    # others divide by zero or branch on what rounding decides; of six, four may be right
    assert right >= 0.7 * len(outcomes) - 1


def test_the_programs_do_all_that_there_is_to_do():
    assert not unused_operations(range(600))
    programs = [draw(seed)[0] for seed in range(600)]
    loops = [program.loop for program in programs]
    assert {loop.steps for loop in loops} == set(range(13))
    assert {loop.given_steps for loop in loops} == {"no", "constant", "variable"}
    assert {state.taps for loop in loops for state in loop.states} >= {(-1,), (-2,), (-1, -2)}
    for holds in (
        lambda program: program.loop.until is not None,
        lambda program: program.loop.go_backwards,
        lambda program: program.loop.truncate != -1,
        lambda program: program.static,
        lambda program: program.optimizer is not None,
        lambda program: any(entry.inner for entry in program.loop.instructions),
    ):
        assert 10 < sum(map(holds, programs)) < 590
