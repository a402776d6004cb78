"""Kill processes that compile, and have many compile the same at once: results stay right.

    THEANO_FLAGS=base_compiledir=NEW_FOLDER python -m tests_scan_grad.disk.cache_kills COUNT SEED

Each round starts a process that compiles a program, and kills it at a random moment. After
some of them the same program is compiled by a process that is not killed. In the end one more process
compiles, and the cache must then hold nothing but whole files.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import os
import sys
import time
from pathlib import Path

import numpy as np

from tests_scan_grad.disk.cache_programs import (
    FOLDERS,
    answer,
    equal,
    in_child,
    new_cache,
    recurrent,
    started,
)
from theano.rewriting.disk.building_folders import PREFIX
from theano.rewriting.disk.sealed_files import is_sealed

AT_ONCE = 8
SLOPES = np.linspace(0.2, 0.8, 25)
# a compiler that goes on without its process is waited for so long, and at most so long
SECONDS_FOR_COMPILERS, SECONDS_FOR_ALL_COMPILERS = 2, 300
# rounds after which a process is left alone
ROUNDS_BETWEEN = 10


def kill(count: int, seed: int) -> tuple[int, list[str]]:
    """Kill as many processes before they are done; how many were started, and what was wrong."""
    random, killed, turn, wrong = np.random.default_rng(seed), 0, 0, []
    seconds = _seconds_of_one()
    while killed < count:
        slope = float(random.choice(SLOPES))
        child, receive = started(functools.partial(recurrent, slope))
        time.sleep(random.uniform(0, 1.1 * seconds))
        child.kill()
        killed += isinstance(answer(child, receive), str)
        turn += 1
        if turn % ROUNDS_BETWEEN == 0:
            wrong += _compare(slope, [in_child(functools.partial(recurrent, slope))])
            print(f"{killed} of {turn} processes killed: {len(wrong)} wrong", flush=True)
    return turn, wrong


def at_once(slope: float) -> list[str]:
    """Have several processes compile the same program; what was wrong."""
    children = [started(functools.partial(recurrent, slope)) for _ in range(AT_ONCE)]
    return _compare(slope, [answer(*child) for child in children])


def left_behind(folder: Path) -> list[str]:
    """Compile in other processes, and return what a cache then holds besides complete files."""
    end = time.monotonic() + SECONDS_FOR_ALL_COMPILERS
    for slope in itertools.count(0.81, 0.001):
        for name in FOLDERS:
            for path in (folder / name).glob(f"{PREFIX}*"):
                # as if it had been left there some time ago
                with contextlib.suppress(OSError):
                    os.utime(path, (0, 0))
        in_child(functools.partial(recurrent, slope))
        found = (path for name in FOLDERS for path in (folder / name).iterdir())
        left = [f"left behind: {path}" for path in found if not is_sealed(path)]
        if not left or time.monotonic() > end:
            break
        # a compiler whose process was killed may still run, and write
        time.sleep(SECONDS_FOR_COMPILERS)
    return left


def _seconds_of_one() -> float:
    begin = time.monotonic()
    in_child(functools.partial(recurrent, 0.1))
    return time.monotonic() - begin


def _compare(slope: float, answers: list) -> list[str]:
    expected = _by_numpy(slope)
    texts = [each for each in answers if isinstance(each, str)]
    values = [each for each in answers if not isinstance(each, str)]
    return texts + [
        f"another result for {slope}"
        for each in values
        if not np.allclose(each[0], expected, rtol=1e-9) or not equal(each, values[0])
    ]


def _by_numpy(slope: float) -> np.ndarray:
    h, states = np.zeros(3), []
    for row in np.linspace(-1, 1, 12).reshape(4, 3):
        h = np.tanh(slope * row + h @ (np.eye(3) * slope))
        states.append(h)
    return np.array(states)


def main(count: int, seed: int) -> int:
    """Kill as many processes; the status is 1 if anything was wrong."""
    logging.getLogger("theano").setLevel(logging.ERROR)
    folder = new_cache()
    wrong = at_once(0.5)
    print(f"{AT_ONCE} processes on an empty cache: {len(wrong)} wrong")
    started_in_all, wrong_of_kills = kill(count, seed)
    wrong += [*wrong_of_kills, *left_behind(folder)]
    for each in wrong:
        print(each)
    print(f"{count} of {started_in_all} processes killed, seed {seed}: {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
