"""The model and training of char_rnn.py in PyTorch, to compare speed and loss.

    python examples/char_rnn_torch.py --epochs 2

prints the same line for each epoch as char_rnn.py. It saves nothing and draws no sample.
"""

import argparse
import math
import sys
from collections.abc import Iterator

import numpy as np
import torch
from char_model import text
from char_model.errors import InputError
from char_model.options import TRAINING_OPTIONS, add_options
from char_model.progress import ProgressBar
from torch import nn
from torch.nn import functional


class CharGRU(nn.Module):
    """One GRU layer over one-hot characters, and a linear layer for the next character."""

    def __init__(self, vocabulary_size: int, hidden_size: int) -> None:
        super().__init__()
        self.vocabulary_size = vocabulary_size
        self.gru = nn.GRU(vocabulary_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)
        for name, parameter in self.named_parameters():
            if "bias" in name:
                nn.init.zeros_(parameter)

    def forward(self, codes: torch.Tensor, targets: torch.Tensor, state: torch.Tensor):
        """Return the bits per character and the last state; matrices are (time, batch)."""
        one_hot = functional.one_hot(codes.long(), self.vocabulary_size).float()
        states, last = self.gru(one_hot, state)
        scores = self.output(states).flatten(0, 1)
        nats = functional.cross_entropy(scores, targets.flatten().long())
        return nats / math.log(2), last


def chunk_losses(model: CharGRU, chunks: tuple, batch: int) -> Iterator[torch.Tensor]:
    """Yield the bits per character of each chunk, carrying the state from one to the next."""
    state = torch.zeros(1, batch, model.gru.hidden_size)
    for codes, targets in zip(*chunks, strict=True):
        bits, state = model(torch.from_numpy(codes), torch.from_numpy(targets), state)
        state = state.detach()  # No gradient flows into the chunk before.
        yield bits


def train(options: argparse.Namespace) -> None:
    """Train, and print a line for each epoch."""
    content = text.read_text(options.text) if options.text else text.read_standard_text()
    corpus = text.make_corpus(content)
    batch, truncation = options.batch, options.truncation
    text.require_long_enough(corpus, batch, truncation)
    generator = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    model = CharGRU(len(corpus.vocabulary), options.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    count = text.chunk_count(corpus.training, batch, truncation, truncation - 1)
    validation_count = text.chunk_count(corpus.validation, batch, truncation)

    def learn(bits: torch.Tensor) -> None:
        optimizer.zero_grad()
        bits.backward()
        nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        optimizer.step()

    for epoch in range(1, options.epochs + 1):
        offset = int(generator.integers(truncation))
        chunks = text.cut_chunks(corpus.training, batch, truncation, count, offset)
        bar = ProgressBar(
            label=f"epoch {epoch}/{options.epochs}",
            total=count,
            characters=batch * truncation,
            later=(options.epochs - epoch) * count,
        )

        total = 0.0
        for done, bits in enumerate(chunk_losses(model, chunks, batch), start=1):
            learn(bits)
            total += bits.item()
            bar.show(done, total / done)
        bar.close()
        chunks = text.cut_chunks(corpus.validation, batch, truncation, validation_count)
        with torch.no_grad():
            held_out = sum(bits.item() for bits in chunk_losses(model, chunks, batch))
        print(
            f"{bar.label}: training {total / count:.3f}, "
            f"validation {held_out / validation_count:.3f} "
            f"bits per character, {bar.characters_done / bar.seconds:,.0f} characters per second",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> int:
    """Run the program; what the user can mend ends with one message and status 1."""
    parser = argparse.ArgumentParser(description="Train the model of char_rnn.py in PyTorch.")
    add_options(parser, TRAINING_OPTIONS)
    try:
        train(parser.parse_args(arguments))
    except InputError as error:
        print(f"char_rnn_torch: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
