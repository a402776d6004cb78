"""Run an experiment: make ready, compare, time, profile; return everything as plain data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from tests_scan_grad.timing.experiment import Experiment, Problem, Program, Sizes
from tests_scan_grad.timing.measuring import agreement, machine, measure
from tests_scan_grad.timing.measuring.loop_profile import loop_profile
from tests_scan_grad.timing.measuring.own_process import costs_in_own_process
from tests_scan_grad.timing.measuring.time_limit import TimeExceeded, time_limit
from tests_scan_grad.timing.peers.packages import INSTALL, PACKAGES, installed

# How long a peer may take to be ready, its first call included.
LIMIT_SECONDS = 120.0


def say(text: str) -> None:
    """Tell on the error output what is being done; the table has the output to itself."""
    print(text, file=sys.stderr, flush=True)


def ready_with_results(make: Callable[[], Program]) -> tuple[Program, list]:
    """Make a program ready and call it once."""
    program = make()
    return program, program.to_numpy(program.call())


def peer_or_reason(make: Callable[[], Program], limit: float) -> tuple[Program, list] | str:
    """Make a peer ready and call it once, or say why it cannot take part."""
    try:
        with time_limit(limit):
            return ready_with_results(make)
    except TimeExceeded:
        return f"it was not ready and called within {limit:g} s"
    except Exception as error:
        said = str(error).strip().splitlines() or [""]
        return f"{type(error).__name__}: {said[0]}"


def ready_programs(
    problem: Problem, peers: Sequence[str], limit: float
) -> tuple[dict[str, Program], dict[str, list], dict[str, str]]:
    """Make the methods and the wanted peers ready, methods first.

    Returns
    -------
    dict
        The programs.
    dict
        The results of their first calls.
    dict
        For each peer that takes no part, why.
    """
    programs, results, left_out = {}, {}, {}
    for name, make in problem.methods.items():
        say(f"{problem.label}: making {name} ready")
        programs[name], results[name] = ready_with_results(make)
    for name in peers:
        if name not in problem.peers:
            continue
        say(f"{problem.label}: making {name} ready")
        found = peer_or_reason(problem.peers[name], limit)
        if isinstance(found, str):
            left_out[name] = found
        else:
            programs[name], results[name] = found
    return programs, results, left_out


def row(
    name: str,
    problem: Problem,
    programs: dict[str, Program],
    samples: dict[str, list[float]],
    errors: dict[str, float],
    dissected: bool,
) -> dict[str, Any]:
    """Return what the timing found about one program; all but `dissected` at little cost."""
    program = programs[name]
    seconds = min(samples[name])
    own = name in problem.methods
    profile = None
    if dissected and program.profiled is not None:
        profile = asdict(loop_profile(program.profiled(), program.arguments))
    return {
        "name": name,
        "kind": "method" if own else "peer",
        "ratios": {
            peer: seconds / min(samples[peer])
            for peer in programs
            if own and peer not in problem.methods
        },
        "seconds": seconds,
        "samples": samples[name],
        "relative_error": errors.get(name),
        "first_compile_seconds": program.compile_seconds,
        "remarks": list(program.remarks),
        "profile": profile,
        "peak_bytes": program.own_peak() if program.own_peak else None,
    }


def run_problem(
    problem: Problem,
    peers: Sequence[str],
    repeats: int,
    limit: float = LIMIT_SECONDS,
    dissected: bool = True,
) -> dict[str, Any]:
    """Return a row for each method and each wanted peer, and how many cores others used.

    Raises
    ------
    Disagreement
        If two programs' results differ; nothing has been timed then.
    """
    programs, results, left_out = ready_programs(problem, peers, limit)
    errors = agreement.check(problem, results)
    results.clear()
    with machine.OtherWork() as other:
        samples = measure.interleaved(programs, repeats)
    # the table comes at the end: a run that is cut off must not lose what it found
    found = (f"{name} {1000 * min(seconds):.3g} ms" for name, seconds in samples.items())
    say(f"{problem.label}: {', '.join(found)}")
    return {
        "label": problem.label,
        "dtype": problem.dtype,
        "steps": problem.steps,
        "goals": dict(problem.goals),
        "goal_seconds": problem.goal_seconds,
        "floors": dict(problem.floors),
        "left_out": left_out,
        "cores_used_by_others": other.cores,
        "rows": [row(name, problem, programs, samples, errors, dissected) for name in programs],
    }


def add_costs(experiment: Experiment, sizes: Sizes, problems: Sequence[dict[str, Any]]) -> None:
    """Add to each row what its program costs in its own process."""
    names = dict.fromkeys(row["name"] for each in problems for row in each["rows"])
    for name in names:
        say(f"{experiment.name}: {name} in its own process")
        costs = costs_in_own_process(experiment.name, name, sizes)
        for each in problems:
            for found in each["rows"]:
                if found["name"] == name:
                    found.update(costs[each["label"]])


def run_experiment(
    experiment: Experiment,
    sizes: Sizes,
    peers: Sequence[str],
    repeats: int,
    limit: float = LIMIT_SECONDS,
) -> dict[str, Any]:
    """Run all problems of an experiment, and return what the report and the plot show."""
    problems = [
        run_problem(problem, peers, repeats, limit, experiment.dissected)
        for problem in experiment.problems(sizes)
    ]
    if experiment.dissected:
        add_costs(experiment, sizes, problems)
    return {
        "experiment": experiment.name,
        "summary": experiment.summary,
        "sizes": sizes.given(),
        "repeats": repeats,
        "peers": list(peers),
        "not_installed": {
            name: f"{PACKAGES[name]}: {INSTALL}" for name in experiment.peers if not installed(name)
        },
        "machine": machine.describe(peers),
        "problems": problems,
    }
