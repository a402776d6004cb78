"""Compare models with PyTensor's own modes: ``python -m tests_scan_grad.pymc.public_models``.

Without paths, the models are those of this folder: kinds that PyMC's gallery has, with made-up data. Paths are files
or folders of Python programs, such as a checkout of a catalogue of models; each program is run in its folder, and
all models that it leaves in global variables are compared.
"""

from __future__ import annotations

import argparse
import contextlib
import runpy
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pymc as pm

import theano.pymc
from tests_scan_grad.pymc import (
    gallery_of_data,
    gallery_of_processes,
    models_of_choices,
    models_of_counts,
)
from theano.link.native.run.c_function import python_parts
from theano.pymc.freezing import frozen

Model = Any
_GALLERIES = (gallery_of_data, gallery_of_processes, models_of_choices, models_of_counts)
_TOLERANCE = 1e-6
_SECONDS_OF_TIMING = 0.2


@dataclass
class Outcome:
    """Result for a model: whether it is right and native, and the times of both engines."""

    right: bool
    python: tuple[str, ...]
    compile_seconds: tuple[float, float]
    call_seconds: tuple[float, float]

    def line(self) -> str:
        """Return the columns after the model's name."""
        ours, theirs = self.call_seconds
        how = f"Python runs {', '.join(self.python)}" if self.python else "native"
        return (
            f"{'same' if self.right else 'DIFFERS':8s}{1e6 * ours:10.1f}{1e6 * theirs:10.1f}"
            f"{ours / theirs:7.2f}{self.compile_seconds[0]:8.2f}{self.compile_seconds[1]:8.2f}  {how}"
        )


def galleries() -> Iterator[tuple[str, Callable[[], Model]]]:
    """Yield the models of this folder: the name, and what makes the model."""
    for gallery in _GALLERIES:
        for name, build in gallery.MODELS.items():
            yield name, lambda build=build: _built(build)


def _built(build: Callable[[], Any]) -> Model:
    with pm.Model() as model:
        build()
    return model


def programs(paths: list[Path]) -> Iterator[tuple[str, Callable[[], Model]]]:
    """Yield the models that programs make; one that fails yields a function that raises its error."""
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            try:
                found = _models_of(file)
            except (Exception, SystemExit) as error:
                # programs of others may raise anything
                yield file.stem, lambda error=error: _raised(error)
                continue
            for name, model in found.items():
                yield f"{file.stem}.{name}", lambda model=model: model


def _models_of(file: Path) -> dict[str, Model]:
    with contextlib.chdir(file.parent), contextlib.redirect_stdout(sys.stderr):
        left = runpy.run_path(str(file.resolve()), run_name=file.stem)
    return {name: value for name, value in left.items() if isinstance(value, pm.Model)}


def _raised(error: BaseException) -> Model:
    raise RuntimeError(f"the program fails: {type(error).__name__}: {error}")


def compared(model: Model, mode: str) -> Outcome:
    """Compare the density and the gradient at and around the start, and time both functions in turns.

    Parameters
    ----------
    mode
        Name of PyTensor's mode for PyMC's own function.
    """
    start = time.perf_counter()
    density = theano.pymc.logp_dlogp(model)
    points = _points(density.points.flat(model.initial_point(0)))
    density(points[0])
    ours = time.perf_counter() - start
    start = time.perf_counter()
    same = frozen(model, None)
    values = [same.rvs_to_values[same[variable.name]] for variable in model.free_RVs]
    made = same.logp_dlogp_function(values, ravel_inputs=True, mode=mode)
    made.set_extra_values({})
    other = made._pytensor_function
    other(points[0])
    theirs = time.perf_counter() - start
    parts = dict.fromkeys(str(node.op) for node in python_parts(density.function))
    return Outcome(
        right=all(_agree(density(point), other(point)) for point in points),
        python=tuple(parts),
        compile_seconds=(ours, theirs),
        call_seconds=_least_seconds(density.function, other, points[0]),
    )


def _points(start: np.ndarray) -> list[np.ndarray]:
    random = np.random.default_rng(1)
    return [start, *(start + 0.2 * random.normal(size=start.shape) for _ in range(4))]


def _agree(ours: Any, theirs: Any) -> bool:
    if not all(np.isfinite(one).all() for one in theirs):
        # what is not finite depends on the order of the terms
        return True
    scale = max(np.abs(theirs[1]).max(initial=0), 1)
    return bool(
        np.allclose(ours[0], theirs[0], _TOLERANCE, _TOLERANCE)
        and np.allclose(ours[1], theirs[1], _TOLERANCE, _TOLERANCE * scale)
    )


def _least_seconds(ours: Any, theirs: Any, point: np.ndarray) -> tuple[float, float]:
    """Return the least time of a call of each, interleaved; arguments are not checked."""
    functions = (ours, theirs)
    least = [float("inf")] * 2
    for function in functions:
        function.trust_input = True
    end = time.perf_counter() + _SECONDS_OF_TIMING
    while time.perf_counter() < end:
        for k, function in enumerate(functions):
            start = time.perf_counter()
            for _ in range(10):
                function(point)
            least[k] = min(least[k], (time.perf_counter() - start) / 10)
    return least[0], least[1]


def report(models: Iterator[tuple[str, Callable[[], Model]]], mode: str) -> int:
    """Print a line for each model and a summary; return how many differ or cannot be compared."""
    print(
        f"{'model':44s}{'density':8s}{'us':>10s}{mode + ' us':>10s}{'ratio':>7s}{'compile s':>16s}"
    )
    outcomes: list[Outcome] = []
    failed = 0
    for name, make in models:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                outcome = compared(make(), mode)
        except Exception as error:
            # a line for each model, whatever one of them raises
            failed += 1
            first = str(error).partition("\n")[0]
            print(f"{name:44s}{type(error).__name__}: {first}", flush=True)
            continue
        outcomes.append(outcome)
        print(f"{name:44s}{outcome.line()}", flush=True)
    wrong = sum(not one.right for one in outcomes)
    if outcomes:
        ratios = [one.call_seconds[0] / one.call_seconds[1] for one in outcomes]
        print(
            f"{len(outcomes)} models compared, {wrong} differ, {failed} failed;"
            f" {sum(not one.python for one in outcomes)} native;"
            f" ratio {np.exp(np.mean(np.log(ratios))):.2f} in the geometric mean,"
            f" {max(ratios):.2f} at most;"
            f" compiled in {median(one.compile_seconds[0] for one in outcomes):.2f} s,"
            f" {median(one.compile_seconds[1] for one in outcomes):.2f} s by {mode} (medians)"
        )
    return wrong + failed


def main(arguments: list[str]) -> int:
    """Run the command; the status is 1 if a model differs or fails."""
    parser = argparse.ArgumentParser(prog="python -m tests_scan_grad.pymc.public_models")
    parser.add_argument("paths", nargs="*", type=Path, help="programs that make models, or folders")
    parser.add_argument("--mode", default="NUMBA", help="PyTensor's mode (by default %(default)s)")
    parser.add_argument("--only", default="", help="compare models whose names contain this")
    options = parser.parse_args(arguments)
    found = programs(options.paths) if options.paths else galleries()
    wanted = ((name, make) for name, make in found if options.only in name)
    return int(report(wanted, options.mode) > 0)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
