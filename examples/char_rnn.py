"""Train a GRU on the characters of a text, and let it write.

    python examples/char_rnn.py

learns from the topics of Python's own help and ends with a sample. Training is saved after
each epoch and on Ctrl-C. The same command again continues exactly where it stopped.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from char_model import checkpoint, learning_curve, sampling, text
from char_model.errors import InputError
from char_model.interruption import StopRequest
from char_model.options import TRAINING_OPTIONS, add_options, number
from char_model.progress import ProgressBar
from char_model.training import Settings, Trainer

import theano

DESCRIPTION = "Train a GRU on the characters of a text, and let it write."
EPILOG = (
    "Training is saved after each epoch, and at once on Ctrl-C, on kill and after --max-minutes. "
    "The same command again continues exactly where it stopped; with more --epochs it trains on."
)


OPTIONS = (
    # name, type, default, placeholder, help
    ("--max-minutes", number(float, 0), 9.0, "M", "stop this run after so many minutes"),
    ("--sample", number(int, 0), 500, "N", "characters to write at the end"),
    ("--temperature", number(float, 0), 0.7, "T", "of the sample; higher is more varied"),
    ("--sample-seed", number(int, 0), None, "N", "of the sample (default: another each time)"),
    ("--plot", Path, None, "FILE.png", "draw the learning curve (needs matplotlib)"),
    ("--checkpoint", Path, "char_rnn_checkpoint", "FOLDER", "where training is saved"),
)


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=DESCRIPTION, epilog=EPILOG)
    add_options(parser, (*TRAINING_OPTIONS, *OPTIONS))
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="start over; the first save replaces the checkpoint of an earlier run",
    )
    return parser.parse_args(arguments)


def prepare(options: argparse.Namespace) -> Trainer:
    """Return a trainer in the state to start from, after every check that needs no training."""
    if options.plot:
        learning_curve.require_drawable(options.plot)
    content = text.read_text(options.text) if options.text else text.read_standard_text()
    corpus = text.make_corpus(content)
    text.require_long_enough(corpus, options.batch, options.truncation)
    saved = None if options.fresh else checkpoint.load(options.checkpoint)
    settings = Settings(
        hidden=options.hidden,
        batch=options.batch,
        truncation=options.truncation,
        learning_rate=options.learning_rate,
        largest_gradient_norm=options.clip,
        seed=options.seed,
    )
    trainer = Trainer(corpus, settings)
    if saved:
        try:
            trainer.restore(saved)
        except InputError as error:
            raise InputError(
                f"{checkpoint.file_in(options.checkpoint)}: {error}\n"
                "use another --checkpoint folder, or start over with --fresh"
            ) from None
    checkpoint.require_writable(options.checkpoint, trainer.checkpoint())
    weights = sum(weight.get_value().size for weight in trainer.parameters.values())
    print(
        f"{corpus.length:,} characters, {len(corpus.vocabulary)} different; {weights:,} weights",
        flush=True,
    )
    return trainer


@dataclass
class Run:
    """What this run has done: its training, and the signal that ended it, if one did."""

    characters: int = 0
    seconds: float = 0.0
    signal_number: int = 0


def train(trainer: Trainer, options: argparse.Namespace, deadline: float) -> Run:
    """Train until the last epoch, the deadline or a signal, and save after each epoch."""
    run = Run()
    with StopRequest() as stop:

        def must_stop() -> bool:
            return bool(stop.signal_number) or time.monotonic() > deadline

        while trainer.position.epoch < options.epochs and not must_stop():
            bar = ProgressBar(
                label=f"epoch {trainer.position.epoch + 1}/{options.epochs}",
                total=trainer.chunks,
                characters=trainer.settings.batch * trainer.settings.truncation,
                done=trainer.position.chunk,
                later=(options.epochs - trainer.position.epoch - 1) * trainer.chunks,
                deadline=deadline,
            )
            finished = trainer.train_epoch(bar.show, must_stop)
            bar.close()
            checkpoint.save(options.checkpoint, trainer.checkpoint())
            run.characters += bar.characters_done
            run.seconds += bar.seconds
            if finished:
                losses = trainer.history[-1]
                print(
                    f"{bar.label}: training {losses['training']:.3f}, "
                    f"validation {losses['validation']:.3f} bits per character, "
                    f"{bar.characters_done / bar.seconds:,.0f} characters per second",
                    flush=True,
                )
        run.signal_number = stop.signal_number
    return run


def write_sample(trainer: Trainer, options: argparse.Namespace) -> None:
    """Print text drawn from the model."""
    seed = options.sample_seed
    if seed is None:
        seed = int(np.random.default_rng().integers(1_000_000))
    drawn = sampling.draw_text(
        sampling.compile_next_character(trainer.parameters),
        trainer.corpus.vocabulary,
        trainer.settings.hidden,
        length=options.sample,
        temperature=options.temperature,
        generator=np.random.default_rng(seed),
    )
    print(
        f"\nsample of {options.sample} characters (--sample-seed {seed} writes it again) "
        f"at temperature {options.temperature}:\n"
    )
    print(drawn)


def run_program(options: argparse.Namespace) -> int:
    """Do what the options ask; return the exit status."""
    started = time.monotonic()
    theano.config.floatX = "float32"
    trainer = prepare(options)
    folder, position = options.checkpoint, trainer.position
    if position.epoch or position.chunk:
        share = position.chunk / trainer.chunks
        print(f"continuing from {folder} after {position.epoch + share:.2f} epochs", flush=True)
    trainer.compile()
    print(f"compiled after {time.monotonic() - started:.1f} s", flush=True)

    run = train(trainer, options, deadline=started + 60 * options.max_minutes)
    position = trainer.position
    if run.signal_number:
        print(f"stopped and saved in {folder}; the same command again continues from here")
        return 128 + run.signal_number

    print(
        f"validation {trainer.validate():.3f} bits per character "
        f"after {position.epoch + position.chunk / trainer.chunks:.2f} epochs; "
        f"this run took {(time.monotonic() - started) / 60:.1f} minutes"
        + (f", {run.characters / run.seconds:,.0f} characters per second" if run.characters else "")
    )
    if options.plot:
        learning_curve.draw(options.plot, trainer.history)
        print(f"learning curve in {options.plot}")
    if options.sample:
        write_sample(trainer, options)
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the program; what the user can mend ends with one message and status 1."""
    options = read_arguments(arguments)
    try:
        return run_program(options)
    except InputError as error:
        print(f"char_rnn: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nchar_rnn: interrupted; the last checkpoint is kept", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
