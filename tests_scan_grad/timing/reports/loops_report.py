"""The table of the experiment loops: ratios first, then times, and what is not as wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests_scan_grad.timing.reports.report import aligned, milliseconds, ratio


def ratios(problem: dict[str, Any]) -> dict[str, float]:
    """Return the first method's time over that of each of the others."""
    first, *others = problem["rows"]
    return {row["name"]: first["seconds"] / row["seconds"] for row in others}


def shown(seconds: float | None, steps: int | None) -> str:
    """Show a call's milliseconds, or the nanoseconds of one of its steps."""
    if seconds is None or steps is None:
        return milliseconds(seconds)
    # As many digits as for milliseconds.
    return milliseconds(1e6 * seconds / steps)


def label(problem: dict[str, Any]) -> str:
    """Return a problem's label with the unit of its times, where it is not the usual one."""
    return problem["label"] + (", ns a step" if problem["steps"] else "")


def columns(problems: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names that the first methods are compared with, in the order of their columns."""
    found: dict[str, None] = {}
    for problem in problems:
        found |= dict.fromkeys(row["name"] for row in problem["rows"][1:])
        found |= dict.fromkeys(problem["left_out"])
    return list(found)


def table(problems: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of the table."""
    others = columns(problems)
    above = ["", *["ratio to"] * len(others), *["ms"] * (1 + len(others))]
    lines = [above, ["", *others, "this", *others]]
    for problem in problems:
        found = ratios(problem)
        seconds = {row["name"]: row["seconds"] for row in problem["rows"][1:]}
        times = [problem["rows"][0]["seconds"], *map(seconds.get, others)]
        lines.append(
            [
                label(problem),
                *(ratio(found.get(name)) for name in others),
                *(shown(time, problem["steps"]) for time in times),
            ]
        )
    return aligned(lines)


def shortfalls(problem: dict[str, Any]) -> list[str]:
    """Return a line for each goal that a problem's first method does not reach."""
    found = ratios(problem)
    first = problem["rows"][0]
    lines = [
        f"{problem['label']}: {ratio(found[name])} of {name}'s time, {ratio(goal)} wanted"
        for name, goal in problem["goals"].items()
        if name in found and found[name] > goal
    ]
    goal = problem["goal_seconds"]
    if goal is not None and first["seconds"] > goal:
        lines.append(f"{problem['label']}: {first['seconds']:.2f} s, {goal:g} s wanted")
    return lines


def remarks(problem: dict[str, Any]) -> list[str]:
    """Return what the programs of a problem remark."""
    return [
        f"{problem['label']}: {row['name']}: {remark}"
        for row in problem["rows"]
        for remark in row["remarks"]
    ]


def headed(title: str, lines: Sequence[str]) -> list[str]:
    """Return lines under a title, or nothing if there are none."""
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def notes(names: Sequence[str]) -> list[str]:
    """Return what the columns mean."""
    meaning = {
        "cvm": "cvm: this project's gradient and rewrites, run by PyTensor's C VM.",
        "torch": "torch: PyTorch, eager.",
        "gru": "gru: torch.nn.GRU, another cell, with the projection of its input; not compared.",
        "torch.compile": "torch.compile: PyTorch, its cost compiled.",
        "jax": "jax: jit of lax.scan and of its gradient.",
        "pytensor": "pytensor: PyTensor's gradient and rewrites, in its C VM.",
        "numba": "numba: PyTensor's gradient and rewrites, in its Numba mode.",
        "ordinary": "ordinary: the same engine on values whose gradient does not vanish.",
    }
    return [text for name, text in meaning.items() if name in names]


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, what falls short of what is wanted, and what the columns mean."""
    problems = run["problems"]
    return [
        *table(problems),
        *headed("Falls short:", [line for each in problems for line in shortfalls(each)]),
        *headed("By Python or by PyTensor:", [line for each in problems for line in remarks(each)]),
        "",
        "this: this project's native engine, or the engine that the row names.",
        *notes(columns(problems)),
        "A ratio is this engine's time over the other's: below 1, this one is faster.",
        "Times are the least of interleaved samples.",
        *(
            ["A quick run: its loops are short, its figures a try."]
            if run["sizes"]["quick"]
            else []
        ),
    ]
