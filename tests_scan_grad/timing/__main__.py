"""The command line: ``python -m tests_scan_grad.timing NAME``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from . import peers, registry
from .experiment import Disagreement, Experiment, TimingError
from .plot import plot, require_matplotlib
from .report import report
from .run import run_experiment

DEFAULT_REPEATS = 7


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(prog="python -m tests_scan_grad.timing", description=__doc__)
    found.add_argument("name", nargs="?", metavar="NAME", help="the experiment to run")
    found.add_argument("--list", action="store_true", help="list the experiments and end")
    found.add_argument("--peers", help="such as torch,jax,pytensor, or none; default: all")
    found.add_argument("--device", default="cpu", help="where to run; default: cpu")
    found.add_argument("--json", type=Path, metavar="FILE", help="write everything found")
    found.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the times")
    found.add_argument("--batch", type=int, help="rows of a step")
    found.add_argument("--steps", type=int, help="steps of the loop")
    found.add_argument("--dim", type=int, help="columns of a step")
    found.add_argument("--dtype", choices=("float32", "float64"))
    found.add_argument("--repeats", type=int, default=DEFAULT_REPEATS, help="samples of each")
    return found


def check_device(experiment: Experiment, device: str) -> None:
    """Raise TimingError if the experiment does not run there."""
    if device not in experiment.devices:
        raise TimingError(
            f"{experiment.name} does not run on device {device!r}; "
            f"it runs on: {', '.join(experiment.devices)}"
        )


def check_writable(path: Path | None) -> None:
    """Raise TimingError now, not after the run, if a file's folder is missing."""
    if path is not None and not path.resolve().parent.is_dir():
        raise TimingError(f"cannot write {path}: there is no folder {path.resolve().parent}")


def list_experiments() -> None:
    """Print a line for each experiment."""
    for name in registry.NAMES:
        print(f"{name:10} {registry.experiment_named(name).summary}")


def run(asked: argparse.Namespace) -> None:
    """Check the whole request first, then run it, print the table and write the files."""
    if asked.name is None:
        raise TimingError(f"name an experiment: {', '.join(registry.NAMES)}")
    experiment = registry.experiment_named(asked.name)
    check_device(experiment, asked.device)
    sizes = experiment.sizes.override(
        experiment.name, batch=asked.batch, steps=asked.steps, dim=asked.dim, dtype=asked.dtype
    )
    if asked.repeats < 1:
        raise TimingError(f"--repeats must be at least 1, and {asked.repeats} was given")
    chosen = peers.chosen(experiment, asked.peers)
    for path in (asked.json, asked.plot):
        check_writable(path)
    if asked.plot:
        require_matplotlib()
    found = run_experiment(experiment, sizes, chosen, asked.repeats)
    # The table first: a full disk must not lose the run.
    print(report(found), flush=True)
    try:
        if asked.json:
            asked.json.write_text(json.dumps(found, indent=1) + "\n")
        if asked.plot:
            plot(found, asked.plot)
    except OSError as error:
        raise TimingError(
            f"the run is printed above, but a file is not written: {error}"
        ) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, 1 if programs disagree, 2 for a bad request."""
    asked = parser().parse_args(arguments)
    try:
        if asked.list:
            list_experiments()
        else:
            run(asked)
    except (TimingError, Disagreement) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1 if isinstance(error, Disagreement) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
