"""The table of the experiment memory: megabytes and milliseconds, and ratios to the better peer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests_scan_grad.timing.reports.report import NOT_APPLICABLE, aligned, milliseconds, ratio

MEGABYTE = 1e6


def megabytes(count: float | None) -> str:
    """Show bytes as megabytes; few of them with a digit after the point."""
    if count is None:
        return NOT_APPLICABLE
    value = count / MEGABYTE
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def of_programs(problem: dict[str, Any], key: str) -> dict[str, float]:
    """Return a figure of each program that ran."""
    return {row["name"]: row[key] for row in problem["rows"]}


def to_the_better(problem: dict[str, Any], key: str) -> float | None:
    """Return the first method's figure over the least of the others'; None without others."""
    first, *others = of_programs(problem, key).values()
    least = min(others, default=0)
    return first / least if least else None


def table(
    problems: Sequence[dict[str, Any]], peers: Sequence[str], kept: Mapping[str, int]
) -> list[str]:
    """Return the lines of the table; `kept` are the bytes that must be, by label."""
    columns = ["this", *peers, "to the better"]
    lines = [
        ["", *["MB"] * (1 + len(columns)), *["ms"] * len(columns)],
        ["", "kept", *columns, *columns],
    ]
    for problem in problems:
        peaks, seconds = (of_programs(problem, key) for key in ("peak_bytes", "seconds"))
        names = [problem["rows"][0]["name"], *peers]
        lines.append(
            [
                problem["label"],
                megabytes(kept.get(problem["label"])),
                *(megabytes(peaks.get(name)) for name in names),
                ratio(to_the_better(problem, "peak_bytes")),
                *(milliseconds(seconds.get(name)) for name in names),
                ratio(to_the_better(problem, "seconds")),
            ]
        )
    return aligned(lines)


def shortfalls(problems: Sequence[dict[str, Any]], goals: Mapping[str, float]) -> list[str]:
    """Return a line for each network whose memory is more than is wanted."""
    found = {problem["label"]: to_the_better(problem, "peak_bytes") for problem in problems}
    return [
        f"{label}: {ratio(value)} of the better peer's memory, {ratio(goals[label])} wanted"
        for label, value in found.items()
        if value is not None and value > goals[label]
    ]
