"""Damage files of a full cache, one way after the other, and compile the same programs again.

    THEANO_FLAGS=base_compiledir=NEW_FOLDER python -m tests_scan_grad.cache_corruption COUNT SEED

Each round damages one to three files, compiles a program with the cache that is left, calls it, and
compares with what an empty cache gave. It prints what was wrong, and how often each damage was tried.
Each round is a process of its own, forked from one that has imported everything and compiled nothing.
"""

from __future__ import annotations

import logging
import multiprocessing
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.damaged_files import DAMAGES
from theano.link.native import report
from theano.schedule import stored_graphs

FOLDERS = ("native", "graphs")


def perceptron() -> list[np.ndarray]:
    """Two steps of a small network; a program without loops."""
    x, w = T.matrix("x"), theano.shared(np.full((3, 3), 0.3), "w")
    cost = (T.tanh(x.dot(w)) ** 2).sum()
    update = (w, w - 0.1 * theano.grad(cost, w))
    step = theano.function([x], cost, updates=[update], mode="NATIVE")
    assert report(step).segments
    value = np.arange(6.0).reshape(2, 3)
    return [step(value), step(value), w.get_value()]


def recurrent(slope: float) -> list[np.ndarray]:
    """The gradient of a loop; programs that differ in a constant."""
    x, w = T.matrix("x"), theano.shared(np.eye(3) * slope, "w")
    h, _ = theano.scan(
        lambda x_t, h, w: T.tanh(slope * x_t + h.dot(w)),
        sequences=[x],
        outputs_info=[T.zeros_like(x[0])],
        non_sequences=[w],
    )
    function = theano.function([x], [h, theano.grad((h**2).sum(), w)], mode="NATIVE")
    assert report(function).segments
    return function(np.linspace(-1, 1, 12).reshape(4, 3))


PROGRAMS = {
    "perceptron": perceptron,
    "recurrent": lambda: recurrent(0.5),
    "another": lambda: recurrent(0.25),
}


class Corruption:
    """Rounds with the cache of the flag ``base_compiledir``, which is empty at first.

    Parameters
    ----------
    seed
        Of all that is random.

    Attributes
    ----------
    tried
        How often each damage was done to each kind of file.
    wrong
        What went wrong, in words.
    """

    def __init__(self, seed: int):
        self.folder, self.random = Path(theano.config.base_compiledir), np.random.default_rng(seed)
        assert not any((self.folder / name).exists() for name in FOLDERS), "not a new folder"
        self.tried: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []
        theano.config.cache_optimizations = True
        stored_graphs.SECONDS_WORTH_STORING = 0
        self.expected = {name: in_child(PROGRAMS[name]) for name in PROGRAMS}
        # with the graphs that were written, too
        for name in PROGRAMS:
            self._compare(name, ["nothing"])

    def round(self) -> None:
        """Damage files, and run a program."""
        files = self._files()
        done = []
        for _ in range(self.random.integers(1, 4)):
            path = files[self.random.integers(len(files))]
            damage = DAMAGES[self.random.integers(len(DAMAGES))]
            if path.is_file() and path.stat().st_size and not path.is_symlink():
                damage(path, [other for other in files if other.is_file()], self.random)
                kind = path.name.split("-")[0].split("_")[0] + path.suffix
                self.tried[damage.__name__, kind] += 1
                done.append(f"{damage.__name__} of {path.name}")
        self._compare(list(PROGRAMS)[self.random.integers(len(PROGRAMS))], done)
        for path in self.folder.rglob("called"):
            self.wrong.append(f"a function was called: {done}")
            path.unlink()
        self._clear_up()

    def _files(self) -> list[Path]:
        found = [self.folder / name for name in FOLDERS]
        return sorted(path for folder in found for path in folder.iterdir() if path.is_file())

    def _clear_up(self) -> None:
        """Remove what is in the way of files, as users would when they are told."""
        for name in FOLDERS:
            for path in (self.folder / name).iterdir():
                if path.is_dir():
                    path.rmdir()
                elif path.is_symlink() or not path.is_file():
                    path.unlink()

    def _compare(self, name: str, done: list[str]) -> None:
        got = in_child(PROGRAMS[name])
        if isinstance(got, str):
            self.wrong.append(f"{name} after {done}: {got}")
        elif not equal(got, self.expected[name]):
            self.wrong.append(f"{name} after {done}: another result")


def equal(values: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Whether lists of arrays are the same."""
    return len(values) == len(expected) and all(map(np.array_equal, values, expected))


def in_child(program: Callable[[], list[np.ndarray]]) -> list[np.ndarray] | str:
    """What a program computes in a process of its own, or how that ended."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)
    child = fork.Process(target=_run, args=(program, send))
    child.start()
    send.close()
    try:
        return receive.recv()
    except EOFError:
        child.join()
        return f"the process ended with status {child.exitcode}"
    finally:
        child.join()
        receive.close()


def _run(program: Callable[[], list[np.ndarray]], send: Connection) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            send.send([np.asarray(value) for value in program()])
    except BaseException as error:
        send.send(f"{type(error).__name__}: {error}")


def main(count: int, seed: int) -> int:
    """Run as many rounds; the status is 1 if anything was wrong."""
    logging.getLogger("theano").setLevel(logging.ERROR)
    rounds = Corruption(seed)
    while sum(rounds.tried.values()) < count:
        rounds.round()
    for wrong in rounds.wrong:
        print(wrong)
    for (damage, kind), times in sorted(rounds.tried.items()):
        print(f"{damage:15} {kind:15} {times}")
    print(f"{sum(rounds.tried.values())} damages, seed {seed}: {len(rounds.wrong)} wrong")
    return bool(rounds.wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
