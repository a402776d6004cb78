"""The command-line options that decide a model and its training, and how numbers are read."""

import argparse
import math
from collections.abc import Callable, Iterable
from pathlib import Path


def number(kind: type, least: float) -> Callable[[str], int | float]:
    """Return a reader of finite numbers: integers of at least `least`, floats above it."""

    def read(argument: str) -> int | float:
        value = kind(argument)
        if not math.isfinite(value) or value < least or (kind is float and value == least):
            bound = "a finite number above" if kind is float else "at least"
            raise argparse.ArgumentTypeError(f"expected {bound} {least}, not {argument}")
        return value

    read.__name__ = kind.__name__  # argparse says "invalid int value" with it.
    return read


TRAINING_OPTIONS = (
    # name, type, default, placeholder, help
    ("--text", Path, None, "FILE", "a UTF-8 text to learn from (default: Python's own help)"),
    ("--epochs", number(int, 1), 10, "N", "passes over the text, counting earlier runs"),
    ("--hidden", number(int, 1), 128, "N", "size of the hidden state"),
    ("--batch", number(int, 1), 32, "N", "streams of text read side by side"),
    ("--truncation", number(int, 1), 64, "N", "characters that gradients flow back through"),
    ("--learning-rate", number(float, 0), 0.005, "R", "of Adam; may change between runs"),
    ("--clip", number(float, 0), 1.0, "NORM", "largest global norm of the gradients"),
    ("--seed", number(int, 0), 1, "N", "of the weights and the chunks"),
)


def add_options(parser: argparse.ArgumentParser, options: Iterable[tuple]) -> None:
    """Add a table of options with the columns of `TRAINING_OPTIONS`."""
    for name, kind, default, placeholder, description in options:
        shown = description if default is None else f"{description} (default: {default})"
        parser.add_argument(name, type=kind, default=default, metavar=placeholder, help=shown)
