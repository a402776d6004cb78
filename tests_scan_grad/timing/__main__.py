"""The command line: ``python -m tests_scan_grad.timing NAME``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import theano
from tests_scan_grad.timing.experiment import Disagreement, Experiment, Sizes, TimingError
from tests_scan_grad.timing.experiments import registry
from tests_scan_grad.timing.peers import packages
from tests_scan_grad.timing.reports.plot import plot, require_matplotlib
from tests_scan_grad.timing.reports.report import report
from tests_scan_grad.timing.run import LIMIT_SECONDS, run_experiment

DEFAULT_REPEATS = 7
QUICK_REPEATS = 2


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(prog="python -m tests_scan_grad.timing", description=__doc__)
    found.add_argument("name", nargs="?", metavar="NAME", help="the experiment to run")
    found.add_argument("--list", action="store_true", help="list the experiments and end")
    found.add_argument(
        "--peers", help="such as torch,jax,pytensor, or none; default: all installed"
    )
    found.add_argument("--device", default="cpu", help="where to run; default: cpu")
    found.add_argument("--json", type=Path, metavar="FILE", help="write everything found")
    found.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the times")
    found.add_argument("--batch", type=int, help="rows of a step")
    found.add_argument("--steps", type=int, help="steps of the loop")
    found.add_argument("--dim", type=int, help="columns of a step or a matrix")
    found.add_argument("--dtype", choices=("float32", "float64"))
    found.add_argument(
        "--rows", help="names of an experiment's problems, with commas; default: all"
    )
    found.add_argument(
        "--quick", action="store_true", default=None, help="shorter loops and 2 repeats: a try"
    )
    found.add_argument("--repeats", type=int, help=f"samples of each; default: {DEFAULT_REPEATS}")
    found.add_argument(
        "--limit",
        type=float,
        default=LIMIT_SECONDS,
        metavar="SECONDS",
        help="leave out a peer that takes longer to be ready; default: %(default)g",
    )
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


def check_request(experiment: Experiment, asked: argparse.Namespace) -> None:
    """Raise TimingError if what is asked cannot be done, whatever the sizes."""
    check_device(experiment, asked.device)
    if asked.repeats is not None and asked.repeats < 1:
        raise TimingError(f"--repeats must be at least 1, and {asked.repeats} was given")
    if not asked.limit > 0:
        raise TimingError(f"--limit must be above 0, and {asked.limit:g} was given")
    for path in (asked.json, asked.plot):
        check_writable(path)
    if asked.plot:
        if not experiment.dissected:
            raise TimingError(f"{experiment.name} has no plot: leave out --plot")
        require_matplotlib()


def wanted_sizes(experiment: Experiment, asked: argparse.Namespace) -> Sizes:
    """Return the experiment's sizes with those that are asked for in their place."""
    names = ("batch", "steps", "dim", "dtype", "quick")
    given = {name: getattr(asked, name) for name in names}
    rows = tuple(asked.rows.split(",")) if asked.rows else None
    sizes = experiment.sizes.override(experiment.name, rows=rows, **given)
    for row in sizes.rows or ():
        if row not in experiment.sizes.rows:
            known = ", ".join(experiment.sizes.rows)
            raise TimingError(f"{experiment.name} has no row {row!r}; it has: {known}")
    return sizes


def list_experiments() -> None:
    """Print a line for each experiment."""
    for name in registry.NAMES:
        print(f"{name:10} {registry.experiment_named(name).summary}")


def run(asked: argparse.Namespace) -> None:
    """Check the whole request first, then run it, print the table and write the files."""
    if asked.name is None:
        raise TimingError(f"name an experiment: {', '.join(registry.NAMES)}")
    experiment = registry.experiment_named(asked.name)
    check_request(experiment, asked)
    sizes = wanted_sizes(experiment, asked)
    chosen = packages.chosen(experiment, asked.peers)
    # what is timed here are calls in the long run; how soon there is one is timed in other processes
    theano.config.native.quick = False
    repeats = asked.repeats or (QUICK_REPEATS if asked.quick else DEFAULT_REPEATS)
    found = run_experiment(experiment, sizes, chosen, repeats, asked.limit)
    # The table first: a full disk must not lose the run.
    print(report(found, experiment.body), flush=True)
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
