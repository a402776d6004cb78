"""The experiment `scaling`, and the model of many cores next to its times."""

import json
from functools import partial

import pytest

from tests_scan_grad.timing.__main__ import main
from tests_scan_grad.timing.experiments.scaling import COUNTS, gated
from tests_scan_grad.timing.measuring.core_prices import Prices, measured
from tests_scan_grad.timing.measuring.scaling_functions import measured_functions
from tests_scan_grad.timing.measuring.scaling_model import Part, Region, alone, none, predicted
from tests_scan_grad.timing.measuring.scaling_parts import largest_of, regions, row_groups
from theano.link.native.lowering.loop import Loop
from theano.link.native.runtime.build import find_compiler

PRICES = Prices(barrier=1e-7, exchanged=1e10, streamed=1e10, streamed_by_two=1.5e10)


def region(*parts, barriers=none):
    """A region that all threads share."""
    return Region("loop", parts, lambda threads: threads, barriers)


def test_shares_of_equal_size_take_a_part_of_the_time():
    found = predicted([region(Part("map", 2.0, lambda n: 1 / n, ""))], 4, PRICES)
    assert found.seconds == pytest.approx(0.5) and found.worst() == []


def test_what_one_thread_does_is_lost_for_the_others():
    parts = Part("map", 3.0, lambda n: 1 / n, ""), Part("sum", 1.0, alone, "one thread")
    found = predicted([region(*parts)], 4, PRICES)
    assert found.seconds == pytest.approx(0.75 + 1.0)
    [first, *_] = found.worst()
    assert first.startswith("loop: sum: one thread")


def test_barriers_others_results_and_memory_add_to_the_time():
    half = partial(Part, "map", 1.0, lambda n: 1 / n, "")
    barriers = predicted([region(half(), barriers=lambda n: 1000)], 16, PRICES)
    # fours arrive side by side, then one four of fours
    assert barriers.seconds == pytest.approx(1 / 16 + 1000 * 8 / 2 * 1e-7)
    fetched = predicted([region(half(fetched=lambda n: 1e9))], 2, PRICES)
    assert fetched.seconds == pytest.approx(0.5 + 0.1)
    moved = predicted([region(half(moved=3e10))], 2, PRICES)
    assert moved.seconds == pytest.approx(2.0)


def test_the_largest_range_is_of_whole_units():
    assert largest_of(64, 16, 4) == 1 / 4
    assert largest_of(80, 16, 4) == 32 / 80
    assert largest_of(16, 16, 4) == 1


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_the_model_knows_the_loops_of_a_network():
    functions = measured_functions(gated(32, 64, 3), calls=2)
    loops = [one for one in functions.values() if isinstance(one.lowered, Loop)]
    assert [one.lowered.name for one in loops] == ["loop", "grad_of_loop"]
    for one in loops:
        assert [counted.times for counted in one.counted] == [3] * len(one.counted)
        sharing = one.lowered.sharing
        assert one.number(sharing.rows) == 32
        # all columns of its rows, or a part of the columns of more rows
        assert row_groups(one, sharing, 2) == 2 and row_groups(one, sharing, 8) == 4
    found = list(regions(functions, PRICES))
    times = [predicted(found, threads, PRICES).seconds for threads in COUNTS]
    inside = sum(part.seconds for each in found for part in each.parts)
    # they are added up in another order
    assert times[0] * (1 + 1e-9) >= inside > 0


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_prices_are_measured():
    prices = measured()
    assert min(vars(prices).values()) > 0


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_the_table_has_times_and_what_the_model_says_of_more_cores(tmp_path, capsys):
    file = tmp_path / "run.json"
    command = f"scaling --rows perceptron-500 --peers none --quick --repeats 1 --json {file}"
    assert main(command.split()) == 0
    printed = capsys.readouterr().out
    problems = json.loads(file.read_text())["problems"]
    assert [problem["label"] for problem in problems] == [
        f"perceptron-500, {count} {'core' if count == 1 else 'cores'}" for count in COUNTS
    ]
    assert {row["name"] for row in problems[0]["rows"]} == {"native", "model"}
    assert all(row["seconds"] > 0 for problem in problems for row in problem["rows"])
    assert "Lost, as parts of the model's time:" in printed
