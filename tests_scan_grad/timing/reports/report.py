"""The table that a run prints: ratios first, then times, products, memory, compilation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

NOT_APPLICABLE = "-"

# Threads that wait for each other lose far more than the share that others take.
DISTURBING_CORES = 0.2
SHARES = {
    "forward": "forward_loop_seconds",
    "backward": "backward_loop_seconds",
    "products": "products_outside_seconds",
    "rest": "rest_seconds",
}


def milliseconds(seconds: float | None) -> str:
    """Show a time with three digits that count."""
    if seconds is None:
        return NOT_APPLICABLE
    value = 1000 * seconds
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def ratio(value: float | None) -> str:
    """Show a ratio; a small one with two digits that count."""
    if value is None:
        return NOT_APPLICABLE
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def loop_products(counts: Sequence[int]) -> str:
    """Show the products of each loop's step, one number a loop."""
    return "+".join(map(str, counts)) or NOT_APPLICABLE


def cells(row: dict[str, Any], peers: Sequence[str]) -> list[str]:
    """Return one program's line."""
    profile = row["profile"]
    line = [row["name"]]
    line += [ratio(row["ratios"].get(peer)) for peer in peers]
    line.append(milliseconds(row["seconds"]))
    line += [milliseconds(profile[key] if profile else None) for key in SHARES.values()]
    if profile:
        line += [
            loop_products(profile["forward_loop_products"]),
            loop_products(profile["backward_loop_products"]),
            str(profile["products_outside"]),
        ]
    else:
        line += [NOT_APPLICABLE] * 3
    line.append(f"{row['peak_bytes'] / 2**20:.1f}")
    compile_seconds = row["compile_seconds"]
    line.append(NOT_APPLICABLE if compile_seconds is None else f"{compile_seconds:.2f}")
    return line


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Set columns under each other: names to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            [line[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        ).rstrip()
        for line in lines
    ]


def table(rows: Sequence[dict[str, Any]], peers: Sequence[str]) -> list[str]:
    """Return the lines of a table of programs."""
    above = ["", *["ratio"] * len(peers), *["ms"] * (1 + len(SHARES))]
    above += ["step:", "step:", "", "peak", "compile"]
    header = ["", *peers, "time", *SHARES, "fwd", "bwd", "outside", "MiB", "s"]
    return aligned([above, header, *(cells(row, peers) for row in rows)])


def peer_times(problems: Sequence[dict[str, Any]], peers: Sequence[str]) -> list[str]:
    """Return the lines of a table with a line for each problem and a column for each peer."""
    lines = [["", *["ms"] * len(peers)], ["", *peers]]
    for problem in problems:
        seconds = {row["name"]: row["seconds"] for row in problem["rows"]}
        lines.append([problem["label"], *(milliseconds(seconds.get(peer)) for peer in peers)])
    return aligned(lines)


def tables(run: dict[str, Any]) -> list[str]:
    """Return one problem's whole table; for several, their methods first, then the peers."""
    problems, peers = run["problems"], run["peers"]
    if len(problems) == 1:
        return [problems[0]["label"], *table(problems[0]["rows"], peers)]
    methods = [
        {**row, "name": f"{problem['label']}: {row['name']}"}
        for problem in problems
        for row in problem["rows"]
        if row["kind"] == "method"
    ]
    return [*table(methods, peers), "", *(peer_times(problems, peers) if peers else [])]


def disturbance(run: dict[str, Any]) -> list[str]:
    """Return a warning if others used much of the machine while the programs were timed."""
    most = max((problem["cores_used_by_others"] or 0.0) for problem in run["problems"])
    if most < DISTURBING_CORES:
        return []
    return [
        f"WARNING: others kept {most:.1f} of {run['machine']['cores']} cores busy meanwhile. "
        "These times are not to be trusted: run again on a quiet machine."
    ]


def shown(value: Any) -> str:
    """Show a size, or what else was chosen."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(value) if isinstance(value, tuple) else str(value)


def absences(run: dict[str, Any]) -> list[str]:
    """Return a line for each peer that did not take part, with the reason."""
    missing = [f"{name} is not installed: {how}" for name, how in run["not_installed"].items()]
    left_out = [
        f"{problem['label']}: without {name}: {reason}"
        for problem in run["problems"]
        for name, reason in problem["left_out"].items()
    ]
    return missing + left_out


def agreement(run: dict[str, Any]) -> str:
    """Return the line that says how far the results are apart."""
    errors = [row["relative_error"] for problem in run["problems"] for row in problem["rows"]]
    most = max(error for error in errors if error is not None)
    return f"All agree: at most {most:.1e} apart."


def usual_body(run: dict[str, Any]) -> list[str]:
    """Return the tables of methods and peers, and what their columns mean."""
    first = run["problems"][0]["rows"][0]
    engine = "the native engine" if first["profile"] else "the XLA engine"
    return [
        *tables(run),
        "",
        "A ratio is this method's time over the peer's: below 1, the method is faster.",
        f"Methods run in {engine}, with this project's gradient and rewrites.",
        "Times are the least of interleaved samples; the split is of one profiled call.",
        "fwd, bwd, outside: products in the forward loop's step, the backward loop's, no loop's.",
        f"peak: {first['peak_measured_as']}, in its own process, inputs not counted.",
        "compile: graph, gradient and compilation in that process, C code already cached.",
    ]


def report(run: dict[str, Any], body: Callable[[dict[str, Any]], list[str]] | None = None) -> str:
    """Return the whole report of a run, around the usual body or another."""
    sizes = ", ".join(f"{name} {shown(value)}" for name, value in run["sizes"].items())
    found = run["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    lines = [
        f"{run['experiment']}: {run['summary']}",
        f"{sizes}; {run['repeats']} repeats",
        "",
        *(body or usual_body)(run),
        agreement(run),
        *absences(run),
        *disturbance(run),
        f"{found['processor']}, {found['cores']} cores; threads: {found['threads']}",
        f"{versions}; {found['date']}",
    ]
    return "\n".join(lines)
