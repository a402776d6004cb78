"""Training with truncated back-propagation, in a state that a checkpoint holds completely."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

import theano
import theano.tensor as T
from char_model.checkpoint import Checkpoint
from char_model.errors import InputError
from char_model.model import bits_per_character, hidden_states, make_parameters, zero_state
from char_model.optimizer import adam, clip_by_global_norm
from char_model.text import Corpus, chunk_count, cut_chunks


@dataclass(frozen=True)
class Settings:
    """What decides the model and the course of its training."""

    hidden: int
    batch: int
    truncation: int
    learning_rate: float
    largest_gradient_norm: float
    seed: int


@dataclass
class Position:
    """How far training has come; sums run over the chunks of the epoch under way."""

    epoch: int = 0
    chunk: int = 0
    offset: int = 0
    loss_sum: float = 0.0


class Trainer:
    """A model, its optimizer, and its place in the text.

    Parameters
    ----------
    corpus : Corpus
    settings : Settings
    """

    def __init__(self, corpus: Corpus, settings: Settings) -> None:
        self.corpus = corpus
        self.settings = settings
        self.generator = np.random.default_rng(settings.seed)
        self.position = Position()
        self.history: list[dict] = []
        self.chunks = chunk_count(
            corpus.training, settings.batch, settings.truncation, settings.truncation - 1
        )
        self.parameters = make_parameters(len(corpus.vocabulary), settings.hidden, self.generator)
        self.state = theano.shared(zero_state(settings.batch, settings.hidden), name="state")
        self._build_graph()

    def _build_graph(self) -> None:
        self._inputs = T.imatrix("inputs")
        self._targets = T.imatrix("targets")
        states = hidden_states(self.parameters, self._inputs, self.state)
        self._bits = bits_per_character(self.parameters, states, self._targets)
        gradients = T.grad(self._bits, list(self.parameters.values()))
        gradients = clip_by_global_norm(gradients, self.settings.largest_gradient_norm)
        updates, optimizer_state = adam(self.parameters, gradients, self.settings.learning_rate)
        # The next chunk starts where this one ends; no gradient flows across.
        self._carry = [(self.state, states[-1])]
        self._updates = updates + self._carry
        self._shared = self.parameters | optimizer_state | {"state": self.state}

    def compile(self) -> None:
        """Compile the two functions of training."""
        chunk = [self._inputs, self._targets]
        self._train_chunk = theano.function(chunk, self._bits, updates=self._updates)
        self._measure_chunk = theano.function(chunk, self._bits, updates=self._carry)

    def train_epoch(
        self, show: Callable[[int, float], None], must_stop: Callable[[], bool]
    ) -> bool:
        """Train to the end of the epoch under way, and note its losses in `history`.

        Parameters
        ----------
        show : callable
            Called after each chunk with the number of chunks done and the mean loss so far.
        must_stop : callable
            Asked after each chunk; training stops there when the answer is true.

        Returns
        -------
        bool
            Whether the epoch was finished.

        Raises
        ------
        InputError
            If the loss is no longer a finite number.
        """
        position, settings = self.position, self.settings
        if position.chunk == 0:
            position.offset = int(self.generator.integers(settings.truncation))
            self.state.set_value(zero_state(settings.batch, settings.hidden))
        inputs, targets = cut_chunks(
            self.corpus.training, settings.batch, settings.truncation, self.chunks, position.offset
        )
        for chunk in range(position.chunk, self.chunks):
            position.loss_sum += float(self._train_chunk(inputs[chunk], targets[chunk]))
            position.chunk += 1
            mean = position.loss_sum / position.chunk
            if not math.isfinite(mean):
                raise InputError(
                    f"the loss became {mean} in epoch {position.epoch + 1}; "
                    "start over with a smaller --learning-rate"
                )
            show(position.chunk, mean)
            if must_stop():
                return False
        mean = position.loss_sum / self.chunks
        self.history.append({"training": mean, "validation": self.validate()})
        self.position = Position(epoch=position.epoch + 1)
        return True

    def validate(self) -> float:
        """Return the bits per character on the validation text; training is not disturbed."""
        settings = self.settings
        count = chunk_count(self.corpus.validation, settings.batch, settings.truncation)
        inputs, targets = cut_chunks(
            self.corpus.validation, settings.batch, settings.truncation, count
        )
        carried = self.state.get_value()
        self.state.set_value(zero_state(settings.batch, settings.hidden))
        losses = [float(self._measure_chunk(*pair)) for pair in zip(inputs, targets, strict=True)]
        self.state.set_value(carried)
        return sum(losses) / count

    def checkpoint(self) -> Checkpoint:
        """Return everything that the rest of the training depends on."""
        arrays = {name: variable.get_value() for name, variable in self._shared.items()}
        progress = {
            "identity": self._identity(),
            "position": asdict(self.position),
            "history": list(self.history),
            "generator": self.generator.bit_generator.state,
        }
        return Checkpoint(arrays, progress)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint of this model.

        Raises
        ------
        InputError
            If the checkpoint is of another model or text; the message lists the differences. Or if
        it does not say how far training has come.
        """
        saved, expected = checkpoint.progress.get("identity", {}), self._identity()
        saved = saved if isinstance(saved, dict) else {}
        differences = [
            f"  {name}: {saved.get(name, 'missing')} in the checkpoint, {value} now"
            for name, value in expected.items()
            if saved.get(name) != value
        ]
        for name, variable in self._shared.items():
            now = _form(variable.get_value(borrow=True))
            found = _form(checkpoint.arrays[name]) if name in checkpoint.arrays else "missing"
            if not differences and found != now:
                differences.append(f"  {name}: {found} in the checkpoint, {now} now")
        if differences:
            raise InputError("\n".join(["the checkpoint is of another model:", *differences]))
        try:
            position, history, generator = self._read_progress(checkpoint.progress)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(
                f"the checkpoint does not say how far training has come ({error})"
            ) from error
        for name, variable in self._shared.items():
            variable.set_value(checkpoint.arrays[name])
        self.position, self.history, self.generator = position, history, generator

    def _read_progress(self, progress: dict) -> tuple[Position, list[dict], np.random.Generator]:
        """How far training had come; any of several errors where that cannot be read."""
        position = Position(**progress["position"])
        counts = (position.epoch, position.chunk, position.offset)
        if not all(type(count) is int and count >= 0 for count in counts):
            raise ValueError(f"position: {progress['position']}")
        position.loss_sum = float(position.loss_sum)
        history = [
            {**entry, **{part: float(entry[part]) for part in ("training", "validation")}}
            for entry in progress["history"]
        ]
        generator = np.random.default_rng()
        generator.bit_generator.state = progress["generator"]
        return position, history, generator

    def _identity(self) -> dict:
        """Return what must be equal for training to continue exactly."""
        settings, corpus = self.settings, self.corpus
        return {
            "text": f"{corpus.length} characters with SHA-256 {corpus.digest[:12]}",
            "vocabulary": f"{len(corpus.vocabulary)} characters",
            "hidden": settings.hidden,
            "batch": settings.batch,
            "truncation": settings.truncation,
            "seed": settings.seed,
        }


def _form(array: np.ndarray) -> str:
    """What must be equal of two arrays for one to take the place of the other."""
    return f"shape {array.shape} of {array.dtype}"
