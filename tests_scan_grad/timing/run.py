"""Run an experiment: make ready, compare, time, profile; return everything as plain data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from . import agreement, machine, measure
from .experiment import Experiment, Problem, Program, Sizes
from .loop_profile import loop_profile
from .own_process import costs_in_own_process


def say(text: str) -> None:
    """Tell on the error output what is being done; the table has the output to itself."""
    print(text, file=sys.stderr, flush=True)


def ready_programs(problem: Problem, peers: Sequence[str]) -> dict[str, Program]:
    """Make the methods and the wanted peers ready, methods first."""
    wanted = {**problem.methods, **{name: problem.peers[name] for name in peers}}
    programs = {}
    for name, make in wanted.items():
        say(f"{problem.label}: making {name} ready")
        programs[name] = make()
    return programs


def row(
    name: str,
    problem: Problem,
    programs: dict[str, Program],
    samples: dict[str, list[float]],
    errors: dict[str, float],
) -> dict[str, Any]:
    """Return what the timing found about one program."""
    program = programs[name]
    seconds = min(samples[name])
    own = name in problem.methods
    profile = None
    if program.function is not None:
        profile = asdict(loop_profile(program.function, program.arguments))
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
        "relative_error": errors[name],
        "first_compile_seconds": program.compile_seconds,
        "profile": profile,
    }


def run_problem(problem: Problem, dtype: str, peers: Sequence[str], repeats: int) -> dict[str, Any]:
    """Return a row for each method and each wanted peer, and how many cores others used.

    Raises
    ------
    Disagreement
        If two programs' results differ; nothing has been timed then.
    """
    programs = ready_programs(problem, peers)
    results = {name: program.to_numpy(program.call()) for name, program in programs.items()}
    errors = agreement.check(problem, dtype, results)
    results.clear()
    with machine.OtherWork() as other:
        samples = measure.interleaved(programs, repeats)
    return {
        "label": problem.label,
        "cores_used_by_others": other.cores,
        "rows": [row(name, problem, programs, samples, errors) for name in programs],
    }


def run_experiment(
    experiment: Experiment, sizes: Sizes, peers: Sequence[str], repeats: int
) -> dict[str, Any]:
    """Run all problems of an experiment, and return what the report and the plot show."""
    problems = [
        run_problem(problem, sizes.dtype, peers, repeats) for problem in experiment.problems(sizes)
    ]
    names = list(dict.fromkeys(row["name"] for each in problems for row in each["rows"]))
    for name in names:
        say(f"{experiment.name}: {name} in a process of its own")
        costs = costs_in_own_process(experiment.name, name, sizes)
        for each in problems:
            for found in each["rows"]:
                if found["name"] == name:
                    found.update(costs[each["label"]])
    return {
        "experiment": experiment.name,
        "summary": experiment.summary,
        "sizes": {name: value for name, value in asdict(sizes).items() if value is not None},
        "repeats": repeats,
        "peers": list(peers),
        "machine": machine.describe(peers),
        "problems": problems,
    }
