"""The table of the experiment gpu: times in total and for a step, next to what bounds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests_scan_grad.timing.reports.report import aligned, milliseconds, ratio

NO_GPU = "There is no GPU here: JAX and PyTorch ran on the CPU, the engine on xla:cpu."


def line(problem: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Return the cells of a problem."""
    seconds = {row["name"]: row["seconds"] for row in problem["rows"]}
    ours = seconds["xla"]
    others = [seconds.get(name) for name in names]
    return [
        problem["label"],
        *(ratio(ours / other if other else None) for other in others),
        milliseconds(ours),
        *map(milliseconds, others),
        milliseconds(1000 * ours / problem["steps"]),
        *(milliseconds(problem["floors"][name]) for name in ("arithmetic", "bytes")),
    ]


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, and what its columns mean."""
    import jax

    names = run["peers"]
    above = ["", *["ratio to"] * len(names), *["ms"] * (1 + len(names)), "us", "floor", "floor"]
    titles = ["", *names, "xla", *names, "a step", "products", "bytes"]
    device = jax.devices()[0]
    gpu = device.platform == "gpu"
    left_out = [
        f"{problem['label']}: {name} left out: {reason}"
        for problem in run["problems"]
        for name, reason in problem["left_out"].items()
    ]
    return [
        f"On {device.device_kind}." if gpu else NO_GPU,
        *aligned([above, titles, *(line(problem, names) for problem in run["problems"])]),
        *left_out,
        "",
        "A ratio is the XLA engine's time over the other's: below 1, the engine is faster.",
        "jax: jit of jax.grad of lax.scan. torch: eager. torch.compile: of the step.",
        "gru: torch.nn.GRU, another cell, with the projection of its input; not compared.",
        "floor: ms of the products alone, and of moving each array once, at the rates of a large",
        "product and of a large copy on this device.",
        *(
            ["A quick run: its loops are short, its figures a try."]
            if run["sizes"]["quick"]
            else []
        ),
    ]
