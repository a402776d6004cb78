"""Damage files of a full cache, one way after the other, and compile the same programs again.

    THEANO_FLAGS=base_compiledir=NEW_FOLDER python -m tests_scan_grad.disk.cache_corruption COUNT SEED

Each round damages one to six files, compiles a program with the cache that is left, calls it, and
compares with what an empty cache gave. It prints what was wrong, and how often each damage was tried.
Each round is a separate process, forked from one that has imported everything and compiled nothing.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from tests_scan_grad.disk.cache_programs import FOLDERS, PROGRAMS, equal, in_child, new_cache
from tests_scan_grad.disk.damaged_files import DAMAGES
from theano.rewriting.disk.building_folders import PREFIX


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
        What went wrong, as text.
    """

    def __init__(self, seed: int):
        self.folder, self.random = new_cache(), np.random.default_rng(seed)
        self.tried: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []
        self.expected = {name: in_child(PROGRAMS[name]) for name in PROGRAMS}
        # with the graphs that were written, too
        for name in PROGRAMS:
            self._compare(name, ["nothing"])

    def round(self) -> None:
        """Damage files, and run a program."""
        files = self._files()
        done = []
        for _ in range(self.random.integers(1, 7)):
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
                if path.name.startswith(PREFIX):
                    # of a process that ended while the compiler ran: the next ones remove it
                    continue
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


def main(count: int, seed: int) -> int:
    """Run as many rounds; the status is 1 if anything was wrong."""
    logging.getLogger("theano").setLevel(logging.ERROR)
    rounds = Corruption(seed)
    reported = 0
    while sum(rounds.tried.values()) < count:
        rounds.round()
        if sum(rounds.tried.values()) >= reported + 100:
            reported = sum(rounds.tried.values())
            print(f"{reported} damages: {len(rounds.wrong)} wrong", flush=True)
    for wrong in rounds.wrong:
        print(wrong)
    for (damage, kind), times in sorted(rounds.tried.items()):
        print(f"{damage:15} {kind:15} {times}")
    print(f"{sum(rounds.tried.values())} damages, seed {seed}: {len(rounds.wrong)} wrong")
    return bool(rounds.wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
