"""Train a convolutional network on handwritten digits.

    python examples/digits.py --plot filters.png

learns from the 1,797 digits that scikit-learn ships, describes how many of those that it has not seen it
reads rightly, and draws what its first layer looks for. Training is saved after each epoch and on
Ctrl-C. The same command again continues exactly where it stopped.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from char_model import checkpoint
from char_model.checkpoint import Checkpoint
from char_model.errors import InputError
from char_model.interruption import StopRequest
from char_model.learning_curve import require_drawable
from char_model.options import add_options, number

import theano
import theano.tensor as T
from theano.tensor.nnet import conv2d
from theano.tensor.signal.pool import pool_2d

SIDE, CLASSES, HELD_OUT = 8, 10, 360
SECONDS_BETWEEN_LINES = 30.0
OPTIONS = (
    # name, type, default, placeholder, help
    ("--epochs", number(int, 1), 30, "N", "passes over the digits, counting earlier runs"),
    ("--batch", number(int, 1), 50, "N", "digits of a step"),
    ("--learning-rate", number(float, 0), 0.002, "R", "of Adam; may change between runs"),
    ("--seed", number(int, 0), 1, "N", "of the weights and of the order of the digits"),
    ("--plot", Path, None, "FILE.png", "draw the filters of the first layer (needs matplotlib)"),
    ("--checkpoint", Path, "digits_checkpoint", "FOLDER", "where training is saved"),
)
# filters of each convolution, 3 x 3
WIDTHS = (32, 32, 64)


def read_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return images (N, 1, 8, 8) between 0 and 1, and what they show, in an order of no meaning."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise InputError(
            "the digits come with scikit-learn: python -m pip install scikit-learn"
        ) from error
    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    images = (found.images[order] / 16).astype("float32")
    return images[:, None], found.target[order].astype("int32")


def shifted(images: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return each image moved by up to one pixel in each direction, as people write."""
    moves = generator.integers(-1, 2, (len(images), 2))
    return np.stack([np.roll(i, move, (1, 2)) for i, move in zip(images, moves, strict=True)])


class Network:
    """Three convolutions, two poolings, and a layer that tells the digits apart.

    Attributes
    ----------
    kept : dict of shared variables
        The weights, and what Adam keeps of their gradients.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        shapes = {}
        channels = 1
        for layer, width in enumerate(WIDTHS):
            shapes[f"filters{layer}"] = (width, channels, 3, 3)
            channels = width
        shapes["weights"] = (channels * (SIDE // 4) ** 2, CLASSES)
        self.weights = {}
        for name, shape in shapes.items():
            inputs = shape[0] if name == "weights" else int(np.prod(shape[1:]))
            values = generator.standard_normal(shape) * np.sqrt(2 / inputs)
            self.weights[name] = theano.shared(values.astype("float32"), name=name)
            biases = np.zeros(shape[-1] if name == "weights" else shape[0], "float32")
            self.weights[f"bias of {name}"] = theano.shared(biases, name=f"bias of {name}")
        self.kept = dict(self.weights)

    def scores(self, images):
        """What speaks for each digit: (N, 10)."""
        for layer in range(len(WIDTHS)):
            filters = self.weights[f"filters{layer}"]
            bias = self.weights[f"bias of filters{layer}"].dimshuffle("x", 0, "x", "x")
            images = T.nnet.relu(conv2d(images, filters, border_mode="half") + bias)
            if layer:
                images = pool_2d(images, (2, 2), ignore_border=True)
        return images.flatten(2).dot(self.weights["weights"]) + self.weights["bias of weights"]

    def compile(self) -> tuple:
        """Return a step of training, and a count of the digits that are read rightly."""
        images, digits, rate = T.tensor4("images"), T.ivector("digits"), T.scalar("rate")
        scores = self.scores(images)
        cost = T.nnet.categorical_crossentropy(T.nnet.softmax(scores), digits).mean()
        train = theano.function([images, digits, rate], cost, updates=self.adam(cost, rate))
        right = T.eq(scores.argmax(axis=1), digits).sum()
        return train, theano.function([images, digits], right)

    def adam(self, cost, rate) -> list:
        """Updates by Adam (Kingma and Ba, 2015, algorithm 1)."""
        steps = self.keep("steps", np.float32(0))
        count = steps + 1
        updates = [(steps, count)]
        for name, weight in self.weights.items():
            gradient = T.grad(cost, weight)
            mean, square = (
                self.keep(f"{kind} of {name}", np.zeros_like(weight.get_value()))
                for kind in ("mean", "square")
            )
            new_mean = 0.9 * mean + 0.1 * gradient
            new_square = 0.999 * square + 0.001 * gradient**2
            corrected = new_mean / (1 - 0.9**count)
            scale = T.sqrt(new_square / (1 - 0.999**count)) + 1e-8
            updates += [(mean, new_mean), (square, new_square)]
            updates += [(weight, weight - rate * corrected / scale)]
        return [(variable, value.astype("float32")) for variable, value in updates]

    def keep(self, name: str, value):
        """Return a shared variable that checkpoints hold."""
        self.kept[name] = theano.shared(value, name=name)
        return self.kept[name]


class Training:
    """A network, its place in the epochs, and the generator that orders the digits."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.generator = np.random.default_rng(options.seed)
        self.images, self.digits = read_digits()
        self.network = Network(self.generator)
        self.train_step, self.count_right = self.network.compile()
        self.epoch = 0

    def train_epoch(self) -> float:
        """Learn from each digit once; return the mean cost."""
        learned = len(self.digits) - HELD_OUT
        order, batch = HELD_OUT + self.generator.permutation(learned), self.options.batch
        costs = []
        for start in range(0, learned - batch + 1, batch):
            which = order[start : start + batch]
            images = shifted(self.images[which], self.generator)
            rate = np.float32(self.options.learning_rate)
            costs.append(float(self.train_step(images, self.digits[which], rate)))
        self.epoch += 1
        return float(np.mean(costs))

    def read_rightly(self) -> float:
        """The share of the digits that were held out."""
        right = self.count_right(self.images[:HELD_OUT], self.digits[:HELD_OUT])
        return float(right) / HELD_OUT

    def checkpoint(self) -> Checkpoint:
        """All that training needs to go on."""
        arrays = {name: np.asarray(v.get_value()) for name, v in self.network.kept.items()}
        return Checkpoint(
            arrays, {"epoch": self.epoch, "generator": self.generator.bit_generator.state}
        )

    def restore(self, saved: Checkpoint) -> None:
        """Go on from a checkpoint."""
        kept = self.network.kept
        if saved.arrays.keys() != kept.keys():
            raise InputError(f"{self.options.checkpoint} holds another network: use another folder")
        for name, variable in kept.items():
            variable.set_value(saved.arrays[name])
        self.epoch = saved.progress["epoch"]
        self.generator.bit_generator.state = saved.progress["generator"]


def draw_filters(path: Path, filters: np.ndarray) -> None:
    """Write a picture of the filters of the first layer."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    for axes, values in zip(figure.subplots(4, 8).flat, filters[:, 0], strict=True):
        largest = abs(filters).max()
        axes.imshow(values, cmap="RdBu", vmin=-largest, vmax=largest)
        axes.set_axis_off()
    figure.savefig(path)


def train(training: Training, folder: Path) -> int:
    """Train until the last epoch or a signal, saving after each; return the signal's number."""
    epochs = training.options.epochs
    started = said = time.monotonic()
    first = training.epoch
    with StopRequest() as stop:
        while training.epoch < epochs and not stop.signal_number:
            cost = training.train_epoch()
            checkpoint.save(folder, training.checkpoint())
            now = time.monotonic()
            if sys.stdout.isatty() or now - said > SECONDS_BETWEEN_LINES:
                said = now
                left = (now - started) / (training.epoch - first) * (epochs - training.epoch)
                print(
                    f"epoch {training.epoch}/{epochs}: cost {cost:.3f}, "
                    f"{training.read_rightly():.1%} of the digits not seen; {left:.0f} s left",
                    flush=True,
                )
    return stop.signal_number


def run(options: argparse.Namespace) -> int:
    """Do what the options ask; return the exit status."""
    theano.config.floatX = "float32"
    if options.plot:
        require_drawable(options.plot)
    folder, started = options.checkpoint, time.monotonic()
    training = Training(options)
    print(f"compiled after {time.monotonic() - started:.1f} s", flush=True)
    if (saved := checkpoint.load(folder)) is not None:
        training.restore(saved)
        print(f"continuing from {folder} after {training.epoch} epochs", flush=True)
    checkpoint.require_writable(folder, training.checkpoint())
    signal_number = train(training, folder)
    if signal_number:
        print(f"stopped and saved in {folder}; the same command again continues from here")
        return 128 + signal_number
    print(
        f"{training.read_rightly():.1%} of {HELD_OUT} digits not seen are read rightly after "
        f"{training.epoch} epochs; this run took {time.monotonic() - started:.0f} s"
    )
    if options.plot:
        draw_filters(options.plot, training.network.weights["filters0"].get_value())
        print(f"filters in {options.plot}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the program; what the user can mend ends with one message and status 1."""
    parser = argparse.ArgumentParser(description="Train a convolutional network on digits.")
    add_options(parser, OPTIONS)
    try:
        return run(parser.parse_args(arguments))
    except InputError as error:
        print(f"digits: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
