"""Programs that read what loops put out together: joined, cut, written, moved, read by other loops.

``--generated-loops N`` runs N of them in all.
"""

from __future__ import annotations

from collections import Counter

import pytest

import theano
from tests_scan_grad.around_loops import pieces
from tests_scan_grad.around_loops.agreement import check
from tests_scan_grad.around_loops.draw_loops import OF_SEQUENCES, OF_STATES, TRACE_WORK
from tests_scan_grad.around_loops.drawing import draw

# mode, whether code is compiled quickly first, share of the programs, the first seed
RUNS = {
    "quick": ("FAST_RUN", True, 0.15, 0),
    "optimized": ("FAST_RUN", False, 0.075, 1_000_000),
    "interpreted": ("FAST_COMPILE", True, 0.2, 2_000_000),
    "XLA": ("XLA", True, 0.05, 3_000_000),
    "PyTensor's loops": ("PyTensor", True, 0.4, 4_000_000),
}


@pytest.mark.parametrize(("mode", "quick", "share", "first"), RUNS.values(), ids=RUNS)
def test_programs_compute_what_unrolled_numpy_does(mode, quick, share, first, pytestconfig):
    count = round(pytestconfig.getoption("--generated-loops") * share)
    with theano.change_flags({"native.quick": quick}):
        outcomes = {seed: check(seed, mode) for seed in range(first, first + count)}
    wrong = {seed: found.detail for seed, found in outcomes.items() if found.verdict == "wrong"}
    assert not wrong, "\n\n".join(f"seed {seed}: {detail}" for seed, detail in wrong.items())
    # others branch on what rounding decides, or are those of `NOT_RUN`
    assert any(found.verdict == "right" for found in outcomes.values())


def test_the_programs_do_all_that_there_is_to_do():
    programs = [draw(seed) for seed in range(300)]
    loops = [loop for program in programs for loop in program.loops]
    made = Counter(type(piece) for program in programs for piece in program.pieces)
    assert made.keys() == set(pieces.Piece.__subclasses__())
    assert min(made.values()) > 20
    joins = [p for program in programs for p in program.pieces if isinstance(p, pieces.Join)]
    assert {join.axis for join in joins} >= {0, 1, 2}
    assert {taps for loop in loops for taps in loop.sequences} == set(OF_SEQUENCES)
    assert {state.taps for loop in loops for state in loop.states} == set(OF_STATES)
    assert {work for loop in loops for work in loop.work} == {*TRACE_WORK, "product"}
    for count, holds in (
        (loops, lambda loop: loop.backwards),
        (loops, lambda loop: loop.until is not None),
        (loops, lambda loop: loop.truncate != -1),
        (loops, lambda loop: loop.n_steps == "sequences"),
        (loops, lambda loop: isinstance(loop.n_steps, int)),
        (programs, lambda program: program.updates),
        (programs, lambda program: program.dtype == "float32"),
        (programs, lambda program: any(entry.mutable for entry in program.inputs)),
        (programs, lambda program: any(borrow for _, borrow in program.results)),
        (programs, lambda program: 0 in program.calls),
    ):
        assert 10 < sum(map(bool, map(holds, count))) < len(count) - 10
