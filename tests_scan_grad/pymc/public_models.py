"""Compare models with PyTensor's own modes: ``python -m tests_scan_grad.pymc.public_models``.

Without paths, the models are those of this folder: kinds that PyMC's gallery has, with made-up data. Paths are files
or folders of Python programs, such as a checkout of a catalogue of models; each program is run in its folder, and
all models that it leaves in global variables are compared, or else the one that its ``build_model()`` returns, with
the point to start from, if it returns a pair. Of models without a gradient, such as those with discrete variables,
only densities are compared.
With ``--draws``, each model is sampled, too.
"""

from __future__ import annotations

import argparse
import contextlib
import runpy
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.gradient import NullTypeGradError

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
# a model, and a point to start from where its author gives one
Built = tuple[Model, dict[str, Any] | None]
_GALLERIES = (gallery_of_data, gallery_of_processes, models_of_choices, models_of_counts)
_TOLERANCE = 1e-6
_SECONDS_OF_TIMING = 0.2
_SHORT_SECONDS = 1e-4


@dataclass
class Outcome:
    """Result for a model: whether it is right and native, and the times of both engines.

    ``sample_seconds`` is the time of sampling, if that was asked for.
    """

    right: bool
    python: tuple[str, ...]
    compile_seconds: tuple[float, float]
    call_seconds: tuple[float, float]
    sample_seconds: float | None = None

    def line(self) -> str:
        """Return the columns after the model's name."""
        ours, theirs = self.call_seconds
        how = f"Python runs {', '.join(self.python)}" if self.python else "native"
        if self.sample_seconds is not None:
            how = f"sampled in {self.sample_seconds:.1f} s, {how}"
        return (
            f"{'same' if self.right else 'DIFFERS':8s}{1e6 * ours:10.1f}{1e6 * theirs:10.1f}"
            f"{ours / theirs:7.2f}{self.compile_seconds[0]:8.2f}{self.compile_seconds[1]:8.2f}  {how}"
        )


def galleries() -> Iterator[tuple[str, Callable[[], Built]]]:
    """Yield the models of this folder: the name, and what makes the model."""
    for gallery in _GALLERIES:
        for name, build in gallery.MODELS.items():
            yield name, lambda build=build: _built(build)


def _built(build: Callable[[], Any]) -> Built:
    with pm.Model() as model:
        build()
    return model, None


def programs(paths: list[Path]) -> Iterator[tuple[str, Callable[[], Built]]]:
    """Yield the models that programs make; one that fails yields a function that raises its error."""
    for path in paths:
        for file in sorted(path.rglob("[!_]*.py")) if path.is_dir() else [path]:
            try:
                found = _models_of(file)
            except (Exception, SystemExit) as error:
                # programs of others may raise anything
                yield file.stem, lambda error=error: _raised(error)
                continue
            for name, built in found.items():
                yield name, lambda built=built: built


def _models_of(file: Path) -> dict[str, Built]:
    file = file.resolve()
    with contextlib.chdir(file.parent), contextlib.redirect_stdout(sys.stderr):
        left = runpy.run_path(str(file), run_name=file.stem)
        found = {
            f"{file.stem}.{name}": (value, None)
            for name, value in left.items()
            if isinstance(value, pm.Model)
        }
        if not found and "build_model" in left:
            made = left["build_model"]()
            found[file.stem] = made if isinstance(made, tuple) else (made, None)
    return found


def _raised(error: BaseException) -> Built:
    raise RuntimeError(f"the program fails: {type(error).__name__}: {error}")


def compared(model: Model, start: dict[str, Any] | None, mode: str) -> Outcome:
    """Compare the density and the gradient at and around the start, and time both functions in turns.

    Parameters
    ----------
    start
        Where to compare; by default PyMC's initial point.
    mode
        Name of PyTensor's mode for PyMC's own function.
    """
    if model.discrete_value_vars:
        return _compared_densities(model, start, mode)
    began = time.perf_counter()
    try:
        density = theano.pymc.logp_dlogp(model)
    except (NotImplementedError, NullTypeGradError):
        return _compared_densities(model, start, mode)
    points = _points(density.points.flat({**model.initial_point(0), **(start or {})}))
    density(points[0])
    ours = time.perf_counter() - began
    began = time.perf_counter()
    same = frozen(model, None)
    values = [same.rvs_to_values[same[variable.name]] for variable in model.free_RVs]
    made = same.logp_dlogp_function(values, ravel_inputs=True, mode=mode)
    made.set_extra_values({})
    other = made._pytensor_function
    other(points[0])
    theirs = time.perf_counter() - began
    return Outcome(
        right=all(_agree(density(point), other(point)) for point in points),
        python=_python_of(density.function),
        compile_seconds=(ours, theirs),
        call_seconds=_least_seconds(density.function, other, (points[0],)),
    )


def _compared_densities(model: Model, start: dict[str, Any] | None, mode: str) -> Outcome:
    """Compare densities at the start: of discrete variables, and of some operators, there is no gradient."""
    point = {**model.initial_point(0), **(start or {})}
    functions, seconds = [], []
    for each in (theano.pymc.mode, mode):
        began = time.perf_counter()
        functions.append(model.compile_logp(mode=each).f)
        functions[-1](**point)
        seconds.append(time.perf_counter() - began)
    ours, theirs = functions
    inputs = [point[each.name] for each in model.value_vars]
    return Outcome(
        right=bool(np.allclose(ours(**point), theirs(**point), _TOLERANCE, _TOLERANCE)),
        python=_python_of(ours),
        compile_seconds=(seconds[0], seconds[1]),
        call_seconds=_least_seconds(ours, theirs, inputs),
    )


def _python_of(function: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(node.op) for node in python_parts(function)))


def sampled(model: Model, start: dict[str, Any] | None, draws: int) -> float:
    """Return the seconds that `theano.pymc.sample` takes, with as many draws to tune as are kept."""
    began = time.perf_counter()
    trace = theano.pymc.sample(
        draws,
        model=model,
        tune=draws,
        chains=1,
        initvals=_initial_values(model, start),
        random_seed=1,
        progressbar=False,
        compute_convergence_checks=False,
    )
    seconds = time.perf_counter() - began
    kept = trace["posterior"].to_dataset() if hasattr(trace["posterior"], "to_dataset") else trace
    for variable in model.free_RVs:
        if not np.isfinite(kept[variable.name]).all():
            raise ValueError(f"draws of {variable.name} are not finite")
    return seconds


def _initial_values(model: Model, start: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a point of transformed values as values of the variables."""
    if start is None:
        return None
    names = {model.rvs_to_values[variable].name: variable for variable in model.free_RVs}
    values = {}
    for name, value in start.items():
        variable = names[name]
        transform = model.rvs_to_transforms[variable]
        if transform is not None:
            value = transform.backward(pt.as_tensor(value), *variable.owner.inputs).eval()
        values[variable.name] = value
    return values


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


def _least_seconds(ours: Any, theirs: Any, inputs: Sequence[Any]) -> tuple[float, float]:
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
                function(*inputs)
            least[k] = min(least[k], (time.perf_counter() - start) / 10)
    return least[0], least[1]


def report(
    models: Iterator[tuple[str, Callable[[], Built]]], mode: str, draws: int | None = None
) -> int:
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
                model, start = make()
                outcome = compared(model, start, mode)
                if draws is not None:
                    outcome.sample_seconds = sampled(model, start, draws)
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
        short = [
            one.call_seconds[0] / one.call_seconds[1]
            for one in outcomes
            if min(one.call_seconds) < _SHORT_SECONDS
        ]
        print(
            f"{len(outcomes)} models compared, {wrong} differ, {failed} failed;"
            f" {sum(not one.python for one in outcomes)} native;"
            f" ratio {np.exp(np.mean(np.log(ratios))):.2f} in the geometric mean,"
            f" {max(ratios):.2f} at most, {max(short, default=0):.2f} of short calls;"
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
    parser.add_argument("--draws", type=int, help="sample each model, too: as many draws as this")
    options = parser.parse_args(arguments)
    found = programs(options.paths) if options.paths else galleries()
    wanted = ((name, make) for name, make in found if options.only in name)
    return int(report(wanted, options.mode, options.draws) > 0)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
