"""The program under test: a small text, small settings, and its command."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from char_model import checkpoint
from char_model.training import Settings

from tests_scan_grad.char_rnn import EXAMPLES

WORDS = "the loop carries its state from one character to the next".split()
TEXT = " ".join(np.random.default_rng(0).choice(WORDS, 600)) + "\n"
SMALL = ["--hidden", "12", "--batch", "4", "--truncation", "10"]
SETTINGS = Settings(
    hidden=12, batch=4, truncation=10, learning_rate=0.01, largest_gradient_norm=1.0, seed=1
)


def command(text_file: Path, folder: Path, epochs: int, *more: str) -> list[str]:
    return [
        *(sys.executable, str(EXAMPLES / "char_rnn.py"), *SMALL),
        *("--text", str(text_file), "--checkpoint", str(folder), "--epochs", str(epochs), *more),
    ]


def run(*arguments) -> str:
    done = subprocess.run(command(*arguments), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_same(first: checkpoint.Checkpoint, second: checkpoint.Checkpoint) -> None:
    assert first.progress == second.progress
    assert first.arrays.keys() == second.arrays.keys()
    for name, array in first.arrays.items():
        assert array.tobytes() == second.arrays[name].tobytes(), name


def show_nothing(done: int, bits: float) -> None:
    pass
